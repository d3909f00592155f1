"""Judged thresholds: as lines under a report, and for the cells of its table."""

from __future__ import annotations

from lab.analysis.judging import (
    CountReading,
    Judgement,
    PlannedThroughput,
    RatioReading,
    Reach,
    ThresholdOutcome,
    TooFew,
)
from lab.analysis.stats import CONFIDENCE
from lab.analysis.sweep import RunConclusion
from lab.analysis.thresholds import PLANNED, Threshold
from lab.model.comparison import Estimate
from lab.model.metric import METRICS
from lab.model.numbers import percent


def lines(run_conclusion: RunConclusion) -> tuple[str, ...]:
    """Return a line for each threshold, of several values with the value."""
    if run_conclusion.sweep is None:
        return tuple(map(judgement_line, run_conclusion.judgements))
    name = run_conclusion.sweep.quantity
    return tuple(
        f"{name} {at}: {judgement_line(judgement)}"
        for at, judgement in run_conclusion.sweep.judgements
    )


def judgement_line(judgement: Judgement) -> str:
    """Return a line for one."""
    return f"{judgement.outcome}: --fail-if '{judgement.threshold.text}': {why(judgement)}."


def why(judgement: Judgement) -> str:
    """Say what an outcome rests on, with the figures; without a full stop."""
    threshold = judgement.threshold
    match judgement.why:
        case PlannedThroughput():
            return PLANNED
        case RatioReading() as seen:
            bound = "" if judgement.bound is None else f"; {judgement.bound.caveat}"
            level = seen.ratio.level
            width = "" if level == CONFIDENCE else f" ({percent(level)} interval)"
            evidence = f"{figures(seen.ratio)}{width} over {seen.ratio.n} blocks"
            return f"{evidence}: {_reach(threshold, seen)}{bound}"
        case CountReading() as seen:
            return _counted(threshold, judgement.outcome, seen)
        case few:
            return "; ".join(_too_few(METRICS[threshold.metric].title, too_few) for too_few in few)


def figures(ratio: Estimate) -> str:
    """Return a ratio with its interval, for a sentence."""
    return f"{ratio.value:.3g}x [{ratio.low:.3g}, {ratio.high:.3g}]"


def _reach(threshold: Threshold, reading: RatioReading) -> str:
    """Say where the interval lies, and what it could not have seen."""
    limit = f"{threshold.limit:g}"
    explanation = {
        Reach.BEYOND: f"the whole interval is beyond {limit}",
        Reach.NOISE: f"beyond {limit}, but within the noise of {reading.floor:.1%} between two "
        "identical servers on this machine",
        Reach.HOLDS: f"the interval contains {limit}",
        Reach.SHORT: f"the interval ends {reading.margin:.1%} from {limit}",
    }[reading.reach]
    if reading.unseen is not None:
        side = "below" if threshold.above else "above"
        explanation += f". A true ratio {side} {reading.unseen:.3g} would usually not be detected"
    return explanation


def _counted(threshold: Threshold, outcome: ThresholdOutcome, reading: CountReading) -> str:
    title, name = METRICS[threshold.metric].title, threshold.profile
    if outcome is ThresholdOutcome.UNJUDGED:
        trials = reading.read + reading.missing
        return f"{reading.missing} of {trials} trials of {name} have no {title}"
    most = "" if outcome is ThresholdOutcome.FAILED else "at most "
    of = "one of " if outcome is ThresholdOutcome.FAILED else ""
    return f"{title}: {most}{reading.largest:,.0f} in {of}{reading.read} trials of {name}"


def _too_few(title: str, too_few: TooFew) -> str:
    """Say which gates leave less than two blocks with a value of both profiles."""
    parts = []
    for profile in too_few.profiles:
        gates = "; ".join(f"{gate}: {reason}" for gate, reason in profile.gates.items())
        text = f"{profile.profile} has {title} in {profile.trials}/{profile.total} trials"
        parts.append(text + (f" ({gates})" if gates else ""))
    where = "" if too_few.run is None else f"in {too_few.run} "
    return f"{where}{' and '.join(parts)}; at least two blocks with both are needed"
