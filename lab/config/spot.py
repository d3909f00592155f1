"""`Spot`, a place in a file, and `Setting`, an option at such a place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """A place in a file. Line and column count from 1; both are 0 without a file."""

    file: Path
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Setting:
    """An option and its value, as written and as the server gets it."""

    option: str
    value: str
    """The value that the server gets: variables and placeholders replaced, "" without a value."""

    spot: Spot
    """The place of the first character of the option."""

    raw: str
    """The value as written, without the blanks around it."""

    column: int = 0
    """Column of *raw* in the line of *spot*; 0: unknown."""

    loop: bool = False
    """Whether it is in a loop, which repeats its line."""

    @property
    def written(self) -> str:
        """The option and its value as in the file, for a message."""
        return f"{self.option} = {self.raw}" if self.raw else self.option

    def at(self, offset: int = 0) -> Spot:
        """Return the place of the character at *offset* in *raw*."""
        return Spot(self.spot.file, self.spot.line, self.column + offset)
