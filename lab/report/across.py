"""What changed between two runs: `lab compare`, and the same as Markdown and JSON."""

from __future__ import annotations

from collections.abc import Sequence

from lab.analysis.across import Across, Change
from lab.analysis.comparable import DifferingKey
from lab.analysis.looks import shown
from lab.analysis.summary import Summary
from lab.analysis.thresholds import Judgement
from lab.model.comparison import Estimate, Verdict
from lab.model.measured import METRICS
from lab.report.machine import machine_lines
from lab.report.numbers import UNKNOWN, figure, ratio, share
from lab.report.remarks import blocks
from lab.report.summary_json import to_json
from lab.report.tables import MEANINGS, Cell, Document, Meaning, Table, texts
from lab.report.thresholds import judgement_table
from lab.report.warnings import told

FORMAT = 1
"""
Version of the JSON.

1: the first.
"""


def document(
    found: Across, differing: Sequence[DifferingKey], judgements: Sequence[Judgement] = ()
) -> Document:
    """
    Return what a comparison of two runs says.

    Args:
        found: The comparison.
        differing: In what the runs differ, and may.
        judgements: Of thresholds; they come first.
    """
    before, after = found.before.run, found.after.run
    judged = (judgement_table(judgements),) if judgements else ()
    changes = tuple(
        _table(metric, [each for each in found.changes if each.metric == metric])
        for metric in shown(after.plan.load)
    )
    return Document(
        title=f"{before.name} -> {after.name}",
        context=(_question(found), *machine_lines(after.environments)),
        banners=tuple(
            f"{summary.run.name}: {told(warning)}"
            for summary in (found.before, found.after)
            for warning in summary.warnings
        ),
        tables=(*judged, *changes),
        notes=tuple(_notes(found, differing)),
        legend=(
            "change: second / first run, with Welch's 95% interval; ~: it may be 1.",
            "better, worse: all beyond the floor, the A/A noise of both runs (at least 2%); same:",
            "within; undecided: neither.",
            "undecided, but below 5%: a change of 5% or more is excluded.",
        ),
        footer=(),
    )


def render_json(
    found: Across, differing: Sequence[DifferingKey], judgements: Sequence[Judgement], status: int
) -> str:
    """Return a comparison of two runs as JSON, *status* being the command's; with a newline."""
    return to_json(
        {
            "format": FORMAT,
            "before": found.before.run.name,
            "after": found.after.run.name,
            "reference": found.reference,
            "exit_code": status,
            "thresholds": judgements,
            "differences": {
                each.key: {"before": each.before, "after": each.after} for each in differing
            },
            "changes": found.changes,
        }
    )


def _question(found: Across) -> str:
    return (
        f"How each profile's ratio to {found.reference} changed from the first run to the second; "
        f"{blocks(found.before.run)} and {blocks(found.after.run)} blocks"
    )


def _table(metric: str, changes: Sequence[Change]) -> Table:
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


def _verdict(change: Change) -> Cell:
    text = UNKNOWN if change.ratio is None else f"{ratio(change.ratio)} {change.said}"
    return Cell(text, MEANINGS[change.verdict])


def _centre(estimate: Estimate | None) -> str:
    """Show the middle alone: what is compared has its interval in the next column."""
    return UNKNOWN if estimate is None else f"{figure(estimate.value)}x"


def _blocks(change: Change) -> str:
    sides = (change.before, change.after)
    return ", ".join(UNKNOWN if each is None else str(each.n) for each in sides)


def _notes(found: Across, differing: Sequence[DifferingKey]) -> list[str]:
    runs = (found.before.run, found.after.run)
    first, second = ({profile.name for profile in run.plan.profiles} for run in runs)
    notes = [
        f"Only in {run.name}: {', '.join(sorted(alone))}."
        for run, alone in zip(runs, (first - second, second - first), strict=True)
        if alone
    ]
    for metric in shown(found.after.run.plan.load):
        open_ones = [
            change.detectable * (1 + change.floor)
            for change in found.changes
            if change.metric == metric
            and change.verdict is Verdict.UNDECIDED
            and change.detectable is not None
        ]
        if open_ones:
            notes.append(
                f"{METRICS[metric].title}: {len(open_ones)} undecided. Two such runs would find a "
                f"change of {min(open_ones):.3g}x with 80% power; more blocks find smaller ones."
            )
    for summary in (found.before, found.after):
        notes += _limited(summary)
    notes += [f"Differs: {each.key}: {each.before} / {each.after}." for each in differing]
    return notes


def _limited(summary: Summary) -> list[str]:
    """Say with which profiles a run's generator was at its limit."""
    names = [row.profile.name for row in summary.rows if row.at_least("throughput")]
    if not names:
        return []
    why = f"{summary.run.name}: the generator was at its limit with {', '.join(names)}"
    return [f"{why}; a ratio of requests/s with such a profile may be another one."]
