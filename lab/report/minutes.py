"""What is said of a run of minutes: what left early, what is open, and what more time would do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from lab.analysis.compare import LEAST_FLOOR, MOST_SAME
from lab.analysis.conclusion import judged_by
from lab.analysis.looks import EARLY, SMALL, settled
from lab.analysis.stats import CONFIDENCE, blocks_to_decide, half_width, percent
from lab.analysis.summary import Summary
from lab.model.comparison import Comparison, Verdict
from lab.model.measured import Run
from lab.model.wording import counted
from lab.report.numbers import figure

MOST_MORE = 2.0
"""More time is offered for steps that need at most so many times the blocks that were made."""


def levels(summary: Summary) -> str:
    """Return the levels of the intervals of its steps, the most frequent first: "96% or 99.5%"."""
    found = [
        each.ratio.level
        for step in summary.steps
        for comparisons in (step.step, step.baseline)
        for each in comparisons.values()
        if each.ratio is not None
    ]
    by_number = sorted(set(found or [CONFIDENCE]), key=lambda level: -found.count(level))
    return " or ".join(map(percent, by_number))


def level_words(summary: Summary) -> str:
    """Say which level the intervals have, as in a legend: the A/A row's where it is another."""
    usual, steps = percent(CONFIDENCE), levels(summary)
    return f"{usual} interval" if steps == usual else f"interval ({steps}; the A/A row's {usual})"


def left_early(summary: Summary, metrics: Sequence[str]) -> list[str]:
    """Return a remark on the rows that ended at a look; none where no row did."""
    ratios = [each.ratio for each in _shown(summary, metrics) if each.ratio is not None]
    counts = sorted({each.n for each in ratios if each.level == EARLY})
    if not counts:
        return []
    *most, last = map(str, counts)
    blocks = " or ".join(filter(None, (", ".join(most), last)))
    text = f"Rows with {blocks} blocks left early: their intervals are {percent(EARLY)}."
    return [f"{text} Claims and limits are judged by all pairs."]


def outlook(summary: Summary) -> list[str]:
    """Return how many steps are decided, and what more minutes would do for the others."""
    if summary.run.plan.minutes is None or not summary.run.ended:
        return []
    judged = judged_by(summary)
    steps = [found for step in summary.steps if (found := step.step.get(judged)) is not None]
    undecided = [each for each in steps if not _decided(each)]
    ended = f"decided, or below {SMALL:.0%}"
    text = f"{len(steps) - len(undecided)} {ended}; {len(undecided)} open"
    if not steps or not undecided:
        return [f"All {len(steps)} steps {ended}."] if len(steps) > 1 else []
    open_ones = [each for each in undecided if each.ratio is not None]
    if not open_ones:
        return [f"{text}: too few of their trials count."]
    needs = sorted(_needed(summary, open_ones), key=lambda each: each[0])
    nearest = needs[0][1] if needs else min(open_ones, key=_width)
    assert nearest.ratio is not None
    low, high = figure(nearest.ratio.low), figure(nearest.ratio.high)
    text += f": the nearest, {nearest.changed}, is between {low}x and {high}x"
    if not needs:
        most = f"{summary.run.plan.blocks} blocks, the most that there may be"
        return [f"{text}; {most}, would hardly decide it."]
    blocks = needs[0][0]
    within = [each for each, _ in needs if each <= MOST_MORE * summary.run.blocks] or [blocks]
    more = math.ceil((within[-1] - summary.run.blocks) * _block_seconds(summary.run) / 60)
    total = math.ceil(_seconds(summary.run) / 60) + more
    of = "it" if len(undecided) == 1 else f"about {len(within)} of them"
    return [f"{text}; {counted(more, 'more minute')} would decide {of}: --minutes {total}."]


def _shown(summary: Summary, metrics: Sequence[str]) -> Iterator[Comparison]:
    """Yield the comparisons of the tables of changes, and those with reference lines."""
    for step in summary.steps:
        for comparisons in (step.step, step.baseline):
            yield from (each for name, each in comparisons.items() if name in metrics)
    for shares in summary.shares.values():
        yield from shares.values()


def _width(comparison: Comparison) -> float:
    assert comparison.ratio is not None
    return half_width(comparison.ratio)


def _decided(comparison: Comparison) -> bool:
    return comparison.verdict is Verdict.SAME or settled(comparison)


def _needed(summary: Summary, undecided: Sequence[Comparison]) -> Iterator[tuple[int, Comparison]]:
    """Yield how many blocks would decide each; leave out what the most blocks would not decide."""
    run = summary.run
    for each in undecided:
        if each.ratio is not None:
            floor = summary.floors[each.metric]
            sizes = floor, LEAST_FLOOR, MOST_SAME
            blocks = blocks_to_decide(each.ratio, *sizes, run.blocks, small=SMALL)
            if blocks is not None and blocks <= run.plan.blocks:
                yield blocks, each


def _seconds(run: Run) -> float:
    """Return about how long the run took: its last trial as long as the others."""
    first, last = run.trials[0].started_at, run.trials[-1].started_at
    return (last - first) * len(run.trials) / max(1, len(run.trials) - 1)


def _block_seconds(run: Run) -> float:
    """Return about how long one more block would take."""
    last = max(trial.slot.block for trial in run.trials)
    held = sum(trial.slot.block == last for trial in run.trials)
    return _seconds(run) / len(run.trials) * held
