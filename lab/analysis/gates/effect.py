"""
The gate on a sweep over workers or threads: whether the server had as many as the value says.

A number may have no effect: another file overrides it, a platform caps it, a pool starts a thread
only on demand. So the processes or threads of the server are counted at the end of each window. The
number of those that are no workers, such as masters and routers, is unknown; but from the smallest
value to another one the count must grow by as much as the value does.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping

from lab.model.finding import Beside, Finding, Gate, Whose
from lab.model.measurement import Run, Trial
from lab.model.plan import Role

COUNTED = {"workers": "processes", "threads": "threads"}
"""Quantity of a sweep -> fact of a trial that has its count."""

Counts = Mapping[str, float]
"""Value of a sweep -> median count of its trials."""


def counts(run: Run, profile: str) -> Counts:
    """
    Return the counts of a profile at each value of a run's sweep.

    Empty without a sweep over workers or threads, and if they could not be counted.
    """
    by_value: dict[str, list[int]] = defaultdict(list)
    for trial in run.trials:
        arm = trial.slot.arm
        for name, value in arm.at.items():
            count = trial.facts.get(COUNTED.get(name, ""))
            if count is not None and arm.profile.name == profile and arm.role is not Role.COUNTER:
                by_value[value].append(int(count))
    return {value: statistics.median(counts) for value, counts in by_value.items()}


def swept(run: Run) -> Mapping[str, Counts]:
    """Return the counts of each profile; see `counts`."""
    return {profile.name: counts(run, profile.name) for profile in run.plan.profiles}


def without_effect(trial: Trial, beside: Beside) -> Finding | None:
    """Judge whether the server had the number of workers or threads that the sweep set."""
    arm = trial.slot.arm
    counts = beside.swept.get(arm.profile.name, {})
    if len(counts) < 2:
        return None
    ((name, value),) = arm.at.items()
    reason = _reason(name, value, counts)
    if reason is None:
        return None
    return Finding(
        NO_EFFECT,
        reason,
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


def _reason(name: str, value: str, counts: Counts) -> str | None:
    """Return why a value had no effect, by the counts; None if it had one, or is unknown."""
    unit, (smallest, *others) = COUNTED[name], sorted(counts, key=int)
    if value not in counts:
        return None
    if all(counts[other] == counts[smallest] for other in others):
        return f"for every value of {name}, its server had {counts[smallest]:g} {unit}"
    growth = int(value) - int(smallest)
    if counts[value] - counts[smallest] >= growth:
        return None
    return (
        f"{name} = {value} asks for {growth} more than {name} = {smallest}, and its server had "
        f"{counts[value]:g} {unit} instead of {counts[smallest]:g}"
    )
