"""
Comparisons: the paired ratio of two profiles, and what it allows to be said.

Pairs are the two trials of one block, so that a drifting machine moves both. A verdict needs the
whole interval beyond the floor, never merely off 1: in a ladder of seven steps with nothing real,
bare 95 % intervals show a false step in 28-30 % of runs, this rule in 1.5 % (simulated).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from lab.analysis import same_work, stats
from lab.analysis.gates.common import BUSY
from lab.analysis.gates.effort import limiting_share
from lab.analysis.observations import Observation
from lab.model.comparison import BELOW, Between, Comparison, Estimate, MayBe, Verdict
from lab.model.metric import METRICS, Of
from lab.model.plan import Better, Role

LEAST_FLOOR = 0.02
"""Changes below 2 % are seldom worth a setting, and layout and hash seeds alone move that much."""

MOST_SAME = 0.05
"""Two profiles further apart than this are never called the same, however noisy the machine."""

SAME_HANDLING = 0.02
"""Connections a reply by which two profiles may differ and still cost the generator the same."""

Side = tuple[str, Role]
"""Name and role of an arm: one side of a comparison."""


def profile_side(name: str) -> Side:
    """Return the side of a profile."""
    return name, Role.PROFILE


def aa_side(name: str) -> Side:
    """Return the side of the second trials of the reference, which measure the noise."""
    return name, Role.AA


@dataclass(frozen=True, slots=True)
class BlockPair:
    """What one block says of two sides."""

    reference: tuple[Observation, ...]
    """One trial, or both of a reference whose two trials stand for it."""
    changed: Observation

    def log_ratios(self, metric: str, reference: str | None = None) -> list[float]:
        """Return the logarithm of *metric* of the changed side over that of each reference."""
        above = math.log(self.changed.metrics[metric])
        return [
            above - math.log(observation.metrics[reference or metric])
            for observation in self.reference
        ]

    def log_ratio(self, metric: str, reference: str | None = None) -> float:
        """
        Return the mean of them.

        A mean of the reference's values would make ratios too small by half of the noise's
        variance.
        """
        return statistics.fmean(self.log_ratios(metric, reference))


def compare(
    observations: Sequence[Observation],
    metric: str,
    changed: Side,
    reference: Side,
    noise: float,
    *,
    again: Side | None = None,
    level: float = stats.CONFIDENCE,
    trim: bool = False,
) -> Comparison:
    """
    Compare one side of a run with another, paired by block.

    With *again*, a second side that is the same as the reference, a pair has the spread of 1.22
    trials and not of 1.41. A block in which one of the two has no value is paired with the other
    (`studies/false_alarms.py` has one in five void).

    INVALID with fewer than two blocks in which both have a valid, positive value; for
    `cpu_vs_generator` also where the two handle connections differently, because the generator's
    own work then differs too; where two profiles did not do the same work; and for `served`, since
    two figures that are the least have no ratio. Of throughputs of shared cores the ends are known.

    Args:
        observations: The run's.
        metric: By which.
        changed: The numerator: `profile_side`, `aa_side`, or a counter-run.
        reference: The denominator.
        noise: The floor, as a share; of the A/A comparison itself `LEAST_FLOOR`.
        again: Valid trials for the reference, too.
        level: The interval's, as a share.
        trim: Whether the mean is a trimmed one; see `lab.analysis.stats.trimmed`.
    """
    references = (reference,) if again is None else (reference, again)
    both = None if again is None else True
    pairs = _pairs(observations, metric, changed, references)
    comparable = Of.GENERATOR not in METRICS[metric].of or _same_handling(pairs)
    if metric == "throughput" and not pairs:
        return _between(observations, changed, references, noise, level, trim=trim)
    if metric in same_work.OF_WORK:
        comparable = comparable and _same_work(pairs, changed, reference)
    if len(pairs) < 2 or not comparable or metric == "served":
        return Comparison(metric, reference[0], changed[0], Verdict.INVALID, None, both=both)
    blocks = len({observation.trial.slot.block for observation in observations})
    centre = _centre(pairs, metric, trim=trim)
    estimate = stats.interval(*centre, level)
    better = METRICS[metric].better
    measured = (estimate.low, estimate.high)
    may_be = _may_be(pairs) if metric in ("throughput", "capacity") else None
    # Better or worse holds only if it does for all that the true ratio may be.
    ends = measured if may_be is None else may_be.ends(estimate)
    return Comparison(
        metric=metric,
        reference=reference[0],
        changed=changed[0],
        verdict=verdict_of(*ends, noise, better),
        ratio=estimate,
        detectable=stats.detectable(centre, level),
        blocks_needed=(
            stats.blocks_to_decide(estimate, noise, LEAST_FLOOR, MOST_SAME, blocks)
            if verdict_of(*measured, noise, better) is Verdict.INCONCLUSIVE
            else None
        ),
        # What decides a trimmed mean is never one block or two.
        fragile=not trim and _fragile(pairs, estimate, noise, better, metric),
        may_be=may_be,
        below=below(estimate) if may_be is None else None,
        both=both,
        floor=noise,
    )


def _between(
    observations: Sequence[Observation],
    changed: Side,
    references: Sequence[Side],
    noise: float,
    level: float,
    *,
    trim: bool,
) -> Comparison:
    """
    Return the ends of a ratio of throughputs; INVALID where fewer than two blocks have them.

    With the load on its cores a server serves no more than it would without, and with or without
    it serves no more than its cores have CPU for. So the ratio is that of what *changed* served to
    what *reference* has CPU for at the least, and the other way round at the most.
    """
    metrics = ("served", "capacity")
    shared = [
        observation
        for observation in observations
        if observation.trial.shares_cores
        and all(observation.metrics.get(name, 0) > 0 for name in metrics)
    ]
    pairs, names = _pairs(shared, "served", changed, references), (references[0][0], changed[0])
    both = True if len(references) > 1 else None
    if len(pairs) < 2 or not _same_work(pairs, changed, references[0]):
        return Comparison("throughput", *names, Verdict.INVALID, None, both=both)
    low, high = (
        stats.interval(*_centre(pairs, of, to, trim=trim), level)
        for of, to in (metrics, metrics[::-1])
    )
    verdict = verdict_of(low.low, high.high, noise, Better.HIGHER)
    between = Between(low.low, high.high, low.n, level)
    return Comparison("throughput", *names, verdict, None, both=both, between=between, floor=noise)


def _centre(
    pairs: Sequence[BlockPair], metric: str, reference: str | None = None, *, trim: bool
) -> stats.Centre:
    """Return the mean of all pairs' ratios, or their trimmed mean."""
    if trim:
        return stats.trimmed([pair.log_ratios(metric, reference) for pair in pairs])
    return stats.mean([pair.log_ratio(metric, reference) for pair in pairs])


def _same_work(pairs: Sequence[BlockPair], changed: Side, reference: Side) -> bool:
    """Return whether two profiles may be compared: a counter-run's work may be what it changes."""
    if not changed[1] is reference[1] is Role.PROFILE:
        return True
    return not same_work.differs(map(same_work.work, _sides(pairs)))


def below(ratio: Estimate) -> float | None:
    """Return the smallest share of `BELOW` that the whole interval lies within; None with none."""
    fitting = (b for b in BELOW if ratio.low >= 1 / (1 + b) and ratio.high <= 1 + b)
    return next(fitting, None)


def floor(comparison: Comparison) -> float:
    """
    Return the share below which a change is within the noise, from the A/A comparison.

    At least 2 %; without a ratio nothing more is known, and it is 2 % too.
    """
    return LEAST_FLOOR if comparison.ratio is None else max(LEAST_FLOOR, reach(comparison.ratio))


def reach(ratio: Estimate) -> float:
    """
    Return how far the machine moves two identical servers apart, as a share, from the A/A ratio.

    The half-width of its interval, which is centred on what was measured and not on 1; so where the
    two differ, its farther end.
    """
    if differs(ratio):
        return max(ratio.high, 1 / ratio.low) - 1
    return stats.half_width(ratio)


def differs(ratio: Estimate) -> bool:
    """Return whether the whole interval of an A/A ratio lies beyond 2 %, where it should hold 1."""
    return ratio.low > 1 + LEAST_FLOOR or ratio.high < 1 / (1 + LEAST_FLOOR)


def verdict_of(low: float, high: float, noise: float, better: Better) -> Verdict:
    """
    Return what the interval of a ratio allows to be said.

    Args:
        low: Lower bound of changed / reference.
        high: Upper bound.
        noise: The floor, as a share.
        better: Direction in which the metric improves.
    """
    if low > 1 + noise:
        return Verdict.BETTER if better is Better.HIGHER else Verdict.WORSE
    if high < 1 / (1 + noise):
        return Verdict.WORSE if better is Better.HIGHER else Verdict.BETTER
    within = same_within(noise)
    if low >= 1 / (1 + within) and high <= 1 + within:
        return Verdict.NO_DIFFERENCE
    return Verdict.INCONCLUSIVE


def same_within(noise: float) -> float:
    """Return the share within which two are alike, whatever the noise: at most `MOST_SAME`."""
    return min(noise, MOST_SAME)


def _pairs(
    observations: Sequence[Observation], metric: str, changed: Side, references: Sequence[Side]
) -> list[BlockPair]:
    """Return the pair of each block in which both sides have a value to give."""
    by_side: dict[Side, dict[int, Observation]] = {side: {} for side in (changed, *references)}
    for observation in observations:
        slot = observation.trial.slot
        blocks = by_side.get((slot.arm.name, slot.arm.role))
        if blocks is not None and observation.metrics.get(metric, 0) > 0:
            blocks[slot.block] = observation
    of_reference = [by_side[side] for side in references]
    block_pairs = (
        BlockPair(tuple(side[block] for side in of_reference if block in side), observation)
        for block, observation in sorted(by_side[changed].items())
    )
    return [pair for pair in block_pairs if pair.reference]


def _sides(pairs: Sequence[BlockPair]) -> tuple[list[Observation], list[Observation]]:
    """Return the trials of the reference, and those of the changed side."""
    return [observation for pair in pairs for observation in pair.reference], [
        pair.changed for pair in pairs
    ]


def _may_be(pairs: Sequence[BlockPair]) -> MayBe | None:
    """Return what else a ratio of throughputs may be: a side at the generator's limit is more."""
    reference, changed = (
        limiting_share(observation.trial for observation in side) >= BUSY for side in _sides(pairs)
    )
    if reference and changed:
        return MayBe.EITHER
    return MayBe.LARGER if changed else MayBe.SMALLER if reference else None


def _same_handling(pairs: Sequence[BlockPair]) -> bool:
    if not pairs:
        return False
    a, b = (statistics.median(map(_connections_a_reply, side)) for side in _sides(pairs))
    return abs(a - b) <= SAME_HANDLING


def _connections_a_reply(observation: Observation) -> float:
    trial = observation.trial
    return trial.total("connections") / max(1, trial.total("ok"))


def _fragile(
    pairs: Sequence[BlockPair], estimate: Estimate, noise: float, better: Better, metric: str
) -> bool:
    """Return whether a rank-based estimate, which one bad block cannot move, says otherwise."""
    ratios = [pair.log_ratio(metric) for pair in pairs]
    verdict = verdict_of(estimate.low, estimate.high, noise, better)
    interval = stats.rank_interval(ratios, estimate.level)
    if interval is None:  # too few for an interval: ask the point estimate
        if verdict is Verdict.INCONCLUSIVE:
            return False
        centre = stats.hodges_lehmann(ratios)
        interval = centre, centre
    return verdict_of(math.exp(interval[0]), math.exp(interval[1]), noise, better) is not verdict


def surely(comparison: Comparison) -> float:
    """
    Return how many times better or worse it is at the least: a wide interval does not win by luck.

    >>> surely(Comparison("cpu", "a", "b", Verdict.BETTER, Estimate(0.5, 0.4, 0.8, 7)))
    1.25
    """
    ends = comparison.ratio or comparison.between
    if ends is None:
        return 1.0
    return max(1.0, ends.low or 0.0, 1 / (ends.high or math.inf))
