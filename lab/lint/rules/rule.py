"""
The rules of the linter: `Rule`, and the decorator `rule` that registers one.

A rule is a function that yields the flaws of a `Case`. Never change or reuse its code: suppressions
in users' files name it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from lab.config import servers
from lab.config.configuration import Config
from lab.config.edits import Edit
from lab.config.spot import Setting, Spot
from lab.lint.case import Case, UnknownSettingError
from lab.lint.flaw import WHY, Fix, Flaw, Severity
from lab.lint.syntax import spelled

__all__ = [
    "RULES", "WHY", "Case", "Edit", "Fix", "Flaw", "Rule", "Setting", "Severity", "Spot",
    "rule",
]  # fmt: skip

MAX_FLAWS = 1000
"""Flaws that one rule reports in one configuration: nobody reads more."""

TRUNCATED = "; further findings of this rule are not listed"
"""Ends the message of the last flaw when a rule reports `MAX_FLAWS`."""

Check = Callable[[Case], Iterator[Flaw]]


class Rule(NamedTuple):
    """A check with its documentation."""

    code: str
    """Two letters for the server and three digits; the first digit is the group of the rule."""

    severity: Severity
    title: str
    """What the rule finds, in a few words."""

    why: str
    """Why that is wrong; replaces `WHY` in the messages."""

    source: str
    """The evidence: file:line of uWSGI's source, a stored run, or an issue."""

    bad: str
    """Whole lines of a configuration in which this rule, and no other, finds a flaw."""

    good: str
    """The bad example, corrected."""

    near_miss: str
    """Whole lines that are correct, but have an option of the bad example."""

    check: Check
    server: str = "uWSGI"
    """Name of the server whose configurations are checked; "" for any."""

    versions: str = ""
    """Versions of the server for which the rule holds, as in ">=24"; "" for all."""

    tried: str = ""
    """Version of the server on which the rule was tried; "" of a rule for any server."""

    def flaws(self, config: Config) -> Iterator[Flaw]:
        """Yield the flaws of a configuration; none if it is for another server."""
        with suppress(UnknownSettingError):  # UW901 or UW020 reports it
            for number, flaw in enumerate(self._checked(config), start=1):
                remark = flaw.severity is Severity.REMARK
                whole = replace(flaw, message=flaw.message.replace(WHY, self.why))
                yield replace(
                    flaw,
                    code=self.code,
                    severity=Severity.REMARK if remark else self.severity,
                    message=spelled(config, whole) + TRUNCATED * (number == MAX_FLAWS),
                )
                if number == MAX_FLAWS:
                    return

    def is_silent(self, config: Config) -> bool:
        """Return whether the rule needs a setting that is unknown."""
        try:
            deque(self._checked(config), maxlen=0)
        except UnknownSettingError:
            return True
        return False

    def _checked(self, config: Config) -> Iterator[Flaw]:
        case = Case.of(config)
        if self.server in ("", config.server) and case.may_be(self.versions):
            yield from self.check(case)


RULES: dict[str, Rule] = {}
"""Code -> rule; importing `lab.lint.rules` fills it."""

SERVERS = {server.code: server.name for server in servers.every() if server.code}
"""First two letters of a code -> name of the server."""

TRIED: Mapping[str, str] = {
    "uWSGI": "2.0.31",
    "gunicorn": "27.0.1",
    "granian": "2.8.7",
    "uvicorn": "0.54.0",
    "hypercorn": "0.18.0",
}
"""
Server -> the version on which its rules were tried.

After an upgrade of a server try its rules on the new version, and then write that here.
"""


def rule(
    code: str,
    severity: Severity,
    title: str,
    *,
    why: str,
    source: str,
    bad: str,
    good: str,
    near_miss: str,
    versions: str = "",
) -> Callable[[Check], Check]:
    """Register the decorated function as a rule; see `Rule` for the arguments."""

    def register(check: Check) -> Check:
        assert code not in RULES, f"two rules have the code {code}"
        examples = {"bad": bad, "good": good, "near_miss": near_miss}
        examples = {name: text.strip("\n") for name, text in examples.items()}
        server = "" if code[2] == "9" else SERVERS.get(code[:2], "")
        RULES[code] = Rule(
            code,
            severity,
            title,
            why,
            source,
            **examples,
            check=check,
            server=server,
            versions=versions,
            tried=TRIED[server] if server else "",
        )
        return check

    return register
