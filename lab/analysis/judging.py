"""
Whether a run crosses a threshold: never red on noise, never green without what it could have seen.

A ratio fails where its *whole* interval lies beyond the limit, and beyond the A/A noise where the
limit is a change that noise could make. A count has no noise, and its largest value is judged.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lab.analysis.across import Across, RunDifference, change
from lab.analysis.health import gravest
from lab.analysis.metrics import derive
from lab.analysis.stats import half_width
from lab.analysis.summary import Summary
from lab.analysis.thresholds import Threshold, check, parse
from lab.errors import ResultsError, UsageError
from lab.model.comparison import Comparison, Estimate, MayBe
from lab.model.plan import Load, Role

FAILED = 99
"""Exit status of a crossed threshold; k6's, and none of ours."""

UNJUDGED = 3
"""Exit status where the run cannot tell: this machine could not measure it."""


class ThresholdOutcome(enum.StrEnum):
    """What a run says to a threshold."""

    PASSED = "passed"
    FAILED = "failed"
    UNJUDGED = "cannot be judged"
    OPEN = "inconclusive"
    """Of two versions alone, where green says that new is not beyond the limit."""


STATUSES = {
    ThresholdOutcome.PASSED: 0,
    ThresholdOutcome.FAILED: FAILED,
    ThresholdOutcome.UNJUDGED: UNJUDGED,
    ThresholdOutcome.OPEN: UNJUDGED,
}


class Reach(enum.StrEnum):
    """Where the interval of a ratio lies, as seen from the limit."""

    BEYOND = "beyond"
    """All of it where values fail."""
    NOISE = "noise"
    """All of it there, and within what noise moves two identical servers apart."""
    HOLDS = "holds"
    """On both sides."""
    SHORT = "short"
    """None of it where values fail."""


@dataclass(frozen=True, slots=True)
class RatioReading:
    """What was found of a ratio."""

    ratio: Estimate
    reach: Reach
    floor: float
    """Share below which a change is within the noise."""
    margin: float = 0.0
    """Share between the limit and the end of an interval that falls short of it."""
    unseen: float | None = None
    """True ratio up to which a failure would usually not be detected; None where the limit is
    farther from the interval than that is wide, and where the interval lies beyond the limit."""


@dataclass(frozen=True, slots=True)
class CountReading:
    """What was found of a count."""

    read: int
    """Trials with a reading."""
    missing: int
    """Trials without one."""
    largest: float | None
    """None without any reading."""


@dataclass(frozen=True, slots=True)
class TrialCount:
    """In how many trials of a profile a metric counts."""

    profile: str
    trials: int
    """With a value."""
    total: int
    gates: Mapping[str, str]
    """What withholds the others: gate -> its reason in one of them."""


@dataclass(frozen=True, slots=True)
class TooFew:
    """Less than two blocks have a value of both profiles."""

    profiles: tuple[TrialCount, ...]
    run: str | None = None
    """Name of the run, where it is one of two."""


@dataclass(frozen=True, slots=True)
class PlannedThroughput:
    """In an open loop throughput is the plan's, whatever the servers do."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A threshold, judged."""

    threshold: Threshold
    outcome: ThresholdOutcome
    why: RatioReading | CountReading | tuple[TooFew, ...] | PlannedThroughput
    """What it rests on; of two runs those with too few blocks."""
    bound: Comparison | None = None
    """The comparison, where the generator's limit makes its ratio a bound of the true one."""


def judge_run(threshold: Threshold, summary: Summary) -> Judgement:
    """Judge *threshold* within one run, which has its profiles: see `check`."""
    if threshold.against is None:
        return _judge_count(threshold, summary)
    floor = summary.floors[threshold.metric]
    comparison = summary.compare_whole(threshold.metric, threshold.profile, threshold.against)
    missing = TooFew(_counting(threshold, summary))
    judged = _judge_noisy(threshold, summary, comparison, floor, (missing,))
    return judged if summary.run.plan.deciding is None else _of_versions(judged)


def _stored(text: str, summary: Summary) -> Threshold:
    """
    Return a limit that a run was given.

    Raises:
        ResultsError: It is none, as somebody has changed it.
    """
    run = summary.run
    try:
        threshold = parse(text)
        check(threshold, [profile.name for profile in (run.whole or run).plan.profiles])
    except (UsageError, ValueError) as error:
        problem = str(error).partition("\n")[0]
        raise ResultsError(run.name, f"damaged: plan.thresholds: {problem}") from error
    return threshold


def judge_own(
    summary: Summary, thresholds: Sequence[Threshold] | None = None
) -> tuple[Judgement, ...]:
    """Return what a run says to the limits that it was given, or to others."""
    if thresholds is None:
        thresholds = [_stored(text, summary) for text in summary.run.plan.thresholds]
    return tuple(judge_run(threshold, summary) for threshold in thresholds)


def is_excluded(judgement: Judgement) -> bool:
    """
    Return whether the ratio surely lies where its limit is not crossed.

    It does not where the interval holds the limit, or lies beyond it and is no farther from 1 than
    noise; nor where it is the bound of a ratio that may lie beyond it.
    """
    if not isinstance(judgement.why, RatioReading) or judgement.why.reach is not Reach.SHORT:
        return False
    farther = MayBe.LARGER if judgement.threshold.above else MayBe.SMALLER
    bound = judgement.bound
    return bound is None or bound.may_be not in {farther, MayBe.EITHER}


def judge_across(threshold: Threshold, across: Across) -> Judgement:
    """
    Judge *threshold* on what changed between two runs; a count on the second run.

    Its profiles are in both runs: see `check`.
    """
    if threshold.against is None:
        return _judge_count(threshold, across.after)
    sides = across.before, across.after
    moved = change(*sides, threshold.metric, threshold.profile, threshold.against)
    missing = tuple(
        TooFew(_counting(threshold, side), side.run.name)
        for side, ratio in zip(sides, (moved.before, moved.after), strict=True)
        if ratio is None
    )
    return _judge_noisy(threshold, across.after, moved, moved.floor, missing)


def judge_ratio(
    threshold: Threshold, ratio: Estimate, floor: float, detectable: float
) -> Judgement:
    """
    Judge a ratio.

    Args:
        threshold: With a profile to divide by.
        ratio: The ratio, or the ratio of ratios.
        floor: Share below which a change is within the noise.
        detectable: Smallest ratio above 1 that so many blocks tell from 1, 4 times out of 5.
    """
    above, limit = threshold.above, threshold.limit
    nearest, farthest = (ratio.low, ratio.high) if above else (ratio.high, ratio.low)
    edge = _edge(threshold, floor)
    if threshold.crossed(nearest):
        failed = nearest > edge if above else nearest < edge
        ratio_reading = RatioReading(ratio, Reach.BEYOND if failed else Reach.NOISE, floor)
        return Judgement(
            threshold, ThresholdOutcome.FAILED if failed else ThresholdOutcome.PASSED, ratio_reading
        )
    inside = threshold.crossed(farthest)
    margin = 0.0 if inside else math.expm1(abs(math.log(limit / farthest)))
    unseen = None
    if half_width(ratio) > margin:
        unseen = edge * detectable if above else edge / detectable
    reach = Reach.HOLDS if inside else Reach.SHORT
    ratio_reading = RatioReading(ratio, reach, floor, margin, unseen)
    return Judgement(threshold, ThresholdOutcome.PASSED, ratio_reading)


def planned(metric: str, load: Load) -> bool:
    """Return whether *load* sets *metric*, so that it says nothing of a server."""
    return metric == "throughput" and load.rate is not None


def exit_code(judgements: Iterable[Judgement], otherwise: int) -> int:
    """
    Return the exit status of a run: the gravest of its own, *otherwise*, and its thresholds'.

    That is 99 when one failed, 1 when a server is broken, 3 when one cannot be judged or is open.
    """
    statuses = (STATUSES[judgement.outcome] for judgement in judgements)
    return gravest(otherwise, *statuses)


def _edge(threshold: Threshold, floor: float) -> float:
    """
    Return what the interval must lie beyond.

    A limit on the far side of 1, such as "cpu > 0.8", asks for an improvement, and noise around 1
    has nothing to do with it.
    """
    limit = threshold.limit
    if threshold.above:
        return max(limit, 1 + floor) if limit >= 1 else limit
    return min(limit, 1 / (1 + floor)) if limit <= 1 else limit


def _judge_noisy(
    threshold: Threshold,
    summary: Summary,
    comparison: Comparison | RunDifference,
    floor: float,
    missing: tuple[TooFew, ...],
) -> Judgement:
    """Judge what was found of a ratio; *missing* says why there may be none."""
    if planned(threshold.metric, summary.run.plan.load):
        return Judgement(threshold, ThresholdOutcome.UNJUDGED, PlannedThroughput())
    if comparison.ratio is None:
        return Judgement(threshold, ThresholdOutcome.UNJUDGED, missing)
    judged = judge_ratio(threshold, comparison.ratio, floor, comparison.detectable or math.inf)
    if isinstance(comparison, Comparison) and comparison.may_be is not None:
        return replace(judged, bound=comparison)
    return judged


def _of_versions(judged: Judgement) -> Judgement:
    """Return what is said of two versions: what is open passes nothing, so nothing is unseen."""
    if isinstance(judged.why, RatioReading):
        judged = replace(judged, why=replace(judged.why, unseen=None))
    open_ = judged.outcome is ThresholdOutcome.PASSED and not is_excluded(judged)
    return replace(judged, outcome=ThresholdOutcome.OPEN) if open_ else judged


def _judge_count(threshold: Threshold, summary: Summary) -> Judgement:
    name = threshold.profile
    trials = [
        item.trial
        for item in summary.observations
        if item.trial.slot.arm.name == name and item.trial.slot.arm.role is not Role.COUNTER
    ]
    # From the trials themselves: a count stands whatever gate its trial fails.
    read = [derive(trial).get(threshold.metric) for trial in trials]
    counts = [count for count in read if count is not None]
    missing = len(read) - len(counts)
    outcome = ThresholdOutcome.PASSED
    if counts and threshold.crossed(max(counts)):
        outcome = ThresholdOutcome.FAILED
    elif not counts or missing:
        outcome = ThresholdOutcome.UNJUDGED
    count_reading = CountReading(len(counts), missing, max(counts, default=None))
    return Judgement(threshold, outcome, count_reading)


def _counting(threshold: Threshold, summary: Summary) -> tuple[TrialCount, ...]:
    """Return in how many trials the two profiles of a ratio have a value, and what withholds it."""
    return tuple(
        TrialCount(
            row.profile.name,
            row.counts.get(threshold.metric, 0),
            row.total,
            {
                tally.gate.name: tally.example.reason
                for tally in row.tallies
                if threshold.metric in tally.withheld
            },
        )
        for row in summary.rows
        if row.profile.name in (threshold.profile, threshold.against)
    )
