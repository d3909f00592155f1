"""
Diagnose profiles: from the causes of single trials to what limits a profile.

A cause counts for a profile if more than half of the trials that could show it do. At first the
trials are only consistent with it. It is confirmed by a counter-run: the same profile with one
setting toggled moves the metric in the predicted direction, by more than the noise.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from lab.analysis.causes import CAUSES
from lab.analysis.compare import LEAST_FLOOR, profile_side, same_within
from lab.analysis.diagnose import causes, explainable
from lab.analysis.looks import Comparisons
from lab.analysis.metrics import derive
from lab.analysis.observations import Observation
from lab.model.comparison import Comparison, Verdict
from lab.model.diagnosis import Cause, Diagnosis, Standing
from lab.model.measurement import Run
from lab.model.plan import Better, CounterRun, Role


def diagnose_profiles(
    run: Run, observations: Sequence[Observation], floors: Mapping[str, float]
) -> Mapping[str, tuple[Diagnosis, ...]]:
    """
    Return the diagnoses by profile, the withdrawn ones last; unexplained profiles have no entry.

    The first diagnosis that is not withdrawn is what the profile is "limited by".

    Args:
        run: The run.
        observations: The judged trials of the run.
        floors: Metric -> share below which a change is within the noise.
    """
    by_profile = {
        profile.name: _diagnose(profile.name, run, observations, floors)
        for profile in run.plan.profiles
        if profile.reply is None
    }
    return {name: diagnoses for name, diagnoses in by_profile.items() if diagnoses}


def limited_by(diagnoses: Sequence[Diagnosis]) -> Diagnosis | None:
    """Return the first diagnosis that is not withdrawn; None: unexplained."""
    kept = (diagnosis for diagnosis in diagnoses if diagnosis.standing is not Standing.WITHDRAWN)
    return next(kept, None)


def _diagnose(
    name: str, run: Run, observations: Sequence[Observation], floors: Mapping[str, float]
) -> tuple[Diagnosis, ...]:
    trials = [
        observation
        for observation in observations
        if observation.trial.measures(name) and explainable(observation)
    ]
    withdrawn: list[Diagnosis] = []
    # A refuted cause may have hidden others: "server CPU" is a cause only of trials without any
    # other. So the trials are diagnosed again without the refuted causes.
    while True:
        refuted = frozenset(diagnosis.cause.name for diagnosis in withdrawn)
        diagnoses = [
            _with_counter_run(diagnosis, run, observations, floors)
            for diagnosis in _consistent_diagnoses(name, trials, refuted)
        ]
        newly_withdrawn = [
            diagnosis for diagnosis in diagnoses if diagnosis.standing is Standing.WITHDRAWN
        ]
        if not newly_withdrawn:
            return (*diagnoses, *withdrawn)
        withdrawn += newly_withdrawn


def _consistent_diagnoses(
    name: str, observations: Sequence[Observation], refuted: frozenset[str]
) -> list[Diagnosis]:
    """Return a diagnosis for each cause that more than half of the trials show."""
    sightings: dict[str, list[_Sighting]] = {}
    for observation in observations:
        throughput = derive(observation.trial).get("throughput", 0.0)
        for rank, cause in enumerate(causes(observation, refuted)):
            sightings.setdefault(cause.name, []).append(_Sighting(throughput, rank, cause))
    frequent = {
        cause: seen for cause, seen in sightings.items() if 2 * len(seen) > len(observations)
    }

    def order(cause: str) -> tuple[float, int]:
        return statistics.median(seen.rank for seen in frequent[cause]), CAUSES.index(cause)

    return [
        Diagnosis(
            profile=name,
            cause=_cause_at_median(frequent[cause]),
            trials=len(frequent[cause]),
            of=len(observations),
            standing=Standing.CONSISTENT,
        )
        for cause in sorted(frequent, key=order)
    ]


class _Sighting(NamedTuple):
    """A cause that one trial shows."""

    throughput: float
    rank: int
    """Place among the causes of that trial; 0 is "limited by"."""
    cause: Cause


def _cause_at_median(sightings: Sequence[_Sighting]) -> Cause:
    """Return the cause, with its evidence, from the trial of median throughput."""
    by_throughput = sorted(sightings, key=lambda sighting: sighting.throughput)
    return by_throughput[len(sightings) // 2].cause


def _with_counter_run(
    diagnosis: Diagnosis,
    run: Run,
    observations: Sequence[Observation],
    floors: Mapping[str, float],
) -> Diagnosis:
    """Return *diagnosis* with the result of its counter-run; unchanged if there was none."""
    for counter in run.counters:
        if (counter.of, counter.cause) == (diagnosis.profile, diagnosis.cause.name):
            floor = floors.get(counter.metric, LEAST_FLOOR)
            effect = effect_of(counter, run, observations)
            standing = judge_effect(effect, counter.expects, floor)
            return replace(diagnosis, standing=standing, counter=counter, effect=effect)
    return diagnosis


def judge_effect(effect: Comparison, expects: Better, floor: float) -> Standing:
    """
    Return the standing of a cause after its counter-run.

    Args:
        effect: The toggled profile compared with the profile itself.
        expects: The direction in which the cause predicts the metric to move.
        floor: Share below which a change is within the noise.
    """
    if effect.ratio is None:
        return Standing.CONSISTENT
    low, high = effect.ratio.low, effect.ratio.high
    if expects is Better.LOWER:
        low, high = 1 / high, 1 / low
    if low > 1 + floor:
        return Standing.CONFIRMED
    stayed = high < 1 + same_within(floor) or effect.verdict is Verdict.NO_DIFFERENCE
    return Standing.WITHDRAWN if stayed else Standing.CONSISTENT


def effect_of(counter: CounterRun, run: Run, observations: Sequence[Observation]) -> Comparison:
    """
    Compare the toggled profile with the profile itself.

    Metrics that a gate withholds count here, too. The toggle may be meant to move just such a
    metric: one that the kernel's retry timer decides, for example.
    """
    changed = counter.arm.name, Role.COUNTER
    reference = profile_side(counter.of)
    sides = []
    for observation in observations:
        side = observation.trial.slot.arm.name, observation.trial.slot.arm.role
        if side in {changed, reference} and explainable(observation):
            sides.append(replace(observation, metrics=derive(observation.trial)))
    return Comparisons(run, observations).of(counter.metric, changed, reference, sides)
