"""What was seen of the old and the new configuration, when both were put to the test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lab.cli.migrate.migration import DIFFERS, Migration
from lab.model.document import Block, table

HEAD = "Both servers, compared"
"""What stands above the table of a measurement."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """One question, and the answer of each configuration."""

    question: str
    before: str
    after: str
    differs: bool | None
    """None where nothing follows from it, or this machine could not tell."""


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


def of_measurement(tried: SideBySide) -> Iterator[Block]:
    """Yield the table, what has to be known of it, and where the run is."""
    rows = (
        ("differs" if row.differs else "", row.question, row.before, row.after)
        for row in tried.contrasts
    )
    yield table(HEAD, ("", "question", "before", "after"), rows)
    yield from tried.notes
    yield f"Run: {tried.folder}"
