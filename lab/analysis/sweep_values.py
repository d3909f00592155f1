"""What a metric was at one value of a sweep, whether it counts or not, and against another."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lab.analysis.compare import compare, profile_side
from lab.analysis.gates.effect import COUNTED, counts
from lab.analysis.health import HEADLINE, alike, gravest
from lab.analysis.metrics import derive, usable_cores
from lab.analysis.observations import Observation
from lab.analysis.stats import error_of, half_width, interval
from lab.analysis.summary import Summary
from lab.analysis.warning import Noise
from lab.model.comparison import Comparison, Estimate
from lab.model.metric import METRICS, Only


@dataclass(frozen=True, slots=True)
class SweepValue:
    """One metric of one profile at one value, in SI units."""

    median: float
    trials: tuple[float, ...]
    """What *median* is of."""
    counts: bool
    """False where a gate withholds it in every trial: then it is shown, and nothing follows."""
    least: bool = False
    """Whether *median* is the least that it can be, since the load was at its limit."""


def reading(summary: Summary, profile: str, metric: str) -> SweepValue | None:
    """Return what *metric* was in the trials that count, else in all; None where it was in none."""
    trials = [item for item in summary.observations if item.trial.measures(profile)]
    samples = tuple(item.metrics[metric] for item in trials if metric in item.metrics)
    any_valid = bool(samples)
    if not any_valid:
        derived = (derive(item.trial) for item in trials)
        samples = tuple(metrics[metric] for metrics in derived if metric in metrics)
    if not samples:
        return None
    of = (row.known(metric) for row in summary.rows if row.profile.name == profile)
    known, least = next(of, (None, False))
    if known is not None and least:
        return SweepValue(known, samples, counts=True, least=True)
    return SweepValue(statistics.median(samples), samples, any_valid)


def value_of(summary: Summary) -> tuple[str, str]:
    """Return the quantity that is swept, and its value in this part of the run."""
    ((name, value),) = summary.run.plan.arms[0].at.items()
    return name, value


def counted_as(summaries: Sequence[Summary]) -> str | None:
    """Return what the probes count of the quantity: processes or threads; None of any other."""
    return COUNTED.get(value_of(summaries[0])[0])


def served(summary: Summary, profile: str) -> float | None:
    """Return how many of these there were at one value; None where they could not be counted."""
    return counts(summary.run, profile).get(value_of(summary)[1])


def on_one_core(summaries: Sequence[Summary]) -> bool:
    """Return whether no server had more than one core, as far as that was read."""
    trials = (trial for summary in summaries for trial in summary.run.trials if trial.windows)
    known = [cores for trial in trials if (cores := usable_cores(trial.readings)) is not None]
    return bool(known) and max(known) <= 1


def against_first(
    summaries: Sequence[Summary], profile: str, metric: str
) -> tuple[Comparison, ...]:
    """Return each value of a profile over the first one, paired by block, in their order."""
    first, *others = (_under_value(summary, profile) for summary in summaries)
    start, *names = (value_of(summary)[1] for summary in summaries)
    noise = max(summary.floors[metric] for summary in summaries)
    return tuple(
        compare((*first, *observations), metric, profile_side(name), profile_side(start), noise)
        for name, observations in zip(names, others, strict=True)
    )


def _under_value(summary: Summary, profile: str) -> tuple[Observation, ...]:
    """Return a profile's trials at one value as those of an arm that is named after it."""
    observations = []
    for item in summary.observations:
        if item.trial.measures(profile):
            slot = item.trial.slot
            arm = replace(slot.arm, name=value_of(summary)[1])
            trial = replace(item.trial, slot=replace(slot, arm=arm))
            observations.append(replace(item, trial=trial))
    return tuple(observations)


def shown(summaries: Sequence[Summary]) -> tuple[str, ...]:
    """Return the metrics that a sweep is told by."""
    return tuple(
        name
        for name, metric in METRICS.items()
        if (only := metric.swept) is not None
        and any(summary.shows(metric, only) for summary in summaries)
        and (only is not Only.SCALED or counted_as(summaries) is not None)
    )


def order_of(values: Sequence[str]) -> list[float] | None:
    """
    Return the values as numbers to place them by; None where they are none.

    >>> order_of(["1k", "10k"]), order_of(["50%", "80%"]), order_of(["a", "b"])
    ([1024.0, 10240.0], [50.0, 80.0], None)
    """
    numbers = []
    for value in values:
        number, kilo = value.removesuffix("%").removesuffix("/s"), 1
        if number.endswith("k"):
            number, kilo = number[:-1], 1024
        try:
            numbers.append(float(number) * kilo)
        except ValueError:
            return None
    return numbers


def exit_code(summaries: Sequence[Summary]) -> int:
    """
    Return the exit status of a run: of one value its own, of several that of all together.

    Several values are as many noise checks. Were each to decide, a run of seventeen would fail on
    a machine that is as quiet as it should be, since one check in twenty fails by chance. So the
    noise of all values is judged at once. What else makes a status is judged at each value.
    """
    if len(summaries) == 1:
        return summaries[0].exit_code
    others = (0 if _is_noisy(summary) else summary.exit_code for summary in summaries)
    return gravest(*others, 0 if noise(summaries) is None else 3)


def noise(summaries: Sequence[Summary]) -> Noise | None:
    """Return the noise of several values together where it is too much."""
    ratios = [summary.aa[HEADLINE].ratio for summary in summaries]
    known = [ratio for ratio in ratios if ratio is not None]
    if not known:
        return None
    over_all, reach = _pooled(known)
    smallest = summaries[0].run.plan.smallest
    if alike(over_all, smallest) and reach <= smallest:
        return None
    return Noise("", {HEADLINE: over_all}, smallest, reach, None, decides=True)


def _pooled(ratios: Sequence[Estimate]) -> tuple[Estimate, float]:
    """
    Return the mean of A/A ratios of several values, and how far the interval of one reaches.

    The second is that of a value with the mean variance, which more values tell more exactly.
    """
    errors = [error_of(ratio) for ratio in ratios]
    degrees = sum(ratio.n - 1 for ratio in ratios)
    fewest = min(ratio.n for ratio in ratios)
    centre = statistics.fmean(math.log(ratio.value) for ratio in ratios)
    together = math.hypot(*errors) / len(errors)
    typical = interval(0.0, math.sqrt(len(errors)) * together, degrees, fewest)
    return interval(centre, together, degrees, fewest), half_width(typical)


def _is_noisy(summary: Summary) -> bool:
    """Return whether a status of 3 is of the noise alone, and not of values that are missing."""
    measurable = sum(HEADLINE in row.values for row in summary.rows)
    least = min(2, len(summary.rows))
    return summary.exit_code == 3 and summary.aa[HEADLINE].ratio is not None and measurable >= least
