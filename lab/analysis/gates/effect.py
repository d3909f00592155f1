"""
The gate on a sweep over workers or threads: whether the server had as many as the value says.

A number that is written somewhere may do nothing: a file is read later, a platform caps it, a pool
starts a thread only when it needs one. So what the server's tree had at the end of each window is
counted. How many processes are no workers, such as masters and routers, is not known; but from the
smallest value to another one the tree must grow by as much as the value does.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from lab.model.finding import Finding
from lab.model.measured import Run, Trial
from lab.model.plan import Role

COUNTED = {"workers": "processes", "threads": "threads"}
"""Quantity of a sweep -> what the probes count of it."""

_SAID = "without effect"
"""Fact of a trial whose value did nothing: how that shows."""

Counts = Mapping[str, float]
"""Value -> what was counted, the median of its trials."""


def counts(run: Run, profile: str) -> Counts:
    """
    Return what was counted of a profile at each value of a run's sweep.

    Empty where another quantity, or nothing, is swept, and where it could not be counted.
    """
    seen: dict[str, list[int]] = defaultdict(list)
    for trial in run.trials:
        arm = trial.slot.arm
        for name, value in arm.at.items():
            found = trial.facts.get(COUNTED.get(name, ""))
            if found is not None and arm.profile.name == profile and arm.role is not Role.COUNTER:
                seen[value].append(int(found))
    return {value: statistics.median(found) for value, found in seen.items()}


def marked(run: Run) -> Run:
    """Return *run* with a fact in each trial of a value that had no effect, for the gate."""
    said = {
        (profile.name, value): text
        for profile in run.plan.profiles
        for value, text in _without_effect(run, profile.name).items()
    }
    if not said:
        return run
    trials = []
    for trial in run.trials:
        arm = trial.slot.arm
        text = said.get((arm.profile.name, "".join(arm.at.values())))
        facts = {**trial.facts, _SAID: text} if text is not None else trial.facts
        trials.append(replace(trial, facts=facts))
    return replace(run, trials=tuple(trials))


def _without_effect(run: Run, profile: str) -> dict[str, str]:
    """Return the values that had none, each with how it shows."""
    found = counts(run, profile)
    if len(found) < 2:
        return {}
    ((name, _),) = run.plan.arms[0].at.items()
    what, (first, *others) = COUNTED[name], sorted(found, key=int)
    if all(found[each] == found[first] for each in others):
        text = f"whatever {name} was to be, its server had {found[first]:g} {what}"
        return dict.fromkeys(found, text)
    return {
        each: (
            f"{name} = {each} asks for {asked} more than {name} = {first}, and its server had "
            f"{found[each]:g} {what} instead of {found[first]:g}"
        )
        for each in others
        if found[each] - found[first] < (asked := int(each) - int(first))
    }


def without_effect(trial: Trial, _fired: Mapping[str, Finding]) -> Finding | None:
    """Judge whether the trial's server had what the value of a sweep asks for: see `marked`."""
    if (said := trial.facts.get(_SAID)) is None:
        return None
    return Finding(
        "no effect",
        said,
        "Look for what else sets the number. A server that starts a thread when a request needs it "
        "takes as many --connections.",
    )
