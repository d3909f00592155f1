"""
What another program fills in before the server reads a file: Jinja, ERB, or a shell.

What stands there is not known, and is not what the server gets. So nothing is found in such a line,
and none is changed.
"""

from __future__ import annotations

import re

CONTROL = re.compile(
    r"^[ \t]*(\{%-?\s*\w+|\{#|<%-?\s*[^\s=]\w*|%-?\s*(?:if|else|elif|for|while|end\w+)\b"
    r"|\{\{[-~]?\s*(?:[#^/!]|(?:if|unless|else|end|range|with|define|block|each)\b)"
    r"|</?#\w+|\{/?(?:if|else|elseif|foreach|section)\b|\$\{?if\b)",
    re.MULTILINE,
)
"""
A line that is code of a template: what it lets through, nobody here knows.

Jinja, ERB, mako; Go, Helm, mustache, Handlebars; FreeMarker, Smarty.
"""

CONFLICT = re.compile(r"^(<{7}|>{7}) ", re.MULTILINE)
"""A line by which git marks what it could not merge."""

PAIRS = (("{{", "}}"), ("{%", "%}"), ("<%", "%>"))
"""What a template's fillings stand between."""

SHELL = re.compile(r"\$\{[A-Za-z_]\w*[^}]*\}?")
"""A variable of a shell's."""

OWN = re.compile(r"\s*([\w-]*route[\w-]*|(log-)?format|(worker-)?log-(req-)?encoder)\s*=|\s*[;#]")
"""Options in which ${NAME} is one of uWSGI's own (core/routing.c, core/logging.c)."""


def filled(line: str) -> str | None:
    """
    Return what a template fills in a line; None where it is none of a template.

    >>> filled("processes = {{ workers }}"), filled("uid = ${USER:-www}"), filled("; {{ note }}")
    ('{{ workers }}', '${USER:-www}', None)
    >>> filled("route-if = empty:${HTTP_HOST} break:400"), filled("log-encoder = json ${msg}")
    (None, None)
    """
    if line.lstrip().startswith((";", "#")):
        return None
    filling = min(filter(None, (_between(line, *pair) for pair in PAIRS)), default=None)
    if filling is not None:
        return line[slice(*filling)]
    variable = None if OWN.match(line) else SHELL.search(line)
    return variable and variable[0]


def _between(line: str, opening: str, closing: str) -> tuple[int, int] | None:
    """Return where the first filling begins and ends; one look for each end, however many open."""
    start = line.find(opening)
    end = line.find(closing, start + len(opening)) if start >= 0 else -1
    return None if end < 0 else (start, end + len(closing))
