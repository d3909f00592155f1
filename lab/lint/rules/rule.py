"""
What a rule is.

A rule is a function that yields what it finds in a `Case`. Its code is for ever: suppressions in
the files of others name it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from lab.config import servers
from lab.config.configuration import Config
from lab.config.edits import Edit
from lab.config.spot import Setting, Spot
from lab.lint.case import Case
from lab.lint.flaw import WHY, Fix, Flaw, Severity
from lab.lint.syntax import spelled

__all__ = [
    "RULES", "WHY", "Case", "Edit", "Fix", "Flaw", "Rule", "Setting", "Severity", "Spot",
    "rule",
]  # fmt: skip

MOST = 1000
"""Findings of one rule in one configuration: nobody reads more."""

LAST = "; further findings of this rule are not listed"
"""Ends the message of the last of so many."""

Looks = Callable[[Case], Iterator[Flaw]]


class Rule(NamedTuple):
    """What is looked for, and what a page says of it."""

    code: str
    """Letters of the server and three digits, the first of which is the class."""

    severity: Severity
    title: str
    """What it finds, in a few words."""

    why: str
    seen: str
    """Where that was seen: file:line of uWSGI's source, a stored run, an issue."""

    bad: str
    """Whole lines of a configuration that it finds something in, and nothing else counts."""

    good: str
    """The same without it."""

    near: str
    """Whole lines that look as bad, by an option of the bad example, and are not."""

    looks: Looks
    server: str = "uWSGI"
    """Name of the server that it is for; "" for any."""

    def flaws(self, config: Config) -> Iterator[Flaw]:
        """Yield what it finds, nothing for another server."""
        if self.server not in ("", config.server):
            return
        for number, flaw in enumerate(self.looks(Case.of(config)), start=1):
            remark = flaw.severity is Severity.REMARK
            whole = replace(flaw, message=flaw.message.replace(WHY, self.why))
            yield replace(
                flaw,
                code=self.code,
                severity=Severity.REMARK if remark else self.severity,
                message=spelled(config, whole) + LAST * (number == MOST),
            )
            if number == MOST:
                return


RULES: dict[str, Rule] = {}
"""Code -> rule; importing `lab.lint.rules` fills it."""

SERVERS = {server.code: server.name for server in servers.every() if server.code}
"""How a code begins -> the server that it is for."""


def rule(
    code: str,
    severity: Severity,
    title: str,
    *,
    why: str,
    seen: str,
    bad: str,
    good: str,
    near: str,
) -> Callable[[Looks], Looks]:
    """Make a rule of a function; what the arguments are stands at `Rule`."""

    def add(looks: Looks) -> Looks:
        assert code not in RULES, f"{code} is there twice"
        server = "" if code[2] == "9" else SERVERS[code[:2]]
        texts = {"bad": bad, "good": good, "near": near}
        texts = {name: text.strip("\n") for name, text in texts.items()}
        RULES[code] = Rule(code, severity, title, why, seen, **texts, looks=looks, server=server)
        return looks

    return add
