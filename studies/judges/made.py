"""What a recording has of a mood: how much, how noisy, and how large what is planted comes out."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab.analysis.observations import observed
from lab.analysis.stats import paired
from lab.bench.trials.runner import disturbed
from studies.judges.blocks import EFFECTS, OLDS
from studies.judges.cut import TRIPLES
from studies.judges.recording import Block

NAMES: Mapping[str, float] = {
    "alike": 0.0,
    "2 % more": 0.02,
    "5 % more": 0.05,
    "10 % more": 0.10,
    "5 % less": -0.05,
}
"""What is planted, as the result calls it, and as a share of a request's CPU."""


@dataclass(frozen=True, slots=True)
class MoodMade:
    """What was recorded of a mood."""

    blocks: int
    trials: int
    minutes: float
    """That its blocks took."""
    trial: float
    """Seconds from the start of a single trial to that of the next, median."""
    disturbed: float
    """Share of single trials in which the lab saw others at work, those that are planted too."""
    noise: float | None
    """Standard deviation of a trial's CPU per request, as a share, by pairs of the old version in
    one block; None where too few count."""
    planted: Mapping[str, tuple[float, float, float]]
    """What is planted -> CPU per request over the old version's in the same blocks, with its 95 %
    interval, by trials that count."""


def made(blocks: Sequence[Block], seconds: float) -> MoodMade:
    """
    Return what was recorded of a mood.

    Args:
        blocks: All of it.
        seconds: From the start of a single trial to that of the next.
    """
    single = [block for block in blocks if not block.is_duet]
    costs = [_costs(block) for block in single]
    trials = [observed(trial) for block in single for trial in block.trials]
    spans = [block.trials[-1].started_at - block.trials[0].started_at for block in blocks]
    return MoodMade(
        blocks=len(blocks),
        trials=sum(len(block.trials) for block in blocks),
        minutes=(sum(spans) + seconds * len(blocks)) / 60,
        trial=seconds,
        disturbed=statistics.mean(disturbed(observation.findings) for observation in trials),
        noise=_noise(costs),
        planted={name: ratio for name, share in NAMES.items() if (ratio := _ratio(costs, share))},
    )


def _costs(block: Block) -> dict[str, float]:
    """Return version -> CPU per request, in the trials that count."""
    last = {trial.slot.arm.name: trial for trial in block.trials}
    seen = {name: observed(trial).metrics.get("cpu") for name, trial in last.items()}
    return {name: cost for name, cost in seen.items() if cost}


def _noise(costs: Sequence[Mapping[str, float]]) -> float | None:
    pairs = [triple[:2] for triple in TRIPLES]
    ratios = [
        math.log(block_costs[again] / block_costs[old])
        for block_costs in costs
        for old, again in pairs
        if old in block_costs and again in block_costs
    ]
    return math.sqrt(statistics.fmean(r * r for r in ratios) / 2) if len(ratios) > 1 else None


def _ratio(costs: Sequence[Mapping[str, float]], share: float) -> tuple[float, float, float] | None:
    """Return what a version needs over the mean of the old ones, paired by block."""
    ratios = []
    for block_costs in costs:
        olds = [block_costs[name] for name in OLDS if name in block_costs]
        news = [
            cost
            for name, cost in block_costs.items()
            if name not in OLDS and EFFECTS[name] == share
        ]
        if olds and news:
            ratios.append(math.log(statistics.fmean(news) / statistics.fmean(olds)))
    if len(ratios) < 2:
        return None
    estimate = paired(ratios)
    return estimate.value, estimate.low, estimate.high
