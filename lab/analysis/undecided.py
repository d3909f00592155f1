"""What a run leaves open: by metric what it would take, and what more minutes would do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lab.analysis.compare import LEAST_FLOOR, MOST_SAME
from lab.analysis.looks import EARLY, SMALL, settled
from lab.analysis.stats import CONFIDENCE, blocks_to_decide, half_width
from lab.analysis.summary import Summary
from lab.model.comparison import BELOW, Comparison, Verdict
from lab.model.measurement import Run
from lab.model.metric import METRICS
from lab.model.notice import Means, Notice, Remedy
from lab.model.numbers import figure, percent
from lab.model.wording import alternatives, counted

MOST_MORE = 2.0
"""More time is offered for steps that need at most so many times the blocks that were made."""


@dataclass(frozen=True, slots=True)
class OpenMetric(Notice):
    """The steps that one metric leaves open."""

    metric: str
    undecided: int
    steps: int
    """Of how many."""

    below: int
    """How many of the undecided are surely below 10 %."""

    detectable: tuple[float, ...]
    """Least and most ratio that so many blocks would find of them, with 80 % power; one alone where
    no more are known."""

    soonest: str | None
    """Profile that more blocks would decide first; None where that is not known of any, and for a
    run of minutes: see `Outlook`."""

    blocks: int | None
    """About how many that takes."""

    def sentence(self) -> str:
        span = " to ".join(f"{figure(ratio)}x" for ratio in self.detectable)
        below = f", {self.below} of them below {max(BELOW):.0%}" if self.below else ""
        text = (
            f"{METRICS[self.metric].title}: {self.undecided} of {self.steps} steps inconclusive"
            f"{below}. This many blocks detect changes of {span} with 80% power."
        )
        if self.soonest is None:
            return text
        return f"{text} First to be decided: {self.soonest}, with about {self.blocks:,} blocks."


@dataclass(frozen=True, slots=True)
class MoreTime:
    """What more minutes would decide."""

    minutes: int
    """Beside those of the run."""

    total: int
    """With them."""

    decides: int
    """About how many of the open steps."""


@dataclass(frozen=True, slots=True)
class Outlook(Notice):
    """How far a run of minutes came."""

    decided: int
    """Steps that are, or of which the change is surely small."""

    undecided: int

    nearest: Comparison | None
    """The open step that the least time would decide, else the narrowest; None where too few
    trials of all of them count."""

    more: MoreTime | None
    """None where *blocks* would hardly decide any."""

    blocks: int
    """The most that there may be."""

    @property
    def remedy(self) -> Remedy | None:
        """The minutes of a run that decides more; None where that is not known."""
        return None if self.more is None else Remedy(Means.MINUTES, self.more.total)

    def sentence(self) -> str:
        ended = f"decided or below {SMALL:.0%}"
        if not self.undecided:
            return f"All {self.decided} steps {ended}."
        text = f"{self.decided} {ended}; {self.undecided} inconclusive"
        if self.nearest is None or self.nearest.ratio is None:
            return f"{text}: too few of their trials are valid."
        low, high = figure(self.nearest.ratio.low), figure(self.nearest.ratio.high)
        nearest = f"the closest to a decision, {self.nearest.changed}"
        text += f": {nearest}, is between {low}x and {high}x"
        if self.more is None:
            most = f"{self.blocks} blocks, the maximum"
            return f"{text}; {most}, would probably not decide it."
        of = "it" if self.undecided == 1 else f"about {self.more.decides} of them"
        return f"{text}; {counted(self.more.minutes, 'more minute')} would decide {of}."


@dataclass(frozen=True, slots=True)
class LeftEarly(Notice):
    """Rows of the tables that ended at a look."""

    blocks: tuple[int, ...]
    """After how many."""

    def sentence(self) -> str:
        blocks = alternatives([*map(str, self.blocks)])
        return (
            f"Rows with {blocks} blocks ended early: their intervals have a level of "
            f"{percent(EARLY)}. Limits are judged by all pairs."
        )


def levels(summary: Summary) -> tuple[float, ...]:
    """Return the levels of the intervals of its steps, the most frequent first."""
    ratio_levels = [
        comparison.ratio.level
        for step in summary.steps
        for comparisons in (step.step, step.baseline)
        for comparison in comparisons.values()
        if comparison.ratio is not None
    ]
    return tuple(
        sorted(set(ratio_levels or [CONFIDENCE]), key=lambda level: -ratio_levels.count(level))
    )


def left_early(summary: Summary, metrics: Sequence[str]) -> LeftEarly | None:
    """Return after how many blocks rows of the tables ended at a look; None where none did."""
    ratios = [side.ratio for side in _shown(summary, metrics) if side.ratio is not None]
    blocks = {ratio.n for ratio in ratios if ratio.level == EARLY}
    return LeftEarly(tuple(sorted(blocks))) if blocks else None


def undecided(summary: Summary, metrics: Sequence[str]) -> tuple[OpenMetric, ...]:
    """Return by metric how many steps stay open, what would have been found, what decides next."""
    return tuple(filter(None, (_of_metric(summary, name) for name in metrics)))


def outlook(summary: Summary, metric: str) -> Outlook | None:
    """
    Return how many steps are decided, and what more minutes would do for the others.

    None but for a run of minutes that ended by itself, and where there is nothing to tell.

    Args:
        summary: What was found.
        metric: By which the run is judged.
    """
    run = summary.run
    if run.plan.minutes is None or not run.ended:
        return None
    steps = [
        comparison for step in summary.steps if (comparison := step.step.get(metric)) is not None
    ]
    still_open = [step for step in steps if not _decided(step)]
    decided, most = len(steps) - len(still_open), run.plan.blocks
    if not still_open:
        return Outlook(decided, 0, None, None, most) if decided > 1 else None
    known = [comparison for comparison in still_open if comparison.ratio is not None]
    if not known:
        return Outlook(decided, len(still_open), None, None, most)
    needs = sorted(_needed(summary, known), key=lambda need: need[0])
    if not needs:
        return Outlook(decided, len(still_open), min(known, key=_width), None, most)
    blocks, nearest = needs[0]
    within = [count for count, _ in needs if count <= MOST_MORE * run.blocks] or [blocks]
    more = math.ceil((within[-1] - run.blocks) * _block_seconds(run) / 60)
    total = math.ceil(seconds_of(run) / 60) + more
    decides = 1 if len(still_open) == 1 else len(within)
    return Outlook(decided, len(still_open), nearest, MoreTime(more, total, decides), most)


def _of_metric(summary: Summary, name: str) -> OpenMetric | None:
    steps = [(step.profile, step.step[name]) for step in summary.steps if name in step.step]
    still_open = [
        (who, comparison) for who, comparison in steps if comparison.verdict is Verdict.INCONCLUSIVE
    ]
    # What is told from 1 has no verdict yet: that needs the floor on top.
    sizes = sorted(
        comparison.detectable * (1 + summary.floors[name])
        for _, comparison in still_open
        if comparison.detectable is not None
    )
    if not sizes:
        return None
    needs = sorted(
        (comparison.blocks_needed, who)
        for who, comparison in still_open
        if comparison.blocks_needed
    )
    known = bool(needs) and summary.run.plan.minutes is None
    return OpenMetric(
        metric=name,
        undecided=len(still_open),
        steps=len(steps),
        below=sum(comparison.below is not None for _, comparison in still_open),
        detectable=(*sizes[:1], *sizes[1:][-1:]),
        soonest=needs[0][1] if known else None,
        blocks=needs[0][0] if known else None,
    )


def _shown(summary: Summary, metrics: Sequence[str]) -> Iterator[Comparison]:
    """Yield the comparisons of the tables of changes, and those with reference lines."""
    yield from summary.comparisons(metrics)
    for shares in summary.shares.values():
        yield from shares.values()


def _width(comparison: Comparison) -> float:
    assert comparison.ratio is not None
    return half_width(comparison.ratio)


def _decided(comparison: Comparison) -> bool:
    return comparison.verdict is Verdict.NO_DIFFERENCE or settled(comparison)


def _needed(summary: Summary, still_open: Sequence[Comparison]) -> Iterator[tuple[int, Comparison]]:
    """Yield how many blocks would decide each; leave out what the most blocks would not decide."""
    run = summary.run
    for comparison in still_open:
        if comparison.ratio is not None:
            sizes = summary.floors[comparison.metric], LEAST_FLOOR, MOST_SAME
            blocks = blocks_to_decide(comparison.ratio, *sizes, run.blocks, small=SMALL)
            if blocks is not None and blocks <= run.plan.blocks:
                yield blocks, comparison


def seconds_of(run: Run) -> float:
    """Return about how long the run took: its last trial as long as the others."""
    first, last = run.trials[0].started_at, run.trials[-1].started_at
    return (last - first) * len(run.trials) / max(1, len(run.trials) - 1)


def _block_seconds(run: Run) -> float:
    """Return about how long one more block would take."""
    last = max(trial.slot.block for trial in run.trials)
    held = sum(trial.slot.block == last for trial in run.trials)
    return seconds_of(run) / len(run.trials) * held
