"""What a reader is told first: which steps changed anything, which do not, and which are open."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lab.analysis.footnotes import protocols
from lab.analysis.gates_fired import failed
from lab.analysis.limits import NoEffect, no_effect
from lab.analysis.load_limit import kept_by_load
from lab.analysis.summary import Rung, Summary, Tally
from lab.analysis.undecided import outlook, undecided
from lab.model.comparison import Comparison, Verdict
from lab.model.notice import Means, Notice, Remedy

MUCH_MEMORY = 0.10
"""Share from which a change of memory is told first: a library more or less moves it by less."""


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """One comparison of two profiles, by each metric that is told first."""

    changed: str
    reference: str
    by: Mapping[str, Comparison]
    """In the order of `Opening.metrics`."""

    another: bool = False
    """Whether they surely serve different applications."""

    together: bool = False
    """Whether it is of all steps of a ladder together."""


@dataclass(frozen=True, slots=True)
class Opening:
    """The comparisons of a run: each step, and what changed most where that is none of them."""

    metrics: tuple[str, ...]
    """By which they are told."""

    changed: tuple[ComparedPair, ...]
    """Those that are better or worse by any of the metrics."""

    alike: Mapping[float, tuple[ComparedPair, ...]]
    """Share that the change is surely below -> those steps, by the metric that judges the run."""

    undecided: tuple[ComparedPair, ...]
    """Those of which the run says neither."""

    uncounted: tuple[ComparedPair, ...]
    """Those with too few trials that count."""

    notices: tuple[Notice, ...]
    """What changes the reading of these, beside the run's warnings."""

    no_effect: tuple[NoEffect, ...]
    """Options that do nothing where they stand."""

    failed: tuple[tuple[str, Tally], ...]
    """Each profile whose server failed in a trial, and by which gate, in how many."""

    remedy: Remedy | None
    """What would decide some of the undecided; None where that is not known."""

    soonest: str | None
    """The one that blocks would decide first; None where the remedy is another."""


def opening(summary: Summary, metric: str, farthest: Comparison | None) -> Opening:
    """
    Return what is told of the comparisons first.

    Args:
        summary: What was found.
        metric: By which the run is judged.
        farthest: What changed most against the baseline; None if nothing did.
    """
    names = tuple(_metrics(summary, metric))
    compared_pairs = [_told(step, names) for step in summary.steps]
    if farthest is not None:
        compared_pairs += _whole(summary, farthest, names)
    changed, still_open, uncounted = [], [], []
    alike: dict[float, list[ComparedPair]] = {}
    for compared_pair in compared_pairs:
        judge = compared_pair.by.get(metric)
        if any(_moved(one) for one in compared_pair.by.values()):
            changed.append(compared_pair)
        elif judge is None or (judge.ratio is None and judge.between is None):
            uncounted.append(compared_pair)
        elif judge.below is not None or judge.verdict is Verdict.NO_DIFFERENCE:
            alike.setdefault(judge.below or summary.floors[metric], []).append(compared_pair)
        else:
            still_open.append(compared_pair)
    remedy, soonest = _remedy(summary, metric, {comparison.changed for comparison in still_open})
    return Opening(
        metrics=tuple(
            name
            for name in names
            if any(name in compared_pair.by for compared_pair in compared_pairs)
        ),
        changed=tuple(changed),
        alike={share: tuple(alike[share]) for share in sorted(alike)},
        undecided=tuple(still_open),
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
    summary: Summary, metric: str, still_open: Collection[str]
) -> tuple[Remedy | None, str | None]:
    """Return what would decide some of these profiles, and which one first."""
    ahead = outlook(summary, metric)
    if ahead is not None and ahead.remedy is not None:
        return ahead.remedy, None
    for notice in undecided(summary, [metric]):
        if notice.blocks and notice.soonest in still_open:
            return Remedy(Means.BLOCKS, notice.blocks), notice.soonest
    return None, None


def _metrics(summary: Summary, metric: str) -> Iterator[str]:
    """
    Yield what is told: requests/s but of an open loop, CPU, p99, memory.

    CPU where it judges, or tells a step apart that requests/s do not: noise moves it less.
    """
    if summary.run.plan.load.rate is None:
        yield "throughput"
    if metric == "cpu" or any(map(_moved_by_cpu_alone, summary.steps)):
        yield "cpu"
    yield "p99"
    if any(_moved(comparison) for comparison in summary.comparisons(("memory",))):
        yield "memory"


def _moved(comparison: Comparison) -> bool:
    """Return whether a comparison is told from noise; one of memory if it is large enough, too."""
    if not comparison.verdict.differs:
        return False
    if comparison.metric != "memory" or comparison.ratio is None:
        return True
    return not 1 / (1 + MUCH_MEMORY) < comparison.ratio.value < 1 + MUCH_MEMORY


def _moved_by_cpu_alone(step: Rung) -> bool:
    sides = step.baseline if step.before is None else step.step
    moved = [name in sides and _moved(sides[name]) for name in ("cpu", "throughput")]
    return moved == [True, False]


def _told(step: Rung, names: Sequence[str]) -> ComparedPair:
    """Return a step; the start of a ladder, which is a step from nothing, against the baseline."""
    sides = step.baseline if step.before is None else step.step
    other = step.other_than_baseline if step.before is None else step.other_than_before
    by = {name: sides[name] for name in names if name in sides and _known(sides[name])}
    first = next(iter(sides.values()), None)
    return ComparedPair(step.profile, "" if first is None else first.reference, by, other)


def _known(comparison: Comparison) -> bool:
    return comparison.ratio is not None or comparison.between is not None


def _whole(summary: Summary, farthest: Comparison, names: Sequence[str]) -> Iterator[ComparedPair]:
    """
    Yield the last profile that serves what the baseline serves against the baseline: all settings.

    Nothing where that is one step, which exists.
    """
    baseline = farthest.reference
    steps = [step for step in summary.steps if not step.other_than_baseline]
    last = next((step for step in reversed(steps) if step.before not in (None, baseline)), None)
    if last is not None:
        by = {name: last.baseline[name] for name in names if name in last.baseline}
        by = {name: comparison for name, comparison in by.items() if _known(comparison)}
        if any(map(_moved, by.values())):
            yield ComparedPair(last.profile, baseline, by, together=True)
