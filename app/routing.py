"""
Which rule a path has, found without a search where nearly all paths have the same one.

Werkzeug follows the parts of a path through a machine of states, which any set of routes needs.
Here each path of one segment has the rule `/<text>`, but for the few that are spelled out, so
looking those up is enough. All else is left to Werkzeug, whose documented method this is.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from werkzeug.routing import Map, MapAdapter, Rule, UnicodeConverter


class Segment(NamedTuple):
    """The rule of a path of one segment."""

    rule: Rule
    methods: set[str]
    argument: str
    """What its view calls the segment."""
    others: frozenset[str]
    """Segments with which another rule begins."""


def segment_of(routes: Map) -> Segment | None:
    """
    Return the rule that each path of one segment has, but for some; None where there is none.

    Nor is there one where another rule begins with a variable, where a host counts, or where a
    view has several rules: then the order of rules matters, which Werkzeug knows.
    """
    rules = list(routes.iter_rules())
    variable_rules = [rule for rule in rules if "<" in rule.rule.split("/")[1]]
    if len(variable_rules) != 1 or routes.converters["default"] is not UnicodeConverter:
        return None
    [rule] = variable_rules
    named = re.fullmatch(r"/<(\w+)>", rule.rule)
    if (
        named is None
        or any(route.host or route.subdomain for route in rules)
        or rule.methods is None
        or rule.defaults
        or rule.redirect_to
        or rule.websocket
        or [route.endpoint for route in rules].count(rule.endpoint) > 1
    ):
        return None
    others = frozenset(route.rule.split("/")[1] for route in rules)
    return Segment(rule, rule.methods, named[1], others)


class Adapter(MapAdapter):
    """The routes, bound to a request."""

    segment: Segment | None = None

    def match(self, *args: Any, **kwargs: Any) -> Any:
        """Return rule and arguments, as Flask asks for them; else what Werkzeug returns."""
        segment = self.segment
        if segment is not None and not args and kwargs == {"return_rule": True}:
            slash, text = self.path_info[:1], self.path_info[1:]
            if (
                slash == "/"
                and text
                and "/" not in text
                and text not in segment.others
                and self.default_method in segment.methods
            ):
                return segment.rule, {segment.argument: text}
        return super().match(*args, **kwargs)
