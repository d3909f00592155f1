"""
Can this run be trusted at all: the warnings that a report opens with, and its exit status.

The reference ran twice in every block. Whatever its second run differs by is what this machine,
during this run, does to two identical servers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab.analysis.compare import differs, reach
from lab.analysis.observations import Observation
from lab.analysis.stats import blocks_for_half_width, half_width
from lab.analysis.warning import (
    EndedEarly,
    Failing,
    MissingProfiles,
    NeverStarted,
    Noise,
    NoiseUnknown,
    NotEnded,
    NothingCompared,
)
from lab.model.comparison import Comparison, Estimate
from lab.model.measurement import Failure, Run
from lab.model.notice import Notice
from lab.model.plan import Plan

BROKEN = 0.5
"""Share of failed trials from which a server is broken: what is left is not its usual self."""

HEADLINE = "cpu"
"""The metric that decides the exit status: throughput of a shared machine is its neighbours'."""

CHECKED = (HEADLINE, "throughput")
"""The metrics by which the same server twice is to be alike."""

GRAVITY = (0, 3, 1, 99)
"""Exit statuses, the gravest last: a broken server is no noise, and a limit is what was asked."""


@dataclass(frozen=True, slots=True)
class NoiseCheck:
    """What the same server twice says of this machine."""

    metric: str
    """By which it is the noisiest: of those that failed, else of all that are checked."""

    within: float
    """The noise by that metric: the share that `lab.analysis.compare.reach` returns."""

    passed: bool


def warnings(
    run: Run,
    aa: Mapping[str, Comparison],
    unstarted: Sequence[str],
    measurable: Sequence[str],
    progress: tuple[int, int],
    *,
    failing: Mapping[str, tuple[int, int]],
    unmeasured: Sequence[str] = (),
    voided: bool = False,
    ceiling: Notice | None = None,
) -> tuple[Notice, ...]:
    """
    Return what must be read before any number, gravest first.

    Args:
        run: The run.
        aa: The A/A comparisons by metric.
        unstarted: Profiles whose server never started.
        measurable: Profiles with at least one trial that the headline metric can be read from.
        progress: Slots with a trial, and planned slots.
        failing: Other profiles whose server failed: in how many trials, and of how many.
        unmeasured: Profiles without any trial, not even of the noise check.
        voided: Whether the machine made trials invalid.
        ceiling: What `lab.analysis.ceiling` found.
    """
    notices: list[Notice] = []
    measured, planned = progress
    not_ended = run.plan.minutes is not None and not run.ended
    early = measured < planned or not_ended
    if unstarted:
        notices.append(NeverStarted(tuple(unstarted)))
    if failing:
        notices.append(Failing(failing))
    if len(run.plan.profiles) > 1 and len(measurable) < 2:
        notices.append(NothingCompared(early))
    if ceiling is not None:
        notices.append(ceiling)
    if measurable or len(run.plan.profiles) == 1:
        notices += _noise(run, aa, voided=voided)
    if measured < planned:
        notices.append(EndedEarly(measured, planned))
    if early and unmeasured:
        notices.append(MissingProfiles(tuple(unmeasured)))
    if not_ended:
        notices.append(NotEnded(run.blocks))
    return tuple(notices)


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
    if len(measurable) < min(2, profiles) or not passed_aa(aa[HEADLINE], smallest):
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
        any(finding.gate.failing and finding.withholds is None for finding in item.findings)
        for item in observations
    )
    return failed, len(observations)


def is_broken(failed: int, trials: int) -> bool:
    """Return whether a server that failed in so many trials is to be mended first."""
    return failed > 0 and failed >= BROKEN * trials


def passed_aa(aa: Comparison, smallest: float) -> bool:
    """
    Return whether the A/A comparison passed.

    It fails when it could not be made, when its interval lies wholly beyond the 2 % floor, or
    when it reaches further to each side than *smallest*, the share that the plan names.
    """
    return aa.ratio is not None and alike(aa.ratio, smallest)


def alike(ratio: Estimate, smallest: float) -> bool:
    """Return whether two identical servers that came out at *ratio* passed: see `passed_aa`."""
    return not differs(ratio) and half_width(ratio) <= smallest


def noise_check(plan: Plan, aa: Mapping[str, Comparison]) -> NoiseCheck | None:
    """
    Return whether the same server twice was alike, and how far apart it was.

    Args:
        plan: Of the run.
        aa: The A/A comparisons by metric.

    Returns:
        None where the headline metric could not be compared, and where two blocks leave
        everything open.
    """
    if aa[HEADLINE].ratio is None:
        return None
    failed = _unlike(plan, aa)
    ratios = failed or _checked(plan, aa)
    reaches = {name: reach(ratio) for name, ratio in ratios.items()}
    metric = max(reaches, key=reaches.__getitem__)
    if reaches[metric] > 1 and ratios[metric].n == 2:
        return None
    return NoiseCheck(metric, reaches[metric], passed=not failed)


def _checked(plan: Plan, aa: Mapping[str, Comparison]) -> dict[str, Estimate]:
    """Return what the same server twice came out at; requests/s of an open loop are the plan's."""
    names = (HEADLINE,) if plan.load.rate is not None else CHECKED
    return {name: ratio for name in names if (ratio := aa[name].ratio) is not None}


def _unlike(plan: Plan, aa: Mapping[str, Comparison]) -> dict[str, Estimate]:
    """Return the same of the metrics by which it was not alike."""
    dict_items = _checked(plan, aa).items()
    return {name: ratio for name, ratio in dict_items if not alike(ratio, plan.smallest)}


def _noise(run: Run, aa: Mapping[str, Comparison], *, voided: bool) -> list[Notice]:
    """Return what the A/A arm shows of this machine; nothing when all is well."""
    headline, check = aa[HEADLINE], noise_check(run.plan, aa)
    if check is None:
        return [NoiseUnknown(headline.reference, voided, of_two=headline.ratio is not None)]
    if check.passed:
        return []
    seen, blocks, smallest = _unlike(run.plan, aa), run.blocks, run.plan.smallest
    apart = all(half_width(ratio) <= smallest for ratio in seen.values())
    needed = [blocks_for_half_width(ratio, smallest, blocks) for ratio in seen.values()]
    known = [number for number in needed if number is not None]
    enough = max(known) if not (apart or voided) and len(known) == len(needed) else None
    decides = HEADLINE in seen
    return [Noise(headline.reference, seen, smallest, check.within, enough, decides, apart=apart)]
