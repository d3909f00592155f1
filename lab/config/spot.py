"""Where something stands in a file, and one option as it is written there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


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
