"""What is wrong in a file, where, and what would mend it."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field

from lab.config.edits import Edit
from lab.config.spot import Spot
from lab.config.steps import Step

WHY = "{why}"
"""In a message: what the rule says of all that it finds."""

_ABOUT = re.compile(r"""(no )?(--?\w\S*( ('[^']*'|"[^"]*"|[^\s'"]\S*))?|[\w-]+(=\S*| = .*?)?): """)
"""Begins a message: what is written, or missing, in a file or a command."""


class Severity(enum.StrEnum):
    """How bad it is, the worst first. All but a remark end `lab lint` with 1."""

    ERROR = "error"
    """It does not start, or means something else than what is written."""

    DANGEROUS = "dangerous"
    """It loses requests, or lets somebody in."""

    NO_EFFECT = "no effect"
    """It changes nothing where it stands."""

    REMARK = "remark"
    """It may be meant so."""


@dataclass(frozen=True, slots=True)
class Fix:
    """What would mend a flaw: all edits, or none of them."""

    edits: tuple[Edit, ...]
    safe: bool
    """Whether it cannot change what is served, or how."""

    says: str
    """For people, as "http-keepalive = 1"."""

    steps: tuple[Step, ...] = ()
    """The same as it can be written elsewhere; empty of what is no step."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """What a rule finds."""

    code: str
    """The rule's, which fills it in: a rule leaves it empty."""

    severity: Severity
    """The rule's; a rule may call what it finds a remark instead."""

    message: str
    """What is wrong, why, and what to do; without a full stop at the end."""

    spot: Spot
    fix: Fix | None = field(default=None, compare=False)
    steps: tuple[Step, ...] = field(default=(), compare=False)
    """What would mend it, wherever that is written; empty where nobody can say."""

    process: str = ""
    """Process type of its line, which the message names, if a Procfile starts several servers."""

    always: bool = False
    """Whether it is shown without --all although it is a remark: the others depend on it."""

    @property
    def counts(self) -> bool:
        """Whether it ends `lab lint` with 1."""
        return self.severity is not Severity.REMARK

    @property
    def shown(self) -> bool:
        """Whether it is shown without --all."""
        return self.counts or self.always

    @property
    def reason(self) -> str:
        """Why it is wrong: the message, without what is written and without what to do."""
        why = self.message
        while about := _ABOUT.match(why):
            if re.match("its? ", why[about.end() :]):
                break  # which is what is written
            why = why[about.end() :]
        return why.partition("; ")[0]
