"""
Judge thresholds: never red on noise, and never green without saying what it could have seen.

A ratio fails where its *whole* interval lies beyond the limit, and beyond the A/A noise where the
limit is a change that noise could make. A count has no noise, and its largest value is judged.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable
from dataclasses import dataclass

from lab.analysis.across import Across, change
from lab.analysis.compare import compare, own
from lab.analysis.metrics import derive
from lab.analysis.stats import half_width
from lab.analysis.summary import Summary
from lab.model import METRICS, Estimate, Role
from lab.thresholds import Threshold

FAILED = 99
"""Exit status of a crossed threshold; k6's, and none of ours."""

UNJUDGED = 3
"""Exit status where the run cannot tell: this machine could not measure it."""


PLANNED = "in an open loop throughput is the plan's, whatever the servers do; ask for cpu or p99"


class Outcome(enum.StrEnum):
    """What a run says to a threshold."""

    PASSED = "passed"
    FAILED = "failed"
    UNJUDGED = "cannot be judged"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A threshold, judged."""

    threshold: Threshold
    outcome: Outcome
    sentence: str
    """Why, with the figures."""
    ratio: Estimate | None = None


def judge_run(threshold: Threshold, summary: Summary) -> Judgement:
    """
    Judge *threshold* within one run.

    Its profiles are in the run: see `lab.thresholds.check`.
    """
    if threshold.against is None:
        return _judge_count(threshold, summary)
    if _planned(threshold, summary):
        return _unjudged(threshold, PLANNED)
    floor = summary.floors[threshold.metric]
    sides = own(threshold.profile), own(threshold.against)
    found = compare(summary.observations, threshold.metric, *sides, floor)
    if found.ratio is None:
        return _unjudged(threshold, _reasons(threshold, summary))
    return judge_ratio(threshold, found.ratio, floor, found.detectable or math.inf)


def judge_across(threshold: Threshold, found: Across) -> Judgement:
    """
    Judge *threshold* on what changed between two runs; a count on the second run.

    Its profiles are in both runs: see `lab.thresholds.check`.
    """
    if threshold.against is None:
        return _judge_count(threshold, found.after)
    before, after = found.before, found.after
    if _planned(threshold, after):
        return _unjudged(threshold, PLANNED)
    moved = change(before, after, threshold.metric, threshold.profile, threshold.against)
    if moved.ratio is None:
        sides = ((before, moved.before), (after, moved.after))
        reasons = "; ".join(
            f"in {side.run.name} {_reasons(threshold, side)}"
            for side, ratio in sides
            if ratio is None
        )
        return _unjudged(threshold, reasons)
    return judge_ratio(threshold, moved.ratio, moved.floor, moved.detectable or math.inf)


def judge_ratio(
    threshold: Threshold, ratio: Estimate, floor: float, detectable: float
) -> Judgement:
    """
    Judge a ratio.

    Args:
        threshold: With a profile to divide by.
        ratio: The ratio, or the ratio of ratios.
        floor: Share below which a change is not told from noise.
        detectable: Smallest ratio above 1 that so many blocks tell from 1, 4 times out of 5.
    """
    nearest, farthest = (ratio.low, ratio.high) if threshold.above else (ratio.high, ratio.low)
    edge = _edge(threshold, floor)
    figures = f"{ratio.value:.3g}x [{ratio.low:.3g}, {ratio.high:.3g}] over {ratio.n} blocks"
    if threshold.crossed(nearest):
        if (nearest > edge) if threshold.above else (nearest < edge):
            sentence = f"{figures}: the whole interval lies beyond {threshold.limit:g}"
            return Judgement(threshold, Outcome.FAILED, sentence, ratio)
        sentence = (
            f"{figures}: beyond {threshold.limit:g}, and within the {floor:.1%} by which this "
            "machine's noise moves two identical servers apart"
        )
        return Judgement(threshold, Outcome.PASSED, sentence, ratio)
    margin = math.expm1(abs(math.log(threshold.limit / farthest)))
    if threshold.crossed(farthest):
        margin = 0.0
        sentence = f"{figures}: the interval holds {threshold.limit:g}"
    else:
        sentence = f"{figures}: the interval ends {margin:.1%} from {threshold.limit:g}"
    if half_width(ratio) > margin:
        seen = edge * detectable if threshold.above else edge / detectable
        side = "below" if threshold.above else "above"
        sentence += f". A true ratio {side} {seen:.3g} would mostly pass unseen"
    return Judgement(threshold, Outcome.PASSED, sentence, ratio)


def exit_code(judgements: Iterable[Judgement], otherwise: int) -> int:
    """Return 99 when a threshold failed, 3 when one cannot be judged, else *otherwise*."""
    outcomes = {judgement.outcome for judgement in judgements}
    if Outcome.FAILED in outcomes:
        return FAILED
    return UNJUDGED if Outcome.UNJUDGED in outcomes else otherwise


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


def _judge_count(threshold: Threshold, summary: Summary) -> Judgement:
    name = threshold.profile
    trials = [
        item.trial
        for item in summary.observations
        if item.trial.slot.arm.name == name and item.trial.slot.arm.role is not Role.COUNTER
    ]
    # From the trials themselves: a count stands whatever gate its trial fails.
    counts = [
        metrics[threshold.metric]
        for trial in trials
        if threshold.metric in (metrics := derive(trial))
    ]
    title = METRICS[threshold.metric].title
    if counts and threshold.crossed(max(counts)):
        sentence = f"{title}: {max(counts):,.0f} in one of {len(counts)} trials of {name}"
        return Judgement(threshold, Outcome.FAILED, sentence)
    if len(counts) < len(trials) or not counts:
        missing = len(trials) - len(counts)
        return _unjudged(threshold, f"{missing} of {len(trials)} trials of {name} have no {title}")
    sentence = f"{title}: at most {max(counts):,.0f} in {len(counts)} trials of {name}"
    return Judgement(threshold, Outcome.PASSED, sentence)


def _planned(threshold: Threshold, summary: Summary) -> bool:
    return threshold.metric == "throughput" and summary.run.plan.load.rate is not None


def _unjudged(threshold: Threshold, reason: str) -> Judgement:
    return Judgement(threshold, Outcome.UNJUDGED, reason)


def _reasons(threshold: Threshold, summary: Summary) -> str:
    """Say which gates leave less than two blocks with a value of both profiles."""
    names = (threshold.profile, threshold.against)
    rows = [row for row in summary.rows if row.profile.name in names]
    parts = []
    for row in rows:
        have = row.counts.get(threshold.metric, 0)
        text = f"{row.profile.name} has {METRICS[threshold.metric].title} in {have}/{row.total}"
        gates = [
            f"{tally.gate}: {tally.example.reason}"
            for tally in row.tallies
            if tally.example.withholds is None or threshold.metric in tally.example.withholds
        ]
        parts.append(f"{text} trials" + (f" ({'; '.join(gates)})" if gates else ""))
    return " and ".join(parts) + "; two blocks with both are needed"
