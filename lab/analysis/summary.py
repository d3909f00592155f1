"""
Everything that a report says, computed once.

The order of the questions is the reader's: can this machine measure at all (the A/A arm), which
trials count, what was measured, what did each step change.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lab.analysis.application import applications, is_wsgi
from lab.analysis.ceiling import shared_ceiling
from lab.analysis.compare import profile_side, reach
from lab.analysis.confirm import diagnose_profiles
from lab.analysis.descent import reference_lines, steps_from
from lab.analysis.gates.common import BUSY
from lab.analysis.gates.effort import limiting_share
from lab.analysis.gates.machine import MACHINE
from lab.analysis.gates.replies import never_kept
from lab.analysis.health import (
    HEADLINE,
    exit_code,
    failures,
    is_broken,
    never_started,
    warnings,
)
from lab.analysis.looks import Comparisons
from lab.analysis.metrics import merged, merged_latency, quantile
from lab.analysis.observations import Observation, observe
from lab.analysis.same_work import different_work
from lab.model.comparison import Comparison
from lab.model.diagnosis import Diagnosis
from lab.model.finding import Finding, Gate
from lab.model.measurement import Run
from lab.model.metric import METRICS, Metric, Only, with_ratio
from lab.model.notice import Notice
from lab.model.plan import Plan, Role
from lab.model.profile import Profile
from lab.model.request import labels


@dataclass(frozen=True, slots=True)
class Tally:
    """One gate over the trials of a profile."""

    gate: Gate
    trials: int
    """In how many of them it fired."""
    example: Finding
    """Of the first of those trials."""

    @property
    def withheld(self) -> frozenset[str]:
        """Names of the metrics that the example takes away."""
        names = self.example.withholds
        return frozenset(METRICS) if names is None else names


@dataclass(frozen=True, slots=True)
class Part:
    """What came of one of several requests, over the trials of a profile."""

    request: str
    """Such as "POST /cart"."""
    p50: float | None
    """Seconds: median over the trials in which the p50 of all requests counts; None with none."""
    replies: int
    """Correct ones, in all trials that ended."""
    errors: int
    """In the same trials."""


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one profile; its A/A trials are not in it."""

    profile: Profile
    values: Mapping[str, float]
    """Medians over the trials in which the metric counts, in SI units; absent with none."""
    counts: Mapping[str, int]
    """Trials behind each of *values*."""
    valid: int
    """Trials of which every metric counts."""
    total: int
    tallies: tuple[Tally, ...]
    """Gates that fired, those that withhold most first."""
    retried_share: float | None
    """Requests sent again on a new connection, as a share of replies; None without any reply."""
    never_kept: bool
    """Whether no connection was kept in any trial: then what was sent again lost no answer."""
    facts: Mapping[str, str]
    """What was seen of the server; values that differed are joined by " / "."""
    wall: float | None
    """Counted load: median seconds until all requests had an outcome, in all trials that ended."""
    slowest: float | None
    """Counted load: median over the same trials of the slowest reply, in seconds."""
    generator: float = 0.0
    """Share of the time for which the busiest generator process was busy, in half of the trials
    whose throughput counts or more; 0 where that is none, or the plan's."""
    parts: tuple[Part, ...] = ()
    """Of several requests each by itself, in the order of the workload's."""

    def at_least(self, metric: str) -> bool:
        """Return whether the true value may be higher: the generator was at its limit."""
        return metric == "throughput" and metric in self.values and self.generator >= BUSY

    def known(self, metric: str) -> tuple[float | None, bool]:
        """Return what is known of *metric*, and whether that is the least that it can be."""
        floor = any(tally.gate.floor for tally in self.tallies)
        if metric == "throughput" and metric not in self.values and floor:
            return self.values.get("served"), True
        return self.values.get(metric), self.at_least(metric)


@dataclass(frozen=True, slots=True)
class Rung:
    """How one profile compares, by metric."""

    profile: str
    before: str | None
    """Profile that it is compared with as a step; None at the start of a ladder."""
    instead_of: str | None
    """Profile that it is written against, where that one is not in the run."""
    step: Mapping[str, Comparison]
    """With *before*; empty without."""
    baseline: Mapping[str, Comparison]
    """With the plan's first profile; empty for that one."""
    other_than_before: bool = False
    """Whether *before* surely serves another application, so that more than settings differs."""
    other_than_baseline: bool = False
    """Whether the plan's first profile does."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run found."""

    run: Run
    observations: tuple[Observation, ...]
    """Its trials, judged: what everything else here is made of."""
    rows: tuple[Row, ...]
    """In ladder order."""
    steps: tuple[Rung, ...]
    """In ladder order, without the baseline and without reference lines."""
    aa: Mapping[str, Comparison]
    """The reference's second run over its first, by metric."""
    floors: Mapping[str, float]
    """Share below which a change is within the noise, by metric."""
    warnings: tuple[Notice, ...]
    """What a reader must know before any number."""
    measured: int
    """Slots with a trial."""
    planned: int
    exit_code: int
    """0; 1 when a profile failed in half of its trials or more; 3 when this machine could not
    measure."""
    diagnoses: Mapping[str, tuple[Diagnosis, ...]] = field(default_factory=dict)
    """By profile: what limited it, "limited by" first; absent where nothing explains it."""
    shares: Mapping[str, Mapping[str, Comparison]] = field(default_factory=dict)
    """By profile and reference line of the same server: the line's CPU per request over the
    profile's, the share of it that its server cannot do without; absent without such a line."""
    inert: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By profile: options that have no effect there, each with the reason."""
    applications: Mapping[str, str] = field(default_factory=dict)
    """By profile: the application that it serves; absent where that is not known, and for a
    reference line."""

    @property
    def noise(self) -> Mapping[str, float]:
        """By metric how far apart the same server twice is, as a share; absent if not known."""
        return {
            name: reach(comparison.ratio)
            for name, comparison in self.aa.items()
            if comparison.ratio is not None
        }

    @property
    def serves_wsgi(self) -> bool:
        """Whether WSGI is how each profile calls its application."""
        return is_wsgi(self.run.plan)

    def row(self, profile: str) -> Row:
        """Return what was measured of a profile, by its name."""
        return next(row for row in self.rows if row.profile.name == profile)

    def has(self, metric: str) -> bool:
        """Return whether *metric* is known of any profile."""
        return any(metric in row.values for row in self.rows)

    def shows(self, metric: Metric, only: Only) -> bool:
        """Return whether a place that has *metric* so has it in what is said of this run."""
        if only is Only.KNOWN:
            return self.has(metric.name)
        if only is Only.SEEN:
            rows = (row for row in self.rows if metric.unkept or not row.never_kept)
            return any(row.values.get(metric.name) for row in rows)
        return True

    def comparisons(self, metrics: Collection[str]) -> Iterator[Comparison]:
        """Yield those of each step and with the baseline, by *metrics*."""
        for step in self.steps:
            for found in (step.step, step.baseline):
                yield from (comparison for name, comparison in found.items() if name in metrics)

    def compare(self, metric: str, changed: str, reference: str) -> Comparison:
        """Compare two profiles' own trials, with the run's own noise."""
        comparisons = Comparisons(self.run, self.observations)
        return comparisons.of(metric, profile_side(changed), profile_side(reference))

    def compare_whole(self, metric: str, changed: str, reference: str) -> Comparison:
        """Compare them by all pairs, whatever a look has ended: see `Comparisons.whole`."""
        comparisons = Comparisons(self.run, self.observations)
        return comparisons.whole(metric, profile_side(changed), profile_side(reference))


def summarise(run: Run) -> Summary:
    """Return all that a report says of *run*; the same for the same run."""
    plan = run.plan
    observations = observe(run)
    comparisons = Comparisons(run, observations)
    noise = {name: comparisons.noise(name) for name in with_ratio()}
    floors = {name: comparisons.floor(name) for name in with_ratio()}
    rows = tuple(_row(profile, observations, plan) for profile in plan.profiles)
    planned_ones = [item for item in observations if item.trial.slot.arm.role is not Role.COUNTER]
    measured, planned = len(planned_ones), plan.blocks * (len(plan.profiles) + 1)
    if plan.minutes is not None:  # what it comes to is decided on the way
        planned = measured
    lines = reference_lines(plan)
    compared = [profile for profile in plan.profiles if profile not in lines]
    ceiling = shared_ceiling(observations, plan, floors["cpu"])
    before = steps_from(plan)
    served = applications(plan)
    notices, status = _health(run, observations, rows, noise, (measured, planned), ceiling=ceiling)
    return Summary(
        run=run,
        observations=observations,
        rows=rows,
        steps=tuple(
            _step(profile, before[profile.name], plan, comparisons, served)
            for profile in compared[1:]
        ),
        aa=noise,
        floors=floors,
        warnings=(*notices, *filter(None, [different_work(observations, plan)])),
        measured=measured,
        planned=planned,
        exit_code=status,
        diagnoses=diagnose_profiles(run, observations, floors),
        shares=_shares(plan, comparisons),
        inert=plan.inert or {},
        applications=served,
    )


def _shares(plan: Plan, comparisons: Comparisons) -> dict[str, dict[str, Comparison]]:
    """Leave out lines of another server: what it needs is no part of a profile's own work."""
    lines = reference_lines(plan)
    found = {
        profile.name: {
            line.name: comparisons.of("cpu", profile_side(line.name), profile_side(profile.name))
            for line in lines
            if line.server == profile.server
        }
        for profile in plan.profiles
        if profile not in lines
    }
    return {profile: shares for profile, shares in found.items() if shares}


def _health(
    run: Run,
    observations: Sequence[Observation],
    rows: Sequence[Row],
    aa: Mapping[str, Comparison],
    progress: tuple[int, int],
    *,
    ceiling: Notice | None,
) -> tuple[tuple[Notice, ...], int]:
    """Return what must be read before any number, and the exit status."""
    of = {
        profile.name: [item for item in observations if item.trial.measures(profile.name)]
        for profile in run.plan.profiles
    }
    unstarted = [name for name, items in of.items() if never_started(items)]
    failed = {name: failures(items) for name, items in of.items()}
    broken = [name for name, (number, trials) in failed.items() if is_broken(number, trials)]
    measurable = [row.profile.name for row in rows if HEADLINE in row.values]
    failing = {name: share for name, share in failed.items() if share[0] and name not in unstarted}
    voided = any(
        finding.gate is MACHINE and finding.withholds is None
        for item in observations
        for finding in item.findings
    )
    notices = warnings(
        run,
        aa,
        unstarted,
        measurable,
        progress,
        failing=failing,
        voided=voided,
        ceiling=ceiling,
    )
    return notices, exit_code(aa, broken, measurable, len(rows), run.plan.smallest)


def _row(profile: Profile, observations: Sequence[Observation], plan: Plan) -> Row:
    trials = [item for item in observations if item.trial.measures(profile.name)]
    samples = {
        name: [item.metrics[name] for item in trials if name in item.metrics] for name in METRICS
    }
    ended = [item.trial for item in trials if item.trial.windows and plan.load.requests is not None]
    replies = sum(item.trial.total("ok") for item in trials)
    retried = sum(item.trial.total("retried") for item in trials)
    return Row(
        profile=profile,
        values={name: statistics.median(values) for name, values in samples.items() if values},
        counts={name: len(values) for name, values in samples.items() if values},
        valid=sum(item.valid for item in trials),
        total=len(trials),
        tallies=_tallies(trials),
        retried_share=retried / replies if replies else None,
        never_kept=all(never_kept(item.trial) for item in trials),
        facts=_facts(trials),
        wall=_median([max(window.wall for window in trial.windows) for trial in ended]),
        slowest=_median(
            [max(latency) / 1e6 for trial in ended if (latency := merged_latency(trial.windows))]
        ),
        generator=limiting_share(item.trial for item in trials if "throughput" in item.metrics),
        parts=tuple(_parts(trials, plan)),
    )


def _parts(trials: Sequence[Observation], plan: Plan) -> Iterator[Part]:
    """Yield what came of each of several requests."""
    for number, request in enumerate(labels(plan.workload.requests)):
        p50s, replies, errors = [], 0, 0
        for item in trials:
            answers = [window.requests[number] for window in item.trial.windows if window.requests]
            latency = merged(answer.latency for answer in answers)
            replies += latency.total()
            errors += sum(sum(answer.errors.values()) for answer in answers)
            if latency and "p50" in item.metrics:
                p50s.append(quantile(latency, 0.5))
        if replies or errors:
            yield Part(request, _median(p50s), replies, errors)


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _tallies(observations: Sequence[Observation]) -> tuple[Tally, ...]:
    findings = [finding for item in observations for finding in item.findings]
    counts = Counter(finding.gate for finding in findings)
    examples: dict[Gate, Finding] = {}
    for finding in findings:
        kept = examples.setdefault(finding.gate, finding)
        # A gate may withhold one metric in one trial and all in the next: show the worst.
        if _weight(finding) > _weight(kept):
            examples[finding.gate] = finding
    tallies = [Tally(gate, counts[gate], example) for gate, example in examples.items()]
    return tuple(sorted(tallies, key=lambda tally: -_weight(tally.example)))


def _weight(finding: Finding) -> int:
    return len(METRICS) if finding.withholds is None else len(finding.withholds)


def _facts(observations: Sequence[Observation]) -> dict[str, str]:
    seen: dict[str, dict[str, None]] = {}
    for item in observations:
        for name, value in item.trial.facts.items():
            seen.setdefault(name, {})[value] = None
    return {name: " / ".join(values) for name, values in sorted(seen.items())}


def _step(
    profile: Profile,
    before: str | None,
    plan: Plan,
    comparisons: Comparisons,
    applications: Mapping[str, str],
) -> Rung:
    def differs(reference: str | None) -> bool:
        served = {applications.get(name) for name in (profile.name, reference) if name}
        return None not in served and len(served) == 2

    def by_metric(reference: str) -> dict[str, Comparison]:
        sides = profile_side(profile.name), profile_side(reference)
        return {name: comparisons.of(name, *sides) for name in with_ratio()}

    return Rung(
        profile=profile.name,
        before=before,
        instead_of=profile.against if before != profile.against else None,
        step=by_metric(before) if before is not None else {},
        baseline=by_metric(plan.profiles[0].name),
        other_than_before=differs(before),
        other_than_baseline=differs(plan.profiles[0].name),
    )
