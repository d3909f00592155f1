"""
Comments that say that something is meant so.

    ; lab: ignore[UW310] nginx is in the same pod      the next line that is no comment
    ; lab: ignore-file[UW2,UW401] an article has it    the whole file, and what it includes

A line of its own, because uWSGI has no other comments. A code may be the beginning of several, and
in small letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.settings.lint.flaw import Flaw, Spot

_COMMENT = re.compile(r"\ufeff?\s*[;#]\s*lab:\s*ignore(-file)?\[([\w, ]*)\]")


@dataclass(frozen=True, slots=True)
class Suppression:
    """One code of such a comment."""

    code: str
    spot: Spot
    """Where the code stands."""

    line: int | None
    """The line that it is about; None for the whole file."""

    def covers(self, flaw: Flaw, read: Path) -> bool:
        """
        Return whether it is this flaw that is meant so.

        Args:
            flaw: What was found.
            read: The file that was named, which speaks for what it includes.
        """
        line = self.line in (None, flaw.spot.line) and flaw.spot.file == self.spot.file
        whole = self.line is None and self.spot.file == read
        return (line or whole) and flaw.code.startswith(self.code)


def suppressions(texts: Mapping[Path, str]) -> Iterator[Suppression]:
    """Yield what the comments of all files suppress."""
    for file, text in texts.items():
        lines = text.split("\n")
        for number, line in enumerate(lines, start=1):
            found = _COMMENT.match(line)
            if found is None:
                continue
            about = None if found[1] else _below(lines, number)
            for code in re.finditer(r"\w+", found[2]):
                column = found.start(2) + code.start() + 1
                yield Suppression(code[0].upper(), Spot(file, number, column), about)


def _below(lines: list[str], number: int) -> int:
    """Return the number of the next line that is neither empty nor a comment."""
    below = enumerate(lines[number:], start=number + 1)
    return next((at for at, line in below if line.strip() and line.strip()[0] not in ";#"), 0)
