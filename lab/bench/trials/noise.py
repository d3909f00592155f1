"""
What `lab ab` can find on this machine, from one server that ran twice in every block.

Nothing is looked up: runs of `lab ab` with the measured noise are made up, and judged by the rules
that judge a real one, with its looks.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lab.analysis.compare import profile_side
from lab.analysis.ending import METRICS
from lab.analysis.looks import Comparisons
from lab.analysis.observations import Observation
from lab.analysis.stats import POWER
from lab.analysis.summary import Summary
from lab.bench.trials.minutes import LOOKS
from lab.bench.trials.pair import NEW, OLD
from lab.model.comparison import Verdict
from lab.model.measurement import Run, Trial
from lab.model.metric import METRICS as KNOWN
from lab.model.plan import Better, Plan, Role, Slot

SIZES = (
    0.02, 0.025, 0.03, 0.035, 0.04, 0.05, 0.06, 0.07, 0.08, 0.10, 0.12, 0.15, 0.20, 0.25, 0.30,
    0.40, 0.50, 0.75, 1.0,
)  # fmt: skip
"""Regressions that are tried, as shares; below 2 % nothing is told from noise."""

LIMITS = (1.02, 1.03, 1.05, 1.10, 1.15, 1.20, 1.30, 1.50, 2.0)
"""Limits that people write."""

RUNS = 100
"""Made up for each size: 80 of them tells 72 to 87 %."""

EXCLUDED = 0.9
"""Share of runs without a change that have to exclude a limit: else one in ten tells nothing."""

MINUTES = 10.0
"""What `lab ab` takes at most, unless told otherwise."""

Drawn = Sequence[Sequence[float]]
"""A run that is made up: by block the logarithm of each of its trials."""


@dataclass(frozen=True, slots=True)
class MetricNoise:
    """What one metric of a machine allows."""

    metric: str
    spread: float
    """Standard deviation of the logarithm of a trial."""
    floor: float
    """Share below which `lab ab` calls no change better or worse, at the end of its time."""
    smallest: float | None
    """Regression that it finds 4 times of 5, as a share; None above 100 %."""
    limit: float | None
    """Smallest of the usual limits, new / old where less is better, that 9 of 10 runs without a
    change exclude; None where none is."""
    crossed: float | None
    """Regression that crosses that limit 4 times of 5, as a share."""


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """What `lab ab` can find on a machine."""

    profile: str
    blocks: int
    """That the noise was read from."""
    seconds: float
    """From one trial to the next."""
    within: int
    """Blocks of `lab ab` in its time."""
    metrics: tuple[MetricNoise, ...]
    """Without those that no two blocks tell."""


def sensitivity(summary: Summary) -> Sensitivity:
    """Return what the noise of a run, whose reference ran twice in every block, allows."""
    run = summary.run
    seconds = (run.trials[-1].started_at - run.trials[0].started_at) / max(1, len(run.trials) - 1)
    within = min(LOOKS[-1], max(LOOKS[0], int(MINUTES * 60 / (3 * seconds)) if seconds else 80))
    plan = pair_of(run.plan)
    noises = {name: noise for name in METRICS if (noise := _noise(summary, name))}
    metric_noises = tuple(of_metric(plan, name, noise, within) for name, noise in noises.items())
    return Sensitivity(run.plan.reference, run.blocks, seconds, within, metric_noises)


def _noise(summary: Summary, metric: str) -> list[float]:
    """
    Return how far logarithms of trials lie off their mean; nothing of less than two pairs.

    Two trials of the same server differ by 1.41 times what one is off, to either side. What is made
    up is drawn from these, so that trials which are slow now and then are as frequent in it.
    """
    values: dict[int, list[float]] = {}
    for observation in summary.observations:
        if (value := observation.metrics.get(metric, 0)) > 0:
            values.setdefault(observation.trial.slot.block, []).append(math.log(value))
    pairs = [(both[1] - both[0]) / math.sqrt(2) for both in values.values() if len(both) == 2]
    return [sign * pair for pair in pairs for sign in (-1, 1)] if len(pairs) > 1 else []


def pair_of(plan: Plan) -> Plan:
    """Return the plan of a run of `lab ab` of what *plan* serves."""
    arms = (replace(plan.arms[0], name=name, role=Role.PROFILE) for name in (OLD, NEW))
    named = tuple(replace(arm, profile=replace(arm.profile, name=arm.name)) for arm in arms)
    return replace(plan, arms=named, reference=OLD, minutes=MINUTES, looks=LOOKS, against_both=True)


def of_metric(plan: Plan, metric: str, noise: Sequence[float], blocks: int) -> MetricNoise:
    """
    Return what `lab ab` finds by a metric.

    Args:
        plan: Of its run.
        metric: Its name.
        noise: Of the logarithm of a trial: what is drawn from.
        blocks: That its time holds.
    """
    sign = -1 if KNOWN[metric].better is Better.HIGHER else 1
    spread = statistics.pstdev(noise)
    chance = random.Random(f"{metric} {spread} {blocks}")
    runs = [
        [[chance.choice(noise) for _ in plan.block] for _ in range(blocks)] for _ in range(RUNS)
    ]
    ends = [_judged(plan, metric, run, 0.0) for run in runs]
    floor = statistics.median(end.floor(metric) for end in ends)
    reached = []  # how far each interval reaches to the worse side, and how near its other end is
    for end in ends:
        ratio = end.whole(metric, profile_side(NEW), profile_side(OLD)).ratio
        assert ratio is not None
        far, near = sorted((sign * math.log(ratio.low), sign * math.log(ratio.high)))[::-1]
        reached.append((far, near))
    limit = next((limit for limit in LIMITS if _excluded(reached, limit)), None)
    crossed = None
    if limit is not None:
        edges = [math.log(max(limit, 1 + end.floor(metric))) for end in ends]
        needed = sorted(edge - near for edge, (_, near) in zip(edges, reached, strict=True))
        crossed = math.expm1(needed[math.ceil(POWER * RUNS) - 1])
    smallest = _smallest(plan, metric, runs, sign)
    return MetricNoise(metric, spread, floor, smallest, limit, crossed)


def _excluded(reached: Sequence[tuple[float, float]], limit: float) -> bool:
    return sum(far < math.log(limit) for far, _ in reached) >= EXCLUDED * len(reached)


def _smallest(plan: Plan, metric: str, runs: Sequence[Drawn], sign: int) -> float | None:
    """Return the smallest of `SIZES` that is found in 4 runs of 5; so is each larger one."""
    low, high = 0, len(SIZES)
    while low < high:
        middle = (low + high) // 2
        effect = sign * math.log1p(SIZES[middle])
        judged = (_judged(plan, metric, run, effect) for run in runs)
        verdicts = (
            comparisons.of(metric, profile_side(NEW), profile_side(OLD)).verdict
            for comparisons in judged
        )
        worse = sum(verdict is Verdict.WORSE for verdict in verdicts)
        low, high = (low, middle) if worse >= POWER * len(runs) else (middle + 1, high)
    return SIZES[low] if low < len(SIZES) else None


def _judged(plan: Plan, metric: str, values: Drawn, effect: float) -> Comparisons:
    """Return the comparisons of a run in which the new version's logarithms have *effect* more."""
    observations = list(_trials(plan, metric, values, effect))
    return Comparisons(Run("", "", plan, {}, (), ended=True), observations)


def _trials(plan: Plan, metric: str, values: Drawn, effect: float) -> Iterator[Observation]:
    for block, those in enumerate(values):
        for position, (arm, value) in enumerate(zip(plan.block, those, strict=True)):
            moved = value + effect if arm.name == NEW else value
            trial = Trial(Slot(block, position, arm), 0, 0.0, "", "")
            yield Observation(trial, {metric: math.exp(moved)}, ())
