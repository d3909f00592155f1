"""
Can this run be trusted at all: the banners that a report opens with, and its exit status.

The reference ran twice in every block. Whatever its second run differs by is what this machine,
during this run, does to two identical servers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lab.analysis.compare import LEAST_FLOOR, differs, reach
from lab.analysis.looks import END, STOPPED
from lab.analysis.observations import Observation
from lab.analysis.stats import blocks_for_half_width, half_width, percent
from lab.model.comparison import Comparison, Estimate
from lab.model.measured import METRICS, Failure, Run
from lab.model.wording import counted

BROKEN = 0.5
"""Share of failed trials from which a server is broken: what is left is not its usual self."""

HEADLINE = "cpu"
"""The metric that decides the exit status: throughput of a shared machine is its neighbours'."""

ENDED_EARLY = "Ended early"

NOISY = "Exit status 3 stands for this: measured, but noisier than wanted."

GRAVITY = (0, 3, 1, 99)
"""Exit statuses, the gravest last: a broken server is no noise, and a limit is what was asked."""

FAILURES = ("server died", "errors")
"""Gates that are the server's own failing, and nobody else's."""


def banners(
    run: Run,
    aa: Mapping[str, Comparison],
    unstarted: Sequence[str],
    measurable: Sequence[str],
    progress: tuple[int, int],
    *,
    failing: Mapping[str, tuple[int, int]],
    ceiling: str | None = None,
) -> tuple[str, ...]:
    """
    Return what must be read before any number, gravest first.

    Args:
        run: The run.
        aa: The A/A comparisons by metric.
        unstarted: Profiles whose server never started.
        measurable: Profiles with at least one trial that the headline metric can be read from.
        progress: Slots with a trial, and planned slots.
        failing: Other profiles whose server failed: in how many trials, and of how many.
        ceiling: What `lab.analysis.ceiling` says.
    """
    found = []
    if unstarted:
        found.append(f"Never started: {', '.join(unstarted)}. The reason is below.")
    if failing:
        found.append(
            f"Failed {_shares(failing)}. The server did not start, died, or failed so many "
            "requests that nothing of the trial counts; the reason is below."
        )
    if len(run.plan.profiles) > 1 and len(measurable) < 2:
        found.append(
            "Nothing can be compared: fewer than two profiles have a trial that counts. "
            "More blocks alone will not help. The reasons are below."
        )
    if ceiling is not None:
        found.append(ceiling)
    if measurable or len(run.plan.profiles) == 1:
        found += _noise(aa, run.blocks, run.plan.smallest)
    measured, planned = progress
    if measured < planned:
        found.append(f"{ENDED_EARLY}: {measured} of {planned} planned trials were measured.")
    if run.plan.minutes is not None and not run.ended:
        found.append(_stopped(run.blocks))
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
        any(each.gate in FAILURES and each.withholds is None for each in item.findings)
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


def came_out(metric: str, ratio: Estimate) -> str:
    """Say what the same server against itself came out at."""
    return f"{METRICS[metric].title} {ratio.value:.3g}x [{ratio.low:.3g}, {ratio.high:.3g}]"


def _shares(failing: Mapping[str, tuple[int, int]]) -> str:
    """Say who failed how often, in as few words as there are different shares."""
    names: dict[str, list[str]] = {}
    for name, (failed, trials) in failing.items():
        share = "every trial" if failed == trials else f"{failed} of {trials} trials"
        names.setdefault(share, []).append(name)
    return "; ".join(f"in {share}: {', '.join(of)}" for share, of in names.items())


def _noise(aa: Mapping[str, Comparison], blocks: int, smallest: float) -> list[str]:
    """Say what the A/A arm shows of this machine, and what to do; nothing when all is well."""
    headline = aa[HEADLINE]
    if headline.ratio is None:
        text = (
            f"The check of this machine is missing: {headline.reference} needs at least two blocks "
            "in which both of its runs count. Give the run more blocks."
        )
        return [text]
    troubled = [aa[name] for name in (HEADLINE, "throughput") if not _passed(aa[name], smallest)]
    if not troubled:
        return []
    seen = " and ".join(
        came_out(each.metric, each.ratio) for each in troubled if each.ratio is not None
    )
    ratios = [each.ratio for each in troubled if each.ratio is not None]
    text = (
        f"Noisy machine: the same server against itself, {headline.reference} twice in every "
        f"block, came out at {seen}."
    )
    if any(half_width(ratio) > smallest for ratio in ratios):
        widest = max(map(reach, ratios))
        needed = [blocks_for_half_width(ratio, smallest, blocks) for ratio in ratios]
        enough = [number for number in needed if number is not None]
        more = f"About --blocks {max(enough)}, or a" if len(enough) == len(needed) else "Only a"
        text += (
            f" Differences below about {widest:.0%} cannot be seen in this run (wanted: "
            f"{percent(smallest)}); larger ones stand. {more} quieter machine would do."
        )
    else:
        text += (
            f" That is beyond the {LEAST_FLOOR:.0%} floor, so a difference of that size between "
            "profiles means nothing. Stop other work and run again."
        )
    if not told_apart(headline, smallest):
        text += f" {NOISY}"
    return [text]


def _stopped(blocks: int) -> str:
    """Say how a run of minutes is judged that was stopped, or is under way."""
    return (
        f"{counted(blocks, 'block')}, and the run has not ended by itself: what is open is "
        f"judged at {percent(STOPPED)} instead of {percent(END)}, since a run that "
        "somebody watches may be stopped at the moment that pleases."
    )


def _passed(aa: Comparison, smallest: float) -> bool:
    """Return whether *aa* needs no word: it passed, or its rows say why it is not there."""
    return aa.ratio is None or told_apart(aa, smallest)
