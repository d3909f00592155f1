"""
Planted differences: none, 20 % more work, 8 % less, told by the same comparison as any.

The application works in units, 100 a request for the reference; what a request costs besides is
2-3 % of that, so the true ratios are a little nearer to 1 than the units'.
"""

from __future__ import annotations

from dataclasses import dataclass

from lab.analysis.compare import compare, profile_side
from lab.analysis.summary import Summary, summarise
from lab.bench.load.process import EngineGenerator
from lab.bench.store.environment import Cores
from lab.bench.trials.conduct import real_parts
from lab.bench.trials.plan import arm_of
from lab.bench.trials.runner import Silent, run
from lab.model.comparison import Verdict
from lab.model.measurement import Run, Trial
from lab.model.plan import Plan
from studies.selftest.cases import DONE, FEW, WARMUP, planted
from studies.selftest.result import EffectResult

METRIC = "cpu"
"""CPU per request: throughput moves with whatever else the machine does."""

REFERENCE = "work-100"

BLOCKS, BLOCKS_QUICK = 10, 5
"""Fewer than five give an interval too wide for 20 % on a machine with neighbours."""


@dataclass(frozen=True, slots=True)
class Effect:
    """A difference that is there, or none."""

    name: str
    profile: str
    """Against `REFERENCE`; that itself is the A/A comparison."""
    allowed: frozenset[Verdict]
    """Verdicts that are right."""


EFFECTS = (
    Effect(
        "two identical profiles",
        REFERENCE,
        frozenset({Verdict.NO_DIFFERENCE, Verdict.INCONCLUSIVE}),
    ),
    Effect("20 % more work", "work-120", frozenset({Verdict.WORSE})),
    Effect("8 % less work", "work-92", frozenset({Verdict.BETTER})),
)


def measure_effects(cores: Cores, *, quick: bool) -> tuple[EffectResult, ...]:
    """
    Run the profiles in randomised blocks and compare them.

    Raises:
        LabError: A profile is refused, or the load cannot be made.
    """
    plan = Plan(
        arms=tuple(arm_of(planted(effect.profile), DONE, FEW) for effect in EFFECTS),
        reference=REFERENCE,
        blocks=BLOCKS_QUICK if quick else BLOCKS,
        warmup=WARMUP,
        window=1.0,
        seed=1,
    )
    trials: list[Trial] = []
    run(plan, real_parts(EngineGenerator(), cores, trials.append), Silent())
    summary = summarise(Run("selftest", "lab selftest", plan, {}, tuple(trials)))
    return tuple(_result(effect, summary) for effect in EFFECTS)


def _result(effect: Effect, summary: Summary) -> EffectResult:
    if effect.profile == REFERENCE:
        comparison = summary.aa[METRIC]
    else:
        comparison = compare(
            summary.observations,
            METRIC,
            profile_side(effect.profile),
            profile_side(REFERENCE),
            summary.floors[METRIC],
        )
    ratio = comparison.ratio
    return EffectResult(
        name=effect.name,
        expected=" or ".join(sorted(effect.allowed)),
        found=comparison.verdict,
        ratio=(ratio.value, ratio.low, ratio.high) if ratio else None,
        blocks=ratio.n if ratio else 0,
        right=_right(comparison.verdict, effect.allowed),
    )


def _right(verdict: Verdict, allowed: frozenset[Verdict]) -> bool | None:
    if verdict in allowed:
        return True
    return None if verdict in {Verdict.INCONCLUSIVE, Verdict.INVALID} else False
