"""What is wrong in a file, where, and what would mend it."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path

WHY = "{why}"
"""In a message: what the rule says of all that it finds."""


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


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """A place in a file; line and column count from 1, and 0 where there is no file."""

    file: Path
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Setting:
    """One option as it is written, and as the server gets it."""

    option: str
    value: str
    """As the server gets it: variables and placeholders replaced, "" where nothing follows."""

    spot: Spot
    """Where the option's name begins."""

    raw: str
    """The value as written, without the blanks around it."""

    column: int = 0
    """Where *raw* begins in the line of *spot*; 0 where that is not known."""

    loop: bool = False
    """Whether it stands in a loop, which repeats its line."""

    @property
    def written(self) -> str:
        """Option and value as in the file, for a message."""
        return f"{self.option} = {self.raw}" if self.raw else self.option

    def at(self, offset: int = 0) -> Spot:
        """Return the place of a character of *raw*, its first one's without *offset*."""
        return Spot(self.spot.file, self.spot.line, self.column + offset)


@dataclass(frozen=True, slots=True)
class Edit:
    """
    One change of a file.

    `Edit(spot, "true", "1")` puts a text in the place of another; `Edit(spot, "", "x = 1")` adds a
    line below that of *spot*; `Edit(spot, line, None)` takes the line away, whose text is *old*.
    """

    spot: Spot
    old: str
    new: str | None


@dataclass(frozen=True, slots=True)
class Fix:
    """What would mend a flaw: all edits, or none of them."""

    edits: tuple[Edit, ...]
    safe: bool
    """Whether it cannot change what is served, or how."""

    says: str
    """For people, as "http-keepalive = 1"."""


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
    fix: Fix | None = None
