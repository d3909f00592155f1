"""What a run comes to: how far to believe it, what changed most, and what limits that."""

from __future__ import annotations

import enum
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from lab.analysis.compare import surely
from lab.analysis.confirm import limited_by
from lab.analysis.health import HEADLINE, told_apart
from lab.analysis.summary import Summary
from lab.model.comparison import Comparison, Verdict
from lab.model.diagnosis import Diagnosis


class Trust(enum.StrEnum):
    """How far a run can be believed."""

    YES = "can be trusted"
    CARE = "with care"
    NO = "not to be trusted"


@dataclass(frozen=True, slots=True)
class Moved:
    """How far a profile is from the baseline, settings and application each by themselves."""

    whole: Comparison
    """With the baseline."""

    application: Comparison | None = None
    """What the other application did; None where both serve the same. It is *whole* where the
    line of descent is not in the run, so that settings are in it, too."""

    settings: Comparison | None = None
    """What settings did before that."""

    further: Comparison | None = None
    """What settings did after it."""

    missing: str | None = None
    """Profile that the other application was to be compared with, and is not in the run."""


@dataclass(frozen=True, slots=True)
class Uncounted:
    """Profiles of which the throughput is not their own, or counts in no trial."""

    profiles: tuple[str, ...]
    gates: Mapping[str, str]
    """Why: gate -> its reason. Empty where the load's generator is at its limit, and CPU tells."""

    capped: bool = False
    """Whether the generator's limit is the reason."""


@dataclass(frozen=True, slots=True)
class NoiseCheck:
    """What the same server twice says of this machine."""

    within: float
    """Share that it is away from itself at the most, by the farther end of the interval."""

    passed: bool


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What a run comes to, in the order in which it is said."""

    uncounted: Uncounted | None
    baseline: str
    """Name of the profile that all are compared with."""

    metric: str
    """By which the run is judged."""

    compared: bool
    """Whether any profile can be compared by it."""

    moved: Moved | None
    """What changed most: the best, else the worst; None where nothing is told from the baseline."""

    cpu: Comparison | None
    """What that cost in CPU per request; None where that is not told, or another application's."""

    limit: Diagnosis | None
    """What limits that profile, else the baseline."""

    noise: NoiseCheck | None
    """None where it could not be made."""

    trust: Trust
    detectable: float | None
    """Ratio that the median step would show with 80 % power; None where no step says."""


def conclude(summary: Summary) -> Conclusion:
    """Return what a run comes to."""
    metric = judged_by(summary)
    farthest = _farthest(summary, metric)
    baseline = summary.run.plan.profiles[0].name
    who = farthest.changed if farthest is not None else baseline
    return Conclusion(
        uncounted=_uncounted(summary),
        baseline=baseline,
        metric=metric,
        compared=bool(_against(summary, metric)),
        moved=None if farthest is None else _moved(summary, farthest),
        cpu=None if farthest is None else _cpu(summary, farthest),
        limit=limited_by(summary.diagnoses.get(who, ())),
        noise=_noise_check(summary, metric),
        trust=_trust(summary),
        detectable=_detectable(summary, metric),
    )


def judged_by(summary: Summary) -> str:
    """Return the name of the metric that a run is judged by: throughput where it tells anything."""
    if summary.run.plan.load.rate is not None:
        return "cpu"
    # A step's ratio to the baseline is there whenever both have a trial that counts.
    if not _against(summary, "throughput"):
        return "cpu"
    return "cpu" if _at_limit(summary) else "throughput"


def _trust(summary: Summary) -> Trust:
    if summary.aa[HEADLINE].ratio is None or not any(row.values for row in summary.rows):
        return Trust.NO
    return Trust.CARE if summary.warnings else Trust.YES


def _against(summary: Summary, metric: str) -> dict[str, Comparison]:
    """Return how each profile compares with the baseline, of those that can be compared."""
    found = {step.profile: step.baseline[metric] for step in summary.steps}
    return {profile: each for profile, each in found.items() if each.ratio is not None}


def _at_limit(summary: Summary) -> bool:
    """Return whether the generator's limit leaves all throughputs undecided, and CPU can tell."""
    found = _against(summary, "throughput").values()
    open_ = all(each.verdict is Verdict.UNDECIDED for each in found)
    limited = any(each.may_be is not None for each in found)
    return open_ and limited and bool(_against(summary, "cpu"))


def _uncounted(summary: Summary) -> Uncounted | None:
    """Return whose throughput does not count; nothing in an open loop, where it is the plan's."""
    if summary.run.plan.load.rate is not None:
        return None
    if _at_limit(summary):
        names = (row.profile.name for row in summary.rows if row.at_least("throughput"))
        return Uncounted(tuple(names), {}, capped=True)
    compared = {summary.run.plan.profiles[0].name, *(step.profile for step in summary.steps)}
    rows = [
        row
        for row in summary.rows
        if row.profile.name in compared and "throughput" not in row.values
    ]
    if not rows:
        return None
    found = (each for row in rows for each in row.tallies if "throughput" in each.withheld)
    gates = {each.gate.name: each.example.reason for each in found}
    return Uncounted(tuple(row.profile.name for row in rows), gates)


def _farthest(summary: Summary, metric: str) -> Comparison | None:
    """Return what changed most against the baseline: the best, else the worst; None if nothing."""
    against = _against(summary, metric).values()
    better = [each for each in against if each.verdict is Verdict.FASTER]
    worse = [each for each in against if each.verdict is Verdict.SLOWER]
    return max(better or worse, key=surely, default=None)


def _moved(summary: Summary, farthest: Comparison) -> Moved:
    """
    Return how far a profile is from the baseline, settings and application each by themselves.

    They are told apart where its line of descent is in the run: up to the last profile that serves
    what the baseline serves only settings differ, and the next one serves another application.
    """
    baseline, metric = farthest.reference, farthest.metric
    if not summary.another_application(farthest.changed, baseline):
        return Moved(farthest)
    steps = {step.profile: step for step in summary.steps}
    step = steps[farthest.changed]
    while step.before is not None and summary.another_application(step.before, baseline):
        step = steps[step.before]
    if step.before is None:
        return Moved(farthest, farthest)
    settings = further = None
    if step.before != baseline:
        settings = summary.compare(metric, step.before, baseline)
    if step.profile != farthest.changed:
        further = summary.compare(metric, farthest.changed, step.profile)
    application = summary.compare(metric, step.profile, step.before)
    return Moved(farthest, application, settings, further, step.instead_of)


def _cpu(summary: Summary, farthest: Comparison) -> Comparison | None:
    """Return what more requests cost; None for another application, which does another work."""
    if farthest.metric != "throughput" or farthest.verdict is not Verdict.FASTER:
        return None
    if summary.another_application(farthest.changed, farthest.reference):
        return None
    found = _against(summary, "cpu").get(farthest.changed)
    return None if found is None or found.verdict is Verdict.UNDECIDED else found


def _noise_check(summary: Summary, metric: str) -> NoiseCheck | None:
    if summary.aa[HEADLINE].ratio is None:
        return None
    names = ("cpu",) if metric == "cpu" else ("throughput", "cpu")
    known = [summary.aa[name] for name in names if summary.aa[name].ratio is not None]
    ratios = (each.ratio for each in known if each.ratio is not None)
    # How far from 1 it may lie: the half-width alone forgets that the middle may be off it, too.
    within = max(max(each.high, 1 / each.low) - 1 for each in ratios)
    smallest = summary.run.plan.smallest
    return NoiseCheck(within, all(told_apart(each, smallest) for each in known))


def _detectable(summary: Summary, metric: str) -> float | None:
    sizes = [
        each.detectable * (1 + summary.floors[metric])
        for step in summary.steps
        if (each := step.step.get(metric)) is not None and each.detectable is not None
    ]
    return statistics.median(sizes) if sizes else None
