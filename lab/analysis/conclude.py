"""From all that was found to what a run comes to."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lab.analysis.compare import surely
from lab.analysis.conclusion import BaselineDistance, Conclusion, Trust, Uncounted
from lab.analysis.confirm import limited_by
from lab.analysis.ending import exit_status
from lab.analysis.gates_fired import gates_fired
from lab.analysis.health import HEADLINE, noise_check, passed_aa
from lab.analysis.judging import UNJUDGED, judge_own
from lab.analysis.limits import limits, silent
from lab.analysis.machine import facts, network
from lab.analysis.notices import notices
from lab.analysis.opening import opening
from lab.analysis.summary import Summary
from lab.analysis.sweep_values import on_one_core
from lab.analysis.thresholds import Threshold
from lab.analysis.undecided import levels
from lab.analysis.warning import Noise
from lab.model.comparison import Comparison, Verdict
from lab.model.notice import Notice


def conclude(summary: Summary, thresholds: Sequence[Threshold] | None = None) -> Conclusion:
    """Return what a run comes to; *thresholds* are others than the limits that it was given."""
    judgements = judge_own(summary, thresholds)
    run, metric = summary.run, judged_by(summary)
    farthest = _farthest(summary, metric)
    baseline = summary.run.plan.profiles[0].name
    who = farthest.changed if farthest is not None else baseline
    return Conclusion(
        summary=summary,
        trust=_trust(summary),
        warnings=tuple(_warnings(summary, exit_status([summary], judgements))),
        judgements=judgements,
        uncounted=_uncounted(summary),
        baseline=baseline,
        metric=metric,
        compared=bool(_against(summary, metric)),
        alone=not summary.steps,
        moved=None if farthest is None else _moved(summary, farthest),
        cpu=None if farthest is None else _cpu(summary, farthest),
        opening=opening(summary, metric, farthest),
        on_one_core=on_one_core([summary]),
        limit=limited_by(summary.diagnoses.get(who, ())),
        noise=noise_check(run.plan, summary.aa),
        noisy=tuple(
            name
            for name, aa in summary.aa.items()
            if aa.ratio is not None and not passed_aa(aa, run.plan.smallest)
        ),
        detectable=_detectable(summary, metric),
        limits=limits(summary),
        silent=silent(summary),
        levels=levels(summary),
        gates=gates_fired(summary),
        machine=facts(run.environments),
        network=network(run),
        notices=notices(summary, metric),
    )


def _warnings(summary: Summary, status: int) -> Iterator[Notice]:
    """Yield its warnings; that of the noise makes the status only where nothing else does."""
    for warning in summary.warnings:
        yield (
            replace(warning, decides=False)
            if isinstance(warning, Noise) and status != UNJUDGED
            else warning
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
    comparisons = {step.profile: step.baseline[metric] for step in summary.steps}
    return {
        profile: comparison
        for profile, comparison in comparisons.items()
        if comparison.ratio is not None
    }


def _at_limit(summary: Summary) -> bool:
    """Return whether the generator's limit leaves all throughputs undecided, and CPU can tell."""
    comparisons = _against(summary, "throughput").values()
    open_ = all(comparison.verdict is Verdict.INCONCLUSIVE for comparison in comparisons)
    limited = any(comparison.may_be is not None for comparison in comparisons)
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
        if row.profile.name in compared and row.total and "throughput" not in row.values
    ]
    if not rows:
        return None
    tallies = (tally for row in rows for tally in row.tallies if "throughput" in tally.withheld)
    gates = {tally.gate.name: tally.example.reason for tally in tallies}
    nothing = not any(row.values for row in summary.rows)
    return Uncounted(tuple(row.profile.name for row in rows), gates, nothing=nothing)


def _farthest(summary: Summary, metric: str) -> Comparison | None:
    """Return what changed most against the baseline: the best, else the worst; None if nothing."""
    against = _against(summary, metric).values()
    better = [comparison for comparison in against if comparison.verdict is Verdict.BETTER]
    worse = [comparison for comparison in against if comparison.verdict is Verdict.WORSE]
    return max(better or worse, key=surely, default=None)


def _moved(summary: Summary, farthest: Comparison) -> BaselineDistance:
    """
    Return how far a profile is from the baseline, settings and application each by themselves.

    They are told apart where its line of descent is in the run: up to the last profile that serves
    what the baseline serves only settings differ, and the next one serves another application.
    """
    baseline, metric = farthest.reference, farthest.metric
    steps = {step.profile: step for step in summary.steps}
    step = steps[farthest.changed]
    if not step.other_than_baseline:
        return BaselineDistance(farthest)
    while step.before in steps and steps[step.before].other_than_baseline:
        step = steps[step.before]
    if step.before is None:
        return BaselineDistance(farthest, farthest)
    settings = further = None
    if step.before != baseline:
        settings = summary.compare(metric, step.before, baseline)
    if step.profile != farthest.changed:
        further = summary.compare(metric, farthest.changed, step.profile)
    application = summary.compare(metric, step.profile, step.before)
    return BaselineDistance(farthest, application, settings, further, step.instead_of)


def _cpu(summary: Summary, farthest: Comparison) -> Comparison | None:
    """Return what more requests cost; None for another application, which does another work."""
    if farthest.metric != "throughput" or farthest.verdict is not Verdict.BETTER:
        return None
    if any(step.other_than_baseline for step in summary.steps if step.profile == farthest.changed):
        return None
    comparison = _against(summary, "cpu").get(farthest.changed)
    return None if comparison is None or comparison.verdict is Verdict.INCONCLUSIVE else comparison


def _detectable(summary: Summary, metric: str) -> float | None:
    sizes = [
        comparison.detectable * (1 + summary.floors[metric])
        for step in summary.steps
        if (comparison := step.step.get(metric)) is not None and comparison.detectable is not None
    ]
    return statistics.median(sizes) if sizes else None
