"""
A run of several rates or values, one by one.

The arms of all of them share their blocks, so that a machine that drifts moves all of them. What is
said of a profile is said at one value: each point is judged and reported as a run of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lab.analysis.summary import Summary, summarise
from lab.model.measurement import Run
from lab.model.plan import Arm


def points(run: Run) -> tuple[Run, ...]:
    """
    Return a run for each value of `Arm.at`, in the plan's order; *run* itself where there is one.

    In each an arm has its profile's name.
    """
    places = list({tuple(arm.at.items()): arm.at for arm in run.plan.arms}.values())
    if len(places) == 1:
        return (run,)
    return tuple(_at(run, at) for at in places)


def summaries(run: Run) -> tuple[Summary, ...]:
    """Return what is said of each of the run's `points`."""
    return tuple(map(summarise, points(run)))


def _at(run: Run, at: Mapping[str, str]) -> Run:
    return replace(
        run,
        plan=replace(run.plan, arms=tuple(_plain(arm) for arm in run.plan.arms if arm.at == at)),
        trials=tuple(
            replace(trial, slot=replace(trial.slot, arm=_plain(trial.slot.arm)))
            for trial in run.trials
            if trial.slot.arm.at == at
        ),
        counters=tuple(
            replace(counter, arm=_plain(counter.arm))
            for counter in run.counters
            if counter.arm.at == at
        ),
        whole=run,
    )


def _plain(arm: Arm) -> Arm:
    return replace(arm, name=arm.profile.name)
