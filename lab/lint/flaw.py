"""A flaw of a configuration, and its fix."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field

from lab.config.edits import Edit
from lab.config.spot import Spot
from lab.config.steps import Step

WHY = "{why}"
"""Placeholder in a message for `Rule.why`."""

_ABOUT = re.compile(r"""(no )?(--?\w\S*( ('[^']*'|"[^"]*"|[^\s'"]\S*))?|[\w-]+(=\S*| = .*?)?): """)
"""Begins a message: what is written, or missing, in a file or a command."""


class Severity(enum.StrEnum):
    """The severities, the worst first. `lab lint` exits with 1 for all but remarks."""

    ERROR = "error"
    """The server does not start, or reads something else than what is written."""

    DANGEROUS = "dangerous"
    """The server loses requests, or lets strangers in."""

    NO_EFFECT = "no effect"
    """The setting is ignored."""

    REMARK = "remark"
    """The setting may be intended."""


@dataclass(frozen=True, slots=True)
class Fix:
    """The edits that correct a flaw: apply all of them, or none."""

    edits: tuple[Edit, ...]
    safe: bool
    """Whether the edits cannot change what the server does."""

    description: str
    """For people: "http-keepalive = 1"."""

    steps: tuple[Step, ...] = ()
    """The same change for any file of the server; empty if it cannot be said in steps."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """A fault in a configuration, reported by a rule."""

    code: str
    """The code of the rule. `Rule.flaws` sets it; a check leaves it empty."""

    severity: Severity
    """The severity of the rule, or a remark if the check says so."""

    message: str
    """What is wrong, why, and what to do; without a full stop at the end."""

    spot: Spot
    fix: Fix | None = field(default=None, compare=False)
    steps: tuple[Step, ...] = field(default=(), compare=False)
    """The steps that correct it, in whichever file; empty: unknown."""

    process: str = ""
    """Name of its start command, which the message has, if a file starts several servers."""

    always: bool = False
    """Whether a remark is shown without --all: other findings or an upgrade depend on it."""

    @property
    def counts(self) -> bool:
        """Whether `lab lint` exits with 1 because of it."""
        return self.severity is not Severity.REMARK

    @property
    def shown(self) -> bool:
        """Whether it is shown without --all."""
        return self.counts or self.always

    @property
    def reason(self) -> str:
        """The middle of the message: not the setting before it, and not the advice after it."""
        why = self.message
        while about := _ABOUT.match(why):
            if re.match("its? ", why[about.end() :]):
                break  # the text before is the setting
            why = why[about.end() :]
        return why.partition("; ")[0]
