"""
The ends of a ratio on shared cores, put to the test on one core, where the truth is known.

Profiles serve on one core, in turn with the load on another and on the same. The ratio of two
throughputs on a core of their own must lie between the ends that the shared one gives. That holds
as long as a shared core does not make a request dearer for the server.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import geometric_mean

from lab.analysis.observations import observe
from lab.analysis.stats import paired
from lab.bench import profiles
from lab.bench.load.process import EngineGenerator
from lab.bench.store.environment import Cores
from lab.bench.trials.conduct import real_parts
from lab.bench.trials.plan import arm_of
from lab.bench.trials.runner import Silent, run
from lab.model.measurement import Run, Trial
from lab.model.plan import Load, Plan
from lab.model.request import Expectation
from lab.model.workload import Workload
from studies.selftest.cases import WARMUP
from studies.selftest.result import EffectResult

BOUNDS = "bounds"
"""Its name on the command line."""

LADDER = ("baseline", "processes-threads", "http-socket", "tuned")
"""The others are compared with the first."""

FIB = Workload("fib", "/9000", Expectation(pattern=r"^\[0, 1, 1, 2, 3, 5, 8, 13, 21, "))

BLOCKS, BLOCKS_QUICK = 10, 2
"""Of eight trials: four minutes, and one."""

WITHIN, MARGIN = 19 / 20, 0.25
"""Share of ratios that must lie between their ends; share by which a request may be dearer on a
shared core, beyond which a comparison needs a core more."""

Metrics = Mapping[str, Mapping[str, float]]
"""By profile: metric -> value."""


def measure_bounds(cores: Cores, *, quick: bool) -> tuple[EffectResult, ...]:
    """
    Measure the profiles in both arrangements, in blocks.

    Raises:
        LabError: A profile is refused, or the load cannot be made.
    """
    core = cores[0][:1]
    seeds = range(BLOCKS_QUICK if quick else BLOCKS)
    return judged([(_block((core, cores[1]), n), _block((core, core), n)) for n in seeds])


def _block(cores: Cores, seed: int) -> Metrics:
    arms = tuple(arm_of(profiles.read(name), FIB, Load()) for name in LADDER)
    plan = Plan(arms, reference="", blocks=1, warmup=WARMUP, window=1.0, seed=seed)
    trials: list[Trial] = []
    run(plan, real_parts(EngineGenerator(), cores, trials.append), Silent())
    seen = observe(Run("selftest", "lab selftest", plan, {}, tuple(trials)))
    return {observation.trial.slot.arm.name: observation.metrics for observation in seen}


def judged(blocks: Sequence[tuple[Metrics, Metrics]]) -> tuple[EffectResult, ...]:
    """
    Return a result for each pair of profiles, and one for the CPU per request of each profile.

    Args:
        blocks: Figures with the load on another core, and on the same.
    """
    by_profile = {name: [*_ends(blocks, name)] for name in LADDER[1:]}
    within = {
        name: sum(low <= x <= high for x, low, high in ends) for name, ends in by_profile.items()
    }
    made = sum(map(len, by_profile.values()))
    holds = sum(within.values()) >= WITHIN * made if made else None
    results = []
    for name, ends in by_profile.items():
        outcome, what = f"{within[name]} of {len(ends)}", f"requests/s of {name} / {LADDER[0]}"
        means = tuple(map(geometric_mean, zip(*ends, strict=True)))
        ratio = (means[0], means[1], means[2]) if means else None
        results.append(EffectResult(what, "between the ends", outcome, ratio, len(ends), holds))
    for name in LADDER:
        both = [(alone[name].get("cpu"), shared[name].get("cpu")) for alone, shared in blocks]
        logs = [math.log(shared / alone) for alone, shared in both if alone and shared]
        added = paired(logs) if len(logs) > 1 else None
        outcome = "unknown" if added is None else f"at most {added.high:.3g}x"
        ratio = None if added is None else (added.value, added.low, added.high)
        right = None if added is None else added.high <= 1 + MARGIN
        what = f"CPU per request of {name}, on a shared core / alone"
        results.append(
            EffectResult(what, f"at most {1 + MARGIN:g}x", outcome, ratio, len(logs), right)
        )
    return tuple(results)


def _ends(
    blocks: Sequence[tuple[Metrics, Metrics]], name: str
) -> Iterator[tuple[float, float, float]]:
    """Yield the true ratio of each block that has it, and its ends."""
    for alone, shared in blocks:
        (a, b), (c, d) = ((metrics[LADDER[0]], metrics[name]) for metrics in (alone, shared))
        if a.keys() & b.keys() >= {"throughput"} and c.keys() & d.keys() >= {"served", "capacity"}:
            ends = d["served"] / c["capacity"], d["capacity"] / c["served"]
            yield b["throughput"] / a["throughput"], *ends
