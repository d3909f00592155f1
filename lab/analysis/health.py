"""
Can this run be trusted at all: the warnings that a report opens with, and its exit status.

The reference ran twice in every block. Whatever its second run differs by is what this machine,
during this run, does to two identical servers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lab.analysis.compare import differs, reach
from lab.analysis.observations import Observation
from lab.analysis.stats import blocks_for_half_width, half_width
from lab.model.comparison import Comparison, Estimate
from lab.model.measured import Failure, Run
from lab.model.warning import (
    EndedEarly,
    Failing,
    NeverStarted,
    Noise,
    NoiseUnknown,
    NotEnded,
    NothingCompared,
    RunWarning,
)

BROKEN = 0.5
"""Share of failed trials from which a server is broken: what is left is not its usual self."""

HEADLINE = "cpu"
"""The metric that decides the exit status: throughput of a shared machine is its neighbours'."""

GRAVITY = (0, 3, 1, 99)
"""Exit statuses, the gravest last: a broken server is no noise, and a limit is what was asked."""


def warnings(
    run: Run,
    aa: Mapping[str, Comparison],
    unstarted: Sequence[str],
    measurable: Sequence[str],
    progress: tuple[int, int],
    *,
    failing: Mapping[str, tuple[int, int]],
    ceiling: RunWarning | None = None,
) -> tuple[RunWarning, ...]:
    """
    Return what must be read before any number, gravest first.

    Args:
        run: The run.
        aa: The A/A comparisons by metric.
        unstarted: Profiles whose server never started.
        measurable: Profiles with at least one trial that the headline metric can be read from.
        progress: Slots with a trial, and planned slots.
        failing: Other profiles whose server failed: in how many trials, and of how many.
        ceiling: What `lab.analysis.ceiling` found.
    """
    found: list[RunWarning] = []
    if unstarted:
        found.append(NeverStarted(tuple(unstarted)))
    if failing:
        found.append(Failing(failing))
    if len(run.plan.profiles) > 1 and len(measurable) < 2:
        found.append(NothingCompared())
    if ceiling is not None:
        found.append(ceiling)
    if measurable or len(run.plan.profiles) == 1:
        found += _noise(aa, run.blocks, run.plan.smallest)
    measured, planned = progress
    if measured < planned:
        found.append(EndedEarly(measured, planned))
    if run.plan.minutes is not None and not run.ended:
        found.append(NotEnded(run.blocks))
    return tuple(found)


def exit_code(
    aa: Mapping[str, Comparison],
    broken: Sequence[str],
    measurable: Sequence[str],
    profiles: int,
    smallest: float,
) -> int:
    """
    Return 1 when a server is broken, 3 when this machine could not measure, else 0.

    Broken is one that did not start, died or failed its requests in half of its trials or more:
    that is the server's doing, and no quieter machine would help.
    """
    if broken:
        return 1
    if len(measurable) < min(2, profiles) or not told_apart(aa[HEADLINE], smallest):
        return 3
    return 0


def gravest(*statuses: int) -> int:
    """
    Return the exit status that counts.

    >>> gravest(3, 1, 0)
    1
    """
    return max(statuses, key=GRAVITY.index)


def never_started(observations: Sequence[Observation]) -> bool:
    """Return whether no server of these trials, of one profile, gave a correct reply."""
    trials = [item.trial for item in observations]
    return bool(trials) and all(
        trial.failure and not trial.windows and trial.failed is not Failure.LOAD for trial in trials
    )


def failures(observations: Sequence[Observation]) -> tuple[int, int]:
    """Return in how many of these trials, of one profile, the server failed, and their number."""
    failed = sum(
        any(each.gate.failing and each.withholds is None for each in item.findings)
        for item in observations
    )
    return failed, len(observations)


def is_broken(failed: int, trials: int) -> bool:
    """Return whether a server that failed in so many trials is to be mended first."""
    return failed > 0 and failed >= BROKEN * trials


def told_apart(aa: Comparison, smallest: float) -> bool:
    """
    Return whether the A/A comparison passed.

    It fails when it could not be made, when its interval lies wholly beyond the 2 % floor, or
    when it reaches further to each side than *smallest*, the share that the plan names.
    """
    return aa.ratio is not None and alike(aa.ratio, smallest)


def alike(ratio: Estimate, smallest: float) -> bool:
    """Return whether two identical servers that came out at *ratio* passed: see `told_apart`."""
    return not differs(ratio) and half_width(ratio) <= smallest


def _noise(aa: Mapping[str, Comparison], blocks: int, smallest: float) -> list[RunWarning]:
    """Return what the A/A arm shows of this machine; nothing when all is well."""
    headline = aa[HEADLINE]
    if headline.ratio is None:
        return [NoiseUnknown(headline.reference)]
    seen = {
        name: ratio
        for name in (HEADLINE, "throughput")
        if (ratio := aa[name].ratio) is not None and not alike(ratio, smallest)
    }
    if not seen:
        return []
    decides = not told_apart(headline, smallest)
    if all(half_width(ratio) <= smallest for ratio in seen.values()):
        return [Noise(headline.reference, seen, smallest, None, None, decides)]
    needed = [blocks_for_half_width(ratio, smallest, blocks) for ratio in seen.values()]
    known = [number for number in needed if number is not None]
    enough = max(known) if len(known) == len(needed) else None
    widest = max(map(reach, seen.values()))
    return [Noise(headline.reference, seen, smallest, widest, enough, decides)]
