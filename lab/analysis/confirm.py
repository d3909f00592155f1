"""
From the causes of single trials to what limits a profile, and how far that is proved.

A cause stands for a profile when more than half of the trials that could show it do. It is called
the cause only after a counter-run, the same profile with the one setting toggled, has moved the
metric in the predicted direction beyond the noise; before, the trials are consistent with it.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

from lab.analysis.causes import CAUSES
from lab.analysis.compare import LEAST_FLOOR, own
from lab.analysis.diagnose import causes, explainable
from lab.analysis.looks import Comparisons
from lab.analysis.metrics import derive
from lab.analysis.observations import Observation
from lab.model.comparison import Comparison, Verdict
from lab.model.diagnosis import Cause, Diagnosis, Standing
from lab.model.measurement import Run
from lab.model.plan import Better, CounterRun, Role


def diagnoses(
    run: Run, observations: Sequence[Observation], floors: Mapping[str, float]
) -> Mapping[str, tuple[Diagnosis, ...]]:
    """
    Return what limits each profile of *run*; no entry for one that nothing explains.

    The first that is not withdrawn is what it is "limited by"; withdrawn ones come last.

    Args:
        run: The run.
        observations: Its trials, judged.
        floors: Share below which a change is within the noise, by metric.
    """
    found = {
        profile.name: _of_profile(profile.name, run, observations, floors)
        for profile in run.plan.profiles
        if profile.reply is None
    }
    return {name: each for name, each in found.items() if each}


def limited_by(found: Sequence[Diagnosis]) -> Diagnosis | None:
    """Return the first diagnosis that is not withdrawn; None means unexplained."""
    return next(
        (diagnosis for diagnosis in found if diagnosis.standing is not Standing.WITHDRAWN), None
    )


def _of_profile(
    name: str, run: Run, observations: Sequence[Observation], floors: Mapping[str, float]
) -> tuple[Diagnosis, ...]:
    own = [
        observation
        for observation in observations
        if observation.trial.is_own(name) and explainable(observation)
    ]
    found: list[Diagnosis] = []
    withdrawn: list[Diagnosis] = []
    # What a refuted cause kept from being said - a busy server is "server CPU" only where nothing
    # odd is seen - is asked for again without it.
    while True:
        refuted = frozenset(diagnosis.cause.name for diagnosis in withdrawn)
        found = [
            _standing(diagnosis, run, observations, floors)
            for diagnosis in _shown(name, own, refuted)
        ]
        fresh = [diagnosis for diagnosis in found if diagnosis.standing is Standing.WITHDRAWN]
        if not fresh:
            return (*found, *withdrawn)
        withdrawn += fresh


def _shown(
    name: str, observations: Sequence[Observation], without: frozenset[str]
) -> list[Diagnosis]:
    """Return the causes that more than half of the trials show, unproved."""
    shown: dict[str, list[tuple[float, int, Cause]]] = {}
    for observation in observations:
        speed = derive(observation.trial).get("throughput", 0.0)
        for place, cause in enumerate(causes(observation, without)):
            shown.setdefault(cause.name, []).append((speed, place, cause))
    often = {cause: seen for cause, seen in shown.items() if 2 * len(seen) > len(observations)}

    def rank(cause: str) -> tuple[float, int]:
        return statistics.median(place for _, place, _ in often[cause]), CAUSES.index(cause)

    return [
        Diagnosis(
            profile=name,
            cause=_middle(often[cause]),
            trials=len(often[cause]),
            of=len(observations),
            standing=Standing.CONSISTENT,
        )
        for cause in sorted(often, key=rank)
    ]


def _middle(seen: Sequence[tuple[float, int, Cause]]) -> Cause:
    """Return the cause as the trial of middling throughput shows it."""
    return sorted(seen, key=lambda each: each[0])[len(seen) // 2][2]


def _standing(
    diagnosis: Diagnosis,
    run: Run,
    observations: Sequence[Observation],
    floors: Mapping[str, float],
) -> Diagnosis:
    """Return *diagnosis* with what its counter-run says; as it is where there was none."""
    for counter in run.counters:
        if (counter.of, counter.cause) == (diagnosis.profile, diagnosis.cause.name):
            floor = floors.get(counter.metric, LEAST_FLOOR)
            effect = effect_of(counter, run, observations)
            standing = decide(effect, counter.expects, floor)
            return replace(diagnosis, standing=standing, counter=counter, effect=effect)
    return diagnosis


def decide(effect: Comparison, expects: Better, floor: float) -> Standing:
    """
    Return what a counter-run proves.

    Args:
        effect: The toggled profile over the profile itself.
        expects: Where the metric should have gone.
        floor: Share below which a change is within the noise.
    """
    if effect.ratio is None:
        return Standing.CONSISTENT
    rose, fell = effect.ratio.low > 1 + floor, effect.ratio.high < 1 / (1 + floor)
    if rose or fell:
        expected = rose is (expects is Better.HIGHER)
        return Standing.CONFIRMED if expected else Standing.WITHDRAWN
    return Standing.WITHDRAWN if effect.verdict is Verdict.NO_DIFFERENCE else Standing.CONSISTENT


def effect_of(counter: CounterRun, run: Run, observations: Sequence[Observation]) -> Comparison:
    """
    Compare the toggled profile with the profile itself.

    With metrics as measured, those that a gate withholds included: what it withholds - a figure
    made by the kernel's retry timer, say - is just what the toggle is to move.
    """
    changed = counter.arm.name, Role.COUNTER
    reference = own(counter.of)
    sides = []
    for observation in observations:
        side = observation.trial.slot.arm.name, observation.trial.slot.arm.role
        if side in {changed, reference} and explainable(observation):
            sides.append(replace(observation, metrics=derive(observation.trial)))
    return Comparisons(run, observations).of(counter.metric, changed, reference, sides)
