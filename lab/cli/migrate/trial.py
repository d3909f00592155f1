"""What was seen of the old and the new configuration, when both were put to the test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lab.cli.migrate.migration import DIFFERS, Migration


@dataclass(frozen=True, slots=True)
class Contrast:
    """One question, and the answer of each configuration."""

    question: str
    before: str
    after: str
    differs: bool | None
    """None where nothing follows from it, or this machine could not tell."""

    @property
    def mark(self) -> str:
        """What stands before a row that differs."""
        return "*" if self.differs else ""


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Both configurations, beside each other."""

    contrasts: tuple[Contrast, ...]
    notes: tuple[str, ...]
    """What has to be known of single answers."""
    folder: str
    """Where the run is stored that the first rows are of."""
    measured: int
    """Exit status of the measurement: 0, or why it says less than was asked."""


def status_of(migration: Migration, tried: SideBySide | None) -> int:
    """Return the exit status: what the measurement lacks before what differs."""
    if tried is None:
        return migration.status
    if tried.measured:
        return tried.measured
    return DIFFERS if any(contrast.differs for contrast in tried.contrasts) else migration.status


def lines(tried: SideBySide) -> Iterator[str]:
    """Yield the table for a terminal, and what has to be known of it."""
    rows = [
        (contrast.mark, contrast.question, contrast.before, contrast.after)
        for contrast in tried.contrasts
    ]
    rows.insert(0, ("", "question", "before", "after"))
    wide = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, wide, strict=True))
        yield "  ".join(cells).rstrip()
    yield "*: they differ"
    yield from (f"- {note}" for note in tried.notes)
    yield f"Run: {tried.folder}"
