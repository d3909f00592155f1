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

from lab.model.finding import Beside, Finding, Gate, Whose
from lab.model.measurement import Run, Trial
from lab.model.plan import Role

COUNTED = {"workers": "processes", "threads": "threads"}
"""Quantity of a sweep -> what the probes count of it."""

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


def swept(run: Run) -> Mapping[str, Counts]:
    """Return what was counted of each profile of a run with a sweep: see `counts`."""
    return {profile.name: counts(run, profile.name) for profile in run.plan.profiles}


def without_effect(trial: Trial, beside: Beside) -> Finding | None:
    """Judge whether the trial's server had what its value of a sweep asks for."""
    arm = trial.slot.arm
    found = beside.swept.get(arm.profile.name, {})
    if len(found) < 2:
        return None
    ((name, value),) = arm.at.items()
    said = _shows(name, value, found)
    if said is None:
        return None
    return Finding(
        NO_EFFECT,
        said,
        "Find what else sets the number. A server that starts threads on demand needs as many "
        "--connections.",
    )


NO_EFFECT = Gate(
    "no effect",
    30,
    without_effect,
    Whose.SERVER,
    fires="in a sweep over workers or threads: from its smallest value to this one the server "
    "gained fewer processes or threads than the values differ by",
    withholds="everything",
    because="a number in a file that something else overrides would be drawn as a flat line",
)


def _shows(name: str, value: str, found: Counts) -> str | None:
    """Return how it shows that a value had no effect; None where it had one, or is not known."""
    what, (first, *others) = COUNTED[name], sorted(found, key=int)
    if value not in found:
        return None
    if all(found[each] == found[first] for each in others):
        return f"for every value of {name}, its server had {found[first]:g} {what}"
    asked = int(value) - int(first)
    if found[value] - found[first] >= asked:
        return None
    return (
        f"{name} = {value} asks for {asked} more than {name} = {first}, and its server had "
        f"{found[value]:g} {what} instead of {found[first]:g}"
    )
