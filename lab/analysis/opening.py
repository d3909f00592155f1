"""`Opening`: which comparisons changed, which did not, and which are inconclusive."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lab.analysis.footnotes import protocols
from lab.analysis.gates_fired import failed
from lab.analysis.limits import NoEffect, no_effect
from lab.analysis.load_limit import kept_by_load
from lab.analysis.summary import StepComparison, Summary, Tally
from lab.analysis.undecided import outlook, undecided
from lab.model.comparison import Comparison, Verdict
from lab.model.notice import Means, Notice, Remedy

MUCH_MEMORY = 0.10
"""Least share of a change of memory that counts: one library more or less changes it by less."""


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two profiles, compared by each metric of `Opening.metrics`."""

    changed: str
    reference: str
    by: Mapping[str, Comparison]
    """Metric -> comparison, in the order of `Opening.metrics`."""

    another: bool = False
    """Whether they certainly serve different applications."""

    together: bool = False
    """Whether it compares all steps of a ladder together: the last profile with the first."""


@dataclass(frozen=True, slots=True)
class Opening:
    """The pairs of a run: each step, and all steps of a ladder together if they changed most."""

    metrics: tuple[str, ...]
    """The metrics that the short report shows."""

    changed: tuple[ComparedPair, ...]
    """Pairs that are better or worse by any of the metrics."""

    no_difference: Mapping[float, tuple[ComparedPair, ...]]
    """Share that the change is certainly below -> pairs, by the metric that judges the run."""

    no_gain: tuple[ComparedPair, ...]
    """Pairs that are not better, but may be worse; by the same metric."""

    inconclusive: tuple[ComparedPair, ...]

    uncounted: tuple[ComparedPair, ...]
    """Pairs with too few valid trials."""

    notices: tuple[Notice, ...]
    """Notices about these pairs, besides the warnings of the run."""

    no_effect: tuple[NoEffect, ...]
    """Options without effect."""

    failed: tuple[tuple[str, Tally], ...]
    """Profiles whose server failed in a trial, with the gate and the number of trials."""

    remedy: Remedy | None
    """What would decide some of the inconclusive pairs; None: unknown."""

    soonest: str | None
    """The changed profile of the pair that more blocks decide first; None: another remedy."""


def opening(summary: Summary, metric: str, farthest: Comparison | None) -> Opening:
    """
    Return the opening of a run.

    Args:
        summary: The summary of the run.
        metric: The metric that judges the run.
        farthest: The comparison with the baseline that changed most; None: nothing changed.
    """
    names = tuple(_metrics(summary, metric))
    pairs = [_pair_of_step(step, names) for step in summary.steps]
    if farthest is not None:
        pairs += _all_steps_together(summary, farthest, names)
    changed, no_gain, inconclusive, uncounted = [], [], [], []
    no_difference: dict[float, list[ComparedPair]] = {}
    for pair in pairs:
        judge = pair.by.get(metric)
        if any(map(_changed, pair.by.values())):
            changed.append(pair)
        elif judge is None or not _is_known(judge):
            uncounted.append(pair)
        elif judge.below is not None or judge.verdict is Verdict.NO_DIFFERENCE:
            no_difference.setdefault(judge.below or summary.floors[metric], []).append(pair)
        elif judge.no_gain is not None:
            no_gain.append(pair)
        else:
            inconclusive.append(pair)
    remedy, soonest = _remedy(summary, metric, {pair.changed for pair in inconclusive})
    return Opening(
        metrics=tuple(name for name in names if any(name in pair.by for pair in pairs)),
        changed=tuple(changed),
        no_difference={share: tuple(no_difference[share]) for share in sorted(no_difference)},
        no_gain=tuple(no_gain),
        inconclusive=tuple(inconclusive),
        uncounted=tuple(uncounted),
        notices=tuple(_notices(summary)),
        no_effect=no_effect(summary.inert),
        failed=failed(summary),
        remedy=remedy,
        soonest=soonest,
    )


def _notices(summary: Summary) -> Iterator[Notice]:
    for notice in (kept_by_load(summary), protocols(summary.run)):
        if notice is not None:
            yield notice


def _remedy(
    summary: Summary, metric: str, inconclusive: Collection[str]
) -> tuple[Remedy | None, str | None]:
    """Return what would decide some of the inconclusive profiles, and which one first."""
    ahead = outlook(summary, metric)
    if ahead is not None and ahead.remedy is not None:
        return ahead.remedy, None
    for notice in undecided(summary, [metric]):
        if notice.blocks and notice.soonest in inconclusive:
            return Remedy(Means.BLOCKS, notice.blocks), notice.soonest
    return None, None


def _metrics(summary: Summary, metric: str) -> Iterator[str]:
    """
    Yield the metrics to show: throughput unless the load is open-loop, CPU, p99, memory.

    CPU only if it judges the run, or changed in a step in which throughput did not; memory only if
    it changed.
    """
    if summary.run.plan.load.rate is None:
        yield "throughput"
    if metric == "cpu" or any(map(_changed_cpu_alone, summary.steps)):
        yield "cpu"
    yield "p99"
    if any(map(_changed, summary.comparisons(("memory",)))):
        yield "memory"


def _changed(comparison: Comparison) -> bool:
    """Return whether the metric changed; memory also has to change by `MUCH_MEMORY`."""
    if not comparison.verdict.differs:
        return False
    if comparison.metric != "memory" or comparison.ratio is None:
        return True
    return not 1 / (1 + MUCH_MEMORY) < comparison.ratio.value < 1 + MUCH_MEMORY


def _changed_cpu_alone(step: StepComparison) -> bool:
    comparisons = step.baseline if step.before is None else step.step
    changed = [
        metric in comparisons and _changed(comparisons[metric]) for metric in ("cpu", "throughput")
    ]
    return changed == [True, False]


def _pair_of_step(step: StepComparison, names: Sequence[str]) -> ComparedPair:
    """Return the pair of a step; one without a profile before it is compared with the baseline."""
    comparisons = step.baseline if step.before is None else step.step
    another = step.other_than_baseline if step.before is None else step.other_than_before
    first = next(iter(comparisons.values()), None)
    reference = "" if first is None else first.reference
    return ComparedPair(step.profile, reference, _known(comparisons, names), another)


def _known(comparisons: Mapping[str, Comparison], names: Sequence[str]) -> dict[str, Comparison]:
    """Return those comparisons of the metrics *names* that have a value."""
    return {
        name: comparisons[name]
        for name in names
        if name in comparisons and _is_known(comparisons[name])
    }


def _is_known(comparison: Comparison) -> bool:
    return comparison.ratio is not None or comparison.between is not None


def _all_steps_together(
    summary: Summary, farthest: Comparison, names: Sequence[str]
) -> Iterator[ComparedPair]:
    """
    Yield the pair of the baseline and the last profile with the same application, if it changed.

    Nothing if there is one step between them: that is a pair already.
    """
    baseline = farthest.reference
    steps = [step for step in summary.steps if not step.other_than_baseline]
    last = next((step for step in reversed(steps) if step.before not in (None, baseline)), None)
    if last is not None:
        by = _known(last.baseline, names)
        if any(map(_changed, by.values())):
            yield ComparedPair(last.profile, baseline, by, together=True)
