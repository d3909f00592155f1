"""Judged thresholds: as lines under a report, as a table of a page, and for JSON."""

from __future__ import annotations

from collections.abc import Sequence

from lab.analysis.thresholds import Judged, Judgement
from lab.report.tables import Cell, Meaning, Table, texts

MEANINGS = {
    Judged.PASSED: Meaning.GOOD,
    Judged.FAILED: Meaning.BAD,
    Judged.UNJUDGED: Meaning.WARNING,
}


def lines(judgements: Sequence[Judgement]) -> tuple[str, ...]:
    """Return a line for each threshold."""
    return tuple(
        f"{each.outcome}: --fail-if '{each.threshold.text}': {each.sentence}."
        for each in judgements
    )


def judgement_table(judgements: Sequence[Judgement]) -> Table:
    """Return the thresholds as a table."""
    rows = tuple(
        (
            Cell(each.threshold.text),
            Cell(each.outcome, MEANINGS[each.outcome]),
            Cell(f"{each.sentence}."),
        )
        for each in judgements
    )
    return Table("Thresholds", texts(("fail if", "", "why")), rows)
