"""What is to be known of some of a run's figures: which gates fired, what bounds them, and why."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab.analysis.gates.common import generator_may_grow
from lab.analysis.summary import Row, Summary, Tally
from lab.model.comparison import MayBe
from lab.model.finding import Finding, Gate
from lab.model.measurement import Run
from lab.model.workload import Wire

RETRIED = 0.01
"""Share of requests sent again from which it is worth a note: below, a recycled worker does it."""


@dataclass(frozen=True, slots=True)
class GateFired:
    """One gate over all profiles; its footnote has the number of its place, from 1."""

    gate: Gate
    where: tuple[tuple[str, int, int], ...]
    """Profile, its trials in which it fired, and all of its trials."""

    worst: str
    """Profile of the trial that lost most."""

    example: Finding
    """Of that trial."""

    alike: bool
    """Whether each of the trials surely lacks all that the example lacks."""


class More(enum.StrEnum):
    """What gives a load more than its generator has."""

    ENGINE = "the lab's engine"
    GENERATORS = "--generators"
    PROCESSES = "--processes"
    CORES = "cores"


@dataclass(frozen=True, slots=True)
class Bounded:
    """Ratios that are only bounds, since the generator kept a profile from being faster."""

    may_be: MayBe
    limited: str | None
    """The profile that was kept; None where both were."""

    ratios: tuple[tuple[str, str], ...]
    """Changed and reference of each."""


@dataclass(frozen=True, slots=True)
class GeneratorLimit:
    """Throughputs that are the least that they can be."""

    busy: Mapping[str, float]
    """Profile -> share of the time for which the busiest generator process was busy."""

    more: More | None
    """What would help; None where nobody was kept."""

    number: int | None
    """Of generators or processes, for the load to have one more; None where they do not help."""

    bounded: tuple[Bounded, ...]


@dataclass(frozen=True, slots=True)
class SeveralSettings:
    """A step of more than one setting, since the profile that it is written against is missing."""

    profile: str
    before: str
    instead_of: str


@dataclass(frozen=True, slots=True)
class SentLate:
    """What an open loop's own generator sent after it was due, though a connection was free."""

    profile: str
    """The one with most."""

    share: float
    """Of its requests."""


def failed(summary: Summary) -> tuple[tuple[str, Tally], ...]:
    """Return each profile whose server failed in a trial, and by which gate, in how many."""
    found: dict[tuple[str, Gate], list[Finding]] = {}
    for item in summary.observations:
        name = item.trial.slot.arm.profile.name
        for each in item.findings if item.trial.is_own(name) else ():
            if each.gate.failing and each.withholds is None:
                found.setdefault((name, each.gate), []).append(each)
    return tuple(
        (name, Tally(gate, len(findings), findings[0])) for (name, gate), findings in found.items()
    )


def gates_fired(summary: Summary) -> tuple[GateFired, ...]:
    """Return the gates that fired, in order of appearance."""
    found: dict[Gate, list[tuple[Row, Tally]]] = {}
    for row in summary.rows:
        for tally in row.tallies:
            found.setdefault(tally.gate, []).append((row, tally))
    return tuple(_fired(gate, tallies) for gate, tallies in found.items())


def generator_limit(summary: Summary, metrics: Sequence[str]) -> GeneratorLimit | None:
    """
    Return which throughputs and ratios the generator's limit bounds; None where it bounds none.

    Args:
        summary: What was found.
        metrics: Names of those whose ratios are shown.
    """
    busy = {row.profile.name: row.generator for row in summary.rows if row.at_least("throughput")}
    ratios: dict[tuple[MayBe, str | None], dict[tuple[str, str], None]] = {}
    for each in summary.comparisons(metrics):
        if each.may_be is not None:
            sides = ratios.setdefault((each.may_be, each.limited), {})
            sides[each.changed, each.reference] = None
    if not busy and not ratios:
        return None
    more, number = _more(summary.run) if busy else None, None
    if more in (More.GENERATORS, More.PROCESSES):
        number = max(len(trial.windows) for trial in summary.run.trials) + 1
    bounded = tuple(Bounded(*key, tuple(sides)) for key, sides in ratios.items())
    return GeneratorLimit(busy, more, number, bounded)


def sent_again(summary: Summary) -> dict[str, float]:
    """Return the share of requests sent again, of the profiles where it is worth a note."""
    return {
        row.profile.name: row.retried_share
        for row in summary.rows
        if row.retried_share is not None and row.retried_share >= RETRIED
    }


def several_settings(summary: Summary) -> tuple[SeveralSettings, ...]:
    """Return the steps that a ladder with all of its profiles would have in several."""
    return tuple(
        SeveralSettings(step.profile, step.before, step.instead_of)
        for step in summary.steps
        if step.instead_of is not None and step.before is not None
    )


def sent_late(run: Run) -> SentLate | None:
    """Return how many requests the generator of an open loop sent late; None of another load."""
    if run.plan.load.rate is None:
        return None
    shares = {}
    for profile in run.plan.profiles:
        trials = [trial for trial in run.trials if trial.slot.arm.name == profile.name]
        if planned := sum(trial.total("planned") for trial in trials):
            shares[profile.name] = sum(trial.total("late") for trial in trials) / planned
    if not shares:
        return None
    worst = max(shares, key=lambda name: shares[name])
    return SentLate(worst, shares[worst])


def protocols(run: Run) -> dict[Wire, tuple[str, ...]]:
    """Return who is asked in which protocol, where not all are asked in one; else nothing."""
    asked: dict[Wire, dict[str, None]] = {}
    for arm in run.plan.arms:
        asked.setdefault(arm.workload.wire, {})[arm.profile.name] = None
    return {wire: tuple(names) for wire, names in asked.items()} if len(asked) > 1 else {}


def _fired(gate: Gate, tallies: Sequence[tuple[Row, Tally]]) -> GateFired:
    row, worst = max(tallies, key=lambda each: len(each[1].withheld))
    names = worst.example.withholds
    return GateFired(
        gate=gate,
        where=tuple((row.profile.name, tally.trials, row.total) for row, tally in tallies),
        worst=row.profile.name,
        example=worst.example,
        alike=all(each.example.withholds == names and _alike(of, each) for of, each in tallies),
    )


def _alike(row: Row, tally: Tally) -> bool:
    """
    Return whether each of the trials surely lacks all that the example lacks.

    A tally keeps the worst of its findings only. What the milder ones left is counted, unless
    another gate withheld it: then nothing is sure.
    """
    names = tally.withheld
    if tally.trials == 1 or not names:
        return True
    if any(names & other.withheld for other in row.tallies if other is not tally):
        return False
    most = max(row.counts.get(name, 0) for name in names)
    return most <= row.total - tally.trials


def _more(run: Run) -> More:
    if run.tool == "ab":
        return More.ENGINE
    if run.tool != "engine":
        return More.PROCESSES
    if any(generator_may_grow(trial) for trial in run.trials if trial.windows):
        return More.GENERATORS
    return More.CORES
