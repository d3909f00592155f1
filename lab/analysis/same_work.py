"""
Whether profiles did the same work: a reading that must be alike for each correct reply.

A handler that puts work off until after its reply looks fast if the load ends before the work is
due: a published comparison has 10,000 requests in 4.28 s, and work due 5 s after each.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lab.analysis.metrics import replies_while_probed
from lab.analysis.observations import Observation
from lab.model.metric import Of, followers, made_of
from lab.model.notice import Means, Notice, Remedy
from lab.model.plan import Plan

ALIKE = 1.2
"""Ratio up to which work is the same: blocks of some KiB, and the window's edges, move a reading by
less, and work that is left out by more."""

_COST = made_of(Of.RATE | Of.PERCENTILE | Of.COST)
OF_WORK = _COST | followers(_COST)
"""Names of metrics whose ratio says nothing where the work differs."""


@dataclass(frozen=True, slots=True)
class OtherWork(Notice):
    """Profiles did not do the same work for a reply."""

    work: str
    """The reading that says so."""

    per_reply: Mapping[str, float]
    """Profile -> its median."""

    @property
    def remedy(self) -> Remedy:
        """Windows in which the work is done that is put off until after the reply."""
        return Remedy(Means.LATER_WINDOWS)

    def sentence(self) -> str:
        figures = ", ".join(f"{name} {value:.3g}" for name, value in self.per_reply.items())
        return (
            f"Not the same work: {self.work} per reply is {figures}. Ratios of "
            f"profiles more than {ALIKE - 1:.0%} apart are withheld, but for memory."
        )


def work(observations: Iterable[Observation]) -> float | None:
    """Return the median of the reading per reply over these trials; None where there is none."""
    per_reply = []
    for trial in (item.trial for item in observations):
        reading = trial.readings.get(trial.slot.arm.workload.work or "")
        if reading is not None and (replies := replies_while_probed(trial)):
            per_reply.append(reading / replies)
    return statistics.median(per_reply) if per_reply else None


def differs(works: Iterable[float | None]) -> bool:
    """Return whether these works are surely not the same."""
    known = [amount for amount in works if amount is not None]
    return bool(known) and max(known) > ALIKE * min(known)


def different_work(observations: Sequence[Observation], plan: Plan) -> OtherWork | None:
    """Return the works of a run's profiles where they are not the same."""
    names = [profile.name for profile in plan.profiles]
    works = {name: work(o for o in observations if o.trial.measures(name)) for name in names}
    if not differs(works.values()):
        return None
    known = {name: amount for name, amount in works.items() if amount is not None}
    return OtherWork(plan.workload.work or "", known)
