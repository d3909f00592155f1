"""The gates that fired in a run, each with its footnote, and the servers that failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lab.analysis.summary import Row, Summary, Tally
from lab.model.finding import Finding, Gate
from lab.model.metric import METRICS
from lab.model.notice import Notice


@dataclass(frozen=True, slots=True)
class GateFired(Notice):
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

    def sentence(self) -> str:
        where = ", ".join(f"{name} {trials}/{of}" for name, trials, of in self.where)
        worst = "" if self.alike else "at worst: "
        return (
            f"{self.gate.name} ({where}; {worst}{self._effect()}). {self.worst}: "
            f"{self.example.reason}. {self.example.advice}"
        )

    def _effect(self) -> str:
        names = self.example.withholds
        if names is None:
            return f"{'these trials are' if self.alike else 'a trial is'} invalid"
        if names:
            titles = (metric.title for name, metric in METRICS.items() if name in names)
            return f"withheld: {', '.join(titles)}"
        return "the trials are valid"


def failed(summary: Summary) -> tuple[tuple[str, Tally], ...]:
    """Return each profile whose server failed in a trial, and by which gate, in how many."""
    failures: dict[tuple[str, Gate], list[Finding]] = {}
    for item in summary.observations:
        name = item.trial.slot.arm.profile.name
        for finding in item.findings if item.trial.serves(name) else ():
            if finding.gate.failing and finding.withholds is None:
                failures.setdefault((name, finding.gate), []).append(finding)
    return tuple(
        (name, Tally(gate, len(findings), findings[0]))
        for (name, gate), findings in failures.items()
    )


def gates_fired(summary: Summary) -> tuple[GateFired, ...]:
    """Return the gates that fired, in order of appearance."""
    by_gate: dict[Gate, list[tuple[Row, Tally]]] = {}
    for row in summary.rows:
        for tally in row.tallies:
            by_gate.setdefault(tally.gate, []).append((row, tally))
    return tuple(_fired(gate, tallies) for gate, tallies in by_gate.items())


def _fired(gate: Gate, tallies: Sequence[tuple[Row, Tally]]) -> GateFired:
    row, worst = max(tallies, key=lambda side: len(side[1].withheld))
    names = worst.example.withholds
    return GateFired(
        gate=gate,
        where=tuple((row.profile.name, tally.trials, row.total) for row, tally in tallies),
        worst=row.profile.name,
        example=worst.example,
        alike=all(tally.example.withholds == names and _alike(of, tally) for of, tally in tallies),
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
