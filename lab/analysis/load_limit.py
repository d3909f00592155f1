"""Figures that are only bounds, since the load was at its limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab.analysis.gates.common import BUSY, generator_may_grow
from lab.analysis.summary import Summary
from lab.model.comparison import MayBe, at_limit
from lab.model.measurement import Run
from lab.model.notice import Means, Notice, Remedy
from lab.model.numbers import share


@dataclass(frozen=True, slots=True)
class LoadAtLimit(Notice):
    """Throughputs that are the least that they can be, since the generator was at its limit."""

    busy: Mapping[str, float]
    """Profile -> share of the time for which the busiest generator process was busy."""

    more: Remedy
    """What would give the load more."""

    @property
    def remedy(self) -> Remedy:
        """The same."""
        return self.more

    def sentence(self) -> str:
        busy = ", ".join(f"{name} {share(part)}" for name, part in self.busy.items())
        return (
            f"at least: the load generator was saturated, its busiest process for {BUSY:.0%} of "
            f"the time or more ({busy}), so the server may be faster than shown."
        )


@dataclass(frozen=True, slots=True)
class KeptByLoad(Notice):
    """Profiles that the load kept from being faster, for who has not read of its generator."""

    profiles: tuple[str, ...]
    more: Remedy
    """What would give the load more."""

    @property
    def remedy(self) -> Remedy:
        """The same."""
        return self.more

    def sentence(self) -> str:
        return (
            f"The load generator was saturated with {', '.join(self.profiles)}: requests/s are "
            "a lower bound there."
        )


@dataclass(frozen=True, slots=True)
class Bounded:
    """Ratios that are only bounds, since the generator kept a profile from being faster."""

    may_be: MayBe
    limited: str | None
    """The profile that was kept; None where both were."""

    ratios: tuple[tuple[str, str], ...]
    """Changed and reference of each."""


@dataclass(frozen=True, slots=True)
class BoundedRatios(Notice):
    """Ratios that the generator's limit bounds."""

    bounded: tuple[Bounded, ...]

    def sentence(self) -> str:
        which = "; ".join(
            f"{at_limit(side.limited, side.may_be)} ({', '.join(map(' / '.join, side.ratios))})"
            for side in self.bounded
        )
        return f"Ratios: {which}."


def load_at_limit(summary: Summary) -> LoadAtLimit | None:
    """Return whose throughput the generator's limit bounds; None where it bounds none."""
    busy = {row.profile.name: row.generator for row in summary.rows if row.at_least("throughput")}
    return LoadAtLimit(busy, _more(summary.run)) if busy else None


def kept_by_load(summary: Summary) -> KeptByLoad | None:
    """Return the same of the profiles that are compared."""
    limit = load_at_limit(summary)
    if limit is None:
        return None
    compared = {summary.run.plan.profiles[0].name, *(step.profile for step in summary.steps)}
    kept = tuple(name for name in limit.busy if name in compared)
    return KeptByLoad(kept, limit.more) if kept else None


def bounded_ratios(summary: Summary, metrics: Sequence[str]) -> BoundedRatios | None:
    """Return the ratios by these metrics that the generator's limit bounds; None of none."""
    ratios: dict[tuple[MayBe, str | None], dict[tuple[str, str], None]] = {}
    for comparison in summary.comparisons(metrics):
        if comparison.may_be is not None:
            sides = ratios.setdefault((comparison.may_be, comparison.limited), {})
            sides[comparison.changed, comparison.reference] = None
    bounded = tuple(Bounded(*key, tuple(sides)) for key, sides in ratios.items())
    return BoundedRatios(bounded) if bounded else None


def _more(run: Run) -> Remedy:
    """Return what gives the load of a run more; of processes one more than it had."""
    number = max(len(trial.windows) for trial in run.trials) + 1
    if run.tool == "ab":
        return Remedy(Means.ENGINE)
    if run.tool != "engine":
        return Remedy(Means.PROCESSES, number)
    if any(generator_may_grow(trial) for trial in run.trials if trial.windows):
        return Remedy(Means.GENERATORS, number)
    return Remedy(Means.CORES)
