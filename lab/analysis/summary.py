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

from lab.analysis.application import applications, interface
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
    """How often one gate fired in the trials of a profile."""

    gate: Gate
    trials: int
    """Number of trials in which it fired."""
    example: Finding
    """The finding of the first of these trials."""

    @property
    def withheld(self) -> frozenset[str]:
        """Names of the metrics that the example withholds."""
        names = self.example.withholds
        return frozenset(METRICS) if names is None else names


@dataclass(frozen=True, slots=True)
class Part:
    """The results of one of several requests, over the trials of a profile."""

    request: str
    """The request: "POST /cart"."""
    p50: float | None
    """Median in seconds over the trials in which the p50 of all requests counts; None: unknown."""
    replies: int
    """Correct replies in all finished trials."""
    errors: int
    """Errors in the same trials."""


@dataclass(frozen=True, slots=True)
class Row:
    """The results of one profile, without its A/A trials."""

    profile: Profile
    values: Mapping[str, float]
    """Metric -> median of the trials in which it counts, in SI units; absent: unknown."""
    counts: Mapping[str, int]
    """Metric -> number of trials behind its value."""
    valid: int
    """Number of trials in which every metric counts."""
    total: int
    tallies: tuple[Tally, ...]
    """Gates that fired; the ones that withhold most come first."""
    retried_share: float | None
    """Requests that were sent again on a new connection, as a share of replies; None: no reply."""
    never_kept: bool
    """Whether no trial kept a connection open; retries then lost no reply."""
    facts: Mapping[str, str]
    """Facts about the server; different values are joined by " / "."""
    wall: float | None
    """Counted load: median seconds until all requests had an outcome, over all finished trials."""
    slowest: float | None
    """Counted load: median over the same trials of the slowest reply, in seconds."""
    generator: float = 0.0
    """Share of the time for which the busiest generator process was busy, in half of the trials
    whose throughput counts or more; 0 where that is none, or the plan's."""
    parts: tuple[Part, ...] = ()
    """Results of each of several requests, in the order of the workload."""

    def at_least(self, metric: str) -> bool:
        """Return whether the value is a lower bound, because the load generator saturated."""
        return metric == "throughput" and metric in self.values and self.generator >= BUSY

    def known(self, metric: str) -> tuple[float | None, bool]:
        """Return the value of *metric*, and whether it is a lower bound."""
        floor = any(tally.gate.floor for tally in self.tallies)
        if metric == "throughput" and metric not in self.values and floor:
            return self.values.get("served"), True
        return self.values.get(metric), self.at_least(metric)


@dataclass(frozen=True, slots=True)
class StepComparison:
    """The comparisons of one profile: with the profile before it, and with the baseline."""

    profile: str
    before: str | None
    """The profile before it; None for the first of a ladder."""
    instead_of: str | None
    """The profile that its file names as `against`, if that is not in the run."""
    step: Mapping[str, Comparison]
    """Metric -> comparison with *before*; empty without it."""
    baseline: Mapping[str, Comparison]
    """Metric -> comparison with the first profile of the plan; empty for that profile."""
    other_than_before: bool = False
    """Whether *before* certainly serves another application, so that not only settings differ."""
    other_than_baseline: bool = False
    """Whether the first profile of the plan certainly serves another application."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The results of a run."""

    run: Run
    observations: tuple[Observation, ...]
    """The judged trials, from which everything else is computed."""
    rows: tuple[Row, ...]
    """In ladder order."""
    steps: tuple[StepComparison, ...]
    """In ladder order, without the baseline and without reference lines."""
    aa: Mapping[str, Comparison]
    """Metric -> comparison of the second trials of the reference with its first ones."""
    floors: Mapping[str, float]
    """Metric -> share below which a change is within the noise."""
    warnings: tuple[Notice, ...]
    """Warnings above all tables."""
    measured: int
    """Number of slots with a trial."""
    planned: int
    exit_code: int
    """0; 1 if a profile failed in at least half of its trials; 3 if the run is inconclusive because
    of this machine."""
    diagnoses: Mapping[str, tuple[Diagnosis, ...]] = field(default_factory=dict)
    """Profile -> diagnoses, "limited by" first; absent: unexplained."""
    shares: Mapping[str, Mapping[str, Comparison]] = field(default_factory=dict)
    """Profile -> reference line of the same server -> CPU per request of the line over that of the
    profile: the share that the server itself needs; absent without such a line."""
    inert: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Profile -> options without effect, with reasons."""
    applications: Mapping[str, str] = field(default_factory=dict)
    """Profile -> application; absent: unknown, or a reference line."""

    @property
    def noise(self) -> Mapping[str, float]:
        """Metric -> noise, as a share; absent: unknown."""
        return {
            name: reach(comparison.ratio)
            for name, comparison in self.aa.items()
            if comparison.ratio is not None
        }

    @property
    def interface(self) -> str:
        """How all profiles call their applications: see `lab.config.interface`."""
        return interface(self.run.plan)

    def row(self, profile: str) -> Row:
        """Return the row of a profile, by its name."""
        return next(row for row in self.rows if row.profile.name == profile)

    def whole(self, profile: str) -> tuple[int, tuple[Tally, ...]]:
        """Return how many trials *profile* had, its A/A trials included, and the gates of them."""
        items = [item for item in self.observations if item.trial.serves(profile)]
        return len(items), _tallies(items)

    def has(self, metric: str) -> bool:
        """Return whether any profile has a value of *metric*."""
        return any(metric in row.values for row in self.rows)

    def shows(self, metric: Metric, only: Only) -> bool:
        """Return whether a report shows *metric* where its condition is *only*."""
        if only is Only.KNOWN:
            return self.has(metric.name)
        if only is Only.SEEN:
            rows = (row for row in self.rows if metric.unkept or not row.never_kept)
            return any(row.values.get(metric.name) for row in rows)
        return True

    def comparisons(self, metrics: Collection[str]) -> Iterator[Comparison]:
        """Yield the comparisons of all steps, and with the baseline, by *metrics*."""
        for step in self.steps:
            for by_metric in (step.step, step.baseline):
                yield from (by_metric[name] for name in by_metric if name in metrics)

    def compare(self, metric: str, changed: str, reference: str) -> Comparison:
        """Compare two profiles of the run."""
        comparisons = Comparisons(self.run, self.observations)
        return comparisons.of(metric, profile_side(changed), profile_side(reference))

    def compare_whole(self, metric: str, changed: str, reference: str) -> Comparison:
        """Compare two profiles by all blocks; see `Comparisons.whole`."""
        comparisons = Comparisons(self.run, self.observations)
        return comparisons.whole(metric, profile_side(changed), profile_side(reference))


def summarise(run: Run) -> Summary:
    """Return the summary of *run*; equal runs have equal summaries."""
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
    shares_by_profile = {
        profile.name: {
            line.name: comparisons.of("cpu", profile_side(line.name), profile_side(profile.name))
            for line in lines
            if line.server == profile.server
        }
        for profile in plan.profiles
        if profile not in lines
    }
    return {profile: shares for profile, shares in shares_by_profile.items() if shares}


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
    failing = {
        name: failures([item for item in observations if item.trial.serves(name)])
        for name, (number, _) in failed.items()
        if number and name not in unstarted
    }
    measured = {item.trial.slot.arm.profile.name for item in observations}
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
        unmeasured=[name for name in of if name not in measured],
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
) -> StepComparison:
    def differs(reference: str | None) -> bool:
        served = {applications.get(name) for name in (profile.name, reference) if name}
        return None not in served and len(served) == 2

    def by_metric(reference: str) -> dict[str, Comparison]:
        sides = profile_side(profile.name), profile_side(reference)
        return {name: comparisons.of(name, *sides) for name in with_ratio()}

    return StepComparison(
        profile=profile.name,
        before=before,
        instead_of=profile.against if before != profile.against else None,
        step=by_metric(before) if before is not None else {},
        baseline=by_metric(plan.profiles[0].name),
        other_than_before=differs(before),
        other_than_baseline=differs(plan.profiles[0].name),
    )
