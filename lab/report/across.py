"""What changed between two runs: `lab compare`, and the same as Markdown and JSON."""

from __future__ import annotations

from collections.abc import Sequence

from lab.analysis.across import Across, RunDifference
from lab.analysis.comparable import DifferingKey
from lab.analysis.judging import Judgement
from lab.model.comparison import Estimate
from lab.model.document import Cell, Document, Meaning, Table, texts
from lab.model.metric import METRICS
from lab.model.numbers import figure, ratio, share
from lab.model.wording import UNKNOWN
from lab.report.machine import machine_lines
from lab.report.summary_json import to_json
from lab.report.tables import MEANINGS, judgement_table
from lab.report.warnings import with_status

FORMAT = 1
"""
Version of the JSON.

1: the first.
"""


def document(
    across: Across, differing: Sequence[DifferingKey], judgements: Sequence[Judgement] = ()
) -> Document:
    """
    Return what a comparison of two runs says.

    Args:
        across: The comparison.
        differing: In what the runs differ, and may.
        judgements: Of thresholds; they come first.
    """
    before, after = across.before.run, across.after.run
    judged = (judgement_table(judgements),) if judgements else ()
    changes = tuple(
        _table(metric, [change for change in across.changes if change.metric == metric])
        for metric in across.metrics
    )
    return Document(
        title=f"{before.name} -> {after.name}",
        context=(_question(across), *machine_lines(across.machine)),
        banners=tuple(
            f"{summary.run.name}: {with_status(warning)}"
            for summary in (across.before, across.after)
            for warning in summary.warnings
        ),
        tables=(*judged, *changes),
        notes=tuple(_notes(across, differing)),
        legend=(
            "change: second / first run, with Welch's 95% interval; ~: it may be 1.",
            "better, worse: the whole interval lies outside the noise of both runs (at least 2%);",
            "inconclusive: it does not.",
            "no difference (< 5%): a change of 5% or more is excluded.",
        ),
        footer=(),
    )


def render_json(
    across: Across, differing: Sequence[DifferingKey], judgements: Sequence[Judgement], status: int
) -> str:
    """Return a comparison of two runs as JSON, *status* being the command's; with a newline."""
    return to_json(
        {
            "format": FORMAT,
            "before": across.before.run.name,
            "after": across.after.run.name,
            "reference": across.reference,
            "exit_code": status,
            "thresholds": judgements,
            "differences": {
                differing_key.key: {"before": differing_key.before, "after": differing_key.after}
                for differing_key in differing
            },
            "changes": across.changes,
        }
    )


def _question(across: Across) -> str:
    return (
        f"How the ratio of each profile to {across.reference} changed from the first run to the "
        "second; "
        f"{across.before.run.allotted} and {across.after.run.allotted} blocks"
    )


def _table(metric: str, changes: Sequence[RunDifference]) -> Table:
    columns = texts(("profile", "first run", "second run", "change", "floor", "n"))
    rows = tuple(
        (
            Cell(change.profile),
            Cell(_centre(change.before)),
            Cell(_centre(change.after)),
            _verdict(change),
            Cell(share(change.floor), Meaning.MUTED),
            Cell(_blocks(change), Meaning.MUTED),
        )
        for change in changes
    )
    return Table(METRICS[metric].title, columns, rows)


def _verdict(change: RunDifference) -> Cell:
    text = UNKNOWN if change.ratio is None else f"{ratio(change.ratio)} {change.verdict_text}"
    return Cell(text, MEANINGS[change.verdict])


def _centre(estimate: Estimate | None) -> str:
    """Show the middle alone: what is compared has its interval in the next column."""
    return UNKNOWN if estimate is None else f"{figure(estimate.value)}x"


def _blocks(change: RunDifference) -> str:
    sides = (change.before, change.after)
    return ", ".join(UNKNOWN if side is None else str(side.n) for side in sides)


def _notes(across: Across, differing: Sequence[DifferingKey]) -> list[str]:
    runs = (across.before.run, across.after.run)
    notes = [
        f"Only in {run.name}: {', '.join(alone)}."
        for run, alone in zip(runs, across.alone, strict=True)
        if alone
    ]
    notes += [
        f"{METRICS[metric].title}: {number} inconclusive. Two such runs detect a change of "
        f"{smallest:.3g}x with 80% power; more blocks detect smaller ones."
        for metric, (number, smallest) in across.undecided.items()
    ]
    notes += [
        f"{run.name}: the load generator was saturated with {', '.join(names)}; ratios of "
        "requests/s with such a profile are bounds."
        for run, names in zip(runs, across.capped, strict=True)
        if names
    ]
    return notes + [
        f"Differs: {differing_key.key}: {differing_key.before} / {differing_key.after}."
        for differing_key in differing
    ]
