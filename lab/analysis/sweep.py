"""What a run at several values of one quantity comes to, all of them together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lab.analysis.compare import surely
from lab.analysis.conclude import conclude
from lab.analysis.conclusion import Conclusion
from lab.analysis.ending import exit_status, inconclusive
from lab.analysis.footnotes import around
from lab.analysis.health import noise_check
from lab.analysis.judging import UNJUDGED, Judgement, judge_own
from lab.analysis.machine import Facts, Network, facts, network
from lab.analysis.summary import Summary
from lab.analysis.sweep_values import (
    against_first,
    counted_as,
    noise,
    on_one_core,
    served,
    shown,
    value_of,
)
from lab.analysis.thresholds import Threshold
from lab.analysis.warning import EndedEarly
from lab.model.comparison import Comparison, Verdict
from lab.model.finding import Finding, Gate
from lab.model.measurement import Run
from lab.model.metric import shown as judged_metrics
from lab.model.notice import Notice


@dataclass(frozen=True, slots=True)
class Differs:
    """A profile that is better, or worse, than what it is compared with."""

    profile: str
    verdict: Verdict
    values: tuple[str, ...]
    """At which."""

    most_at: str
    """The value where it is surely most so."""

    most: Comparison
    """There."""


@dataclass(frozen=True, slots=True)
class GateAtValues(Notice):
    """One gate over all profiles and values."""

    gate: Gate
    where: tuple[tuple[str, str, int, int], ...]
    """Profile, value, the trials in which it fired, and all of them."""

    example: Finding
    """At the first of these."""

    def sentence(self) -> str:
        first, *others = (f"{who} at {at}, {trials}/{of}" for who, at, trials, of in self.where)
        return (
            f"{self.gate.name} ({'; '.join((first, *others))}). {first}: "
            f"{self.example.reason}. {self.example.advice}"
        )


@dataclass(frozen=True, slots=True)
class MissingTrials(Notice):
    """Trials that a run which ended early lacks."""

    quantity: str
    values: tuple[tuple[str, int, int], ...]
    """Value, trials that were measured, and planned ones."""

    def sentence(self) -> str:
        lacking = (f"{value} has {made} of {planned}" for value, made, planned in self.values)
        what = f"{self.quantity} {'; '.join(lacking)}"
        return f"Trials are missing because the run ended early: {what}."


@dataclass(frozen=True, slots=True)
class SweepConclusion:
    """What all values come to, in the order in which it is said."""

    summaries: tuple[Summary, ...]
    """What was found at each value."""

    quantity: str
    values: tuple[str, ...]
    """In the plan's order."""

    metric: str
    """By which the run is judged."""

    metrics: tuple[str, ...]
    """By which changes are told."""

    measured: tuple[str, ...]
    """Metrics that the values are told by."""

    counted: str | None
    """What the probes count of the quantity: processes or threads; None of any other."""

    single_core: bool
    """Whether no server had more than one core, whatever the quantity is."""

    compared: bool
    """Whether anything can be compared."""

    gains: tuple[Differs, ...]
    """Each profile against itself at the first value; of what the probes count alone."""

    level: tuple[str, ...]
    """Profiles of which no value differs from the first one."""

    differences: tuple[Differs, ...]
    """Each profile against the first one, at the same value."""

    checked: int
    """Values at which the noise check could be made."""

    passed: int
    noisy: tuple[str, ...]
    """Values at which the noise check was not passed, or could not be made."""

    warnings: tuple[Notice, ...]
    """Of all values together."""

    warned: tuple[tuple[str, Notice], ...]
    """Of single ones: value, and warning."""

    growths: Mapping[str, tuple[tuple[Comparison, ...], ...]]
    """Metric -> by profile how each later value compares with the first one; of what the probes
    count alone."""

    served: tuple[tuple[float | None, ...], ...]
    """By value, how many the probes counted of each profile; None where they could not. None of
    another quantity."""

    judgements: tuple[tuple[str, Judgement], ...]
    """Value, and what is said at it to a limit of `--fail-if`."""

    notices: tuple[Notice, ...]
    """The footnotes, in the order in which they are printed."""

    machine: Facts
    """Where the run was made."""

    network: Network | None
    """The other hosts that its load came from; None where it came from the same one."""

    @property
    def on_one_core(self) -> bool:
        """Whether more of the quantity do nothing that could be seen, for want of a second core."""
        return self.counted is not None and self.single_core

    @property
    def most(self) -> Differs | None:
        """The largest of the differences; None where nothing differs."""
        all_differences = (*self.gains, *self.differences)
        return max(all_differences, key=lambda difference: surely(difference.most), default=None)

    @property
    def run(self) -> Run:
        """The part of the run at the first value, which has what holds at all of them."""
        return self.summaries[0].run

    @property
    def profiles(self) -> tuple[str, ...]:
        """Their names; all are compared with the first."""
        return tuple(profile.name for profile in self.run.plan.profiles)


@dataclass(frozen=True, slots=True)
class RunConclusion:
    """What a run comes to: at each value of its quantity, and all of them together."""

    points: tuple[Conclusion, ...]
    """In the plan's order; one where nothing is swept."""

    sweep: SweepConclusion | None
    """None where nothing is swept."""

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """What was found at each value."""
        return tuple(point.summary for point in self.points)

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """What is said at each value to each limit of `--fail-if`."""
        return tuple(judgement for point in self.points for judgement in point.judgements)

    @property
    def status(self) -> int:
        """The exit status of the run, with its limits."""
        return exit_status(self.summaries, self.judgements)

    @property
    def why_inconclusive(self) -> tuple[str, ...]:
        """The reasons of a run that is inconclusive; empty of another one."""
        if self.status != UNJUDGED:
            return ()
        return tuple(inconclusive(self.summaries, self.judgements))


def conclude_run(
    summaries: Sequence[Summary], thresholds: Sequence[Threshold] | None = None
) -> RunConclusion:
    """
    Return what a run comes to.

    Args:
        summaries: What was found at each value.
        thresholds: Others than the limits that it was given.
    """
    sweep = conclude_sweep(summaries, thresholds) if len(summaries) > 1 else None
    return RunConclusion(tuple(conclude(summary, thresholds) for summary in summaries), sweep)


def conclude_sweep(
    summaries: Sequence[Summary], thresholds: Sequence[Threshold] | None = None
) -> SweepConclusion:
    """
    Return what a sweep comes to.

    Args:
        summaries: What was found at each value, in the order of the values.
        thresholds: Others than the limits that it was given.
    """
    plan, counted = summaries[0].run.plan, counted_as(summaries)
    metrics = judged_metrics(plan.load)
    metric, names = metrics[0], [profile.name for profile in plan.profiles]
    columns = {
        metric: tuple(against_first(summaries, name, metric) for name in names) if counted else ()
        for metric in metrics
    }
    gains, level = _gains(summaries, dict(zip(names, columns[metric], strict=False)))
    differences = tuple(_differences(summaries, metric))
    checks = {
        value_of(summary)[1]: noise_check(summary.run.plan, summary.aa) for summary in summaries
    }
    made = [check for check in checks.values() if check is not None]
    any_ratio = any(step.baseline[metric].ratio for summary in summaries for step in summary.steps)
    return SweepConclusion(
        summaries=tuple(summaries),
        quantity=value_of(summaries[0])[0],
        values=tuple(value_of(summary)[1] for summary in summaries),
        metric=metric,
        metrics=metrics,
        measured=shown(summaries),
        counted=counted,
        single_core=on_one_core(summaries),
        compared=bool(gains or level or differences or any_ratio),
        gains=gains,
        level=level,
        differences=differences,
        checked=len(made),
        passed=sum(check.passed for check in made),
        noisy=tuple(value for value, check in checks.items() if check is None or not check.passed),
        warnings=tuple(_warnings(summaries)),
        warned=tuple(_warned(summaries)),
        growths=columns if counted else {},
        served=tuple(tuple(served(summary, name) for name in names) for summary in summaries)
        if counted
        else (),
        judgements=tuple(_judgements(summaries, thresholds)),
        notices=(*_gates(summaries), *_missing(summaries), *around(summaries[0].run)),
        machine=facts(summaries[0].run.environments),
        network=network(summaries[0].run),
    )


def _gains(
    summaries: Sequence[Summary], columns: Mapping[str, Sequence[Comparison]]
) -> tuple[tuple[Differs, ...], tuple[str, ...]]:
    """Return where each profile differs from its first value, and which nowhere do."""
    values = [value_of(summary)[1] for summary in summaries[1:]]
    gains: list[Differs] = []
    level = []
    for profile, column in columns.items():
        sides = {
            value: comparison
            for value, comparison in zip(values, column, strict=True)
            if comparison.verdict is not Verdict.INVALID
        }
        differences = list(_decided(profile, sides))
        gains += differences
        if sides and not differences:
            level.append(profile)
    return tuple(gains), tuple(level)


def _differences(summaries: Sequence[Summary], metric: str) -> Iterator[Differs]:
    """Yield where each profile differs from the first one."""
    for step in summaries[0].steps:
        sides = {
            value_of(summary)[1]: rung.baseline[metric]
            for summary in summaries
            for rung in summary.steps
            if rung.profile == step.profile and metric in rung.baseline
        }
        yield from _decided(step.profile, sides)


def _decided(profile: str, sides: Mapping[str, Comparison]) -> Iterator[Differs]:
    """Yield where it is better, and where it is worse."""
    for verdict in (Verdict.BETTER, Verdict.WORSE):
        comparisons = {
            value: comparison
            for value, comparison in sides.items()
            if comparison.verdict is verdict
        }
        if comparisons:
            most = max(comparisons, key=lambda value: surely(comparisons[value]))
            yield Differs(profile, verdict, tuple(comparisons), most, comparisons[most])


def _warnings(summaries: Sequence[Summary]) -> Iterator[Notice]:
    if (too_much := noise(summaries)) is not None:
        yield too_much
    planned = sum(summary.planned for summary in summaries)
    measured = sum(summary.measured for summary in summaries)
    if measured < planned:
        yield EndedEarly(measured, planned)


def _warned(summaries: Sequence[Summary]) -> Iterator[tuple[str, Notice]]:
    for summary in summaries:
        for warning in summary.warnings:
            if not isinstance(warning, EndedEarly):
                yield value_of(summary)[1], warning


def _judgements(
    summaries: Sequence[Summary], thresholds: Sequence[Threshold] | None
) -> Iterator[tuple[str, Judgement]]:
    for summary in summaries:
        yield from ((value_of(summary)[1], judged) for judged in judge_own(summary, thresholds))


def _missing(summaries: Sequence[Summary]) -> Iterator[MissingTrials]:
    values = tuple(
        (value_of(summary)[1], summary.measured, summary.planned)
        for summary in summaries
        if summary.measured < summary.planned
    )
    if values:
        yield MissingTrials(value_of(summaries[0])[0], values)


def _gates(summaries: Sequence[Summary]) -> tuple[GateAtValues, ...]:
    where: dict[Gate, list[tuple[str, str, int, int]]] = {}
    examples: dict[Gate, Finding] = {}
    for summary in summaries:
        for row in summary.rows:
            for tally in row.tallies:
                place = row.profile.name, value_of(summary)[1], tally.trials, row.total
                where.setdefault(tally.gate, []).append(place)
                examples.setdefault(tally.gate, tally.example)
    return tuple(
        GateAtValues(gate, tuple(places), examples[gate]) for gate, places in where.items()
    )
