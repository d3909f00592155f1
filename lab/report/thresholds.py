"""Judged thresholds: as lines under a report, as a table of a page, and for JSON."""

from __future__ import annotations

from collections.abc import Sequence

from lab.analysis import swept
from lab.analysis.health import gravest
from lab.analysis.summary import Summary
from lab.analysis.thresholds import Judged, Judgement, Threshold, exit_code, judge_run
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


def verdict(
    summaries: Sequence[Summary], thresholds: Sequence[Threshold]
) -> tuple[tuple[str, ...], int]:
    """Return what a run says to *thresholds*, in lines, and its exit status."""
    said: tuple[str, ...] = ()
    worst = swept.exit_code(summaries)
    for summary in summaries:
        judgements = [judge_run(each, summary) for each in thresholds]
        said += lines(judgements)
        worst = gravest(worst, exit_code(judgements, 0))
    return said, worst


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
