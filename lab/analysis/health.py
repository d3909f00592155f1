"""
Can this run be trusted at all: the banners that a report opens with, and its exit status.

The reference ran twice in every block. Whatever its second run differs by is what this machine,
during this run, does to two identical servers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lab.analysis.compare import LEAST_FLOOR, MOST_SAME
from lab.analysis.stats import blocks_for_half_width, half_width
from lab.model import METRICS, Comparison, Run

HEADLINE = "cpu"
"""The metric that decides the exit status: throughput of a shared machine is its neighbours'."""

WIDEST = MOST_SAME
"""Half-width of the A/A interval above which most settings are smaller than the noise."""


def banners(
    run: Run,
    aa: Mapping[str, Comparison],
    unstarted: Sequence[str],
    measurable: Sequence[str],
    progress: tuple[int, int],
) -> tuple[str, ...]:
    """
    Return what must be read before any number, gravest first.

    Args:
        run: The run.
        aa: The A/A comparisons by metric.
        unstarted: Profiles whose server never started.
        measurable: Profiles with at least one trial that the headline metric can be read from.
        progress: Slots with a trial, and planned slots.
    """
    found = []
    if unstarted:
        found.append(
            f"Never started: {', '.join(unstarted)}. The reason is below; see also the server's "
            "own message with: lab run " + unstarted[0]
        )
    if len(run.plan.profiles) > 1 and len(measurable) < 2:
        found.append(
            "Nothing can be compared: fewer than two profiles have a trial that counts. "
            "The reasons are below."
        )
    for metric in (HEADLINE, "throughput"):
        trouble = _aa_trouble(aa[metric], METRICS[metric].title, metric == HEADLINE)
        if trouble is not None:
            found.append(trouble)
    measured, planned = progress
    if measured < planned:
        found.append(f"Ended early: {measured} of {planned} planned trials were measured.")
    if len({trial.environment for trial in run.trials}) > 1:
        found.append(
            "The machine or its software changed during the run, so its blocks are not alike: "
            "run it again."
        )
    return tuple(found)


def exit_code(
    aa: Mapping[str, Comparison],
    unstarted: Sequence[str],
    measurable: Sequence[str],
    profiles: int,
) -> int:
    """Return 1 when a server never started, 3 when this machine could not measure, else 0."""
    if unstarted:
        return 1
    if len(measurable) < min(2, profiles) or not told_apart(aa[HEADLINE]):
        return 3
    return 0


def told_apart(aa: Comparison) -> bool:
    """
    Return whether the A/A comparison passed.

    It fails when it could not be made, when its interval lies wholly beyond the 2 % floor, or
    when it reaches further than 5 % to each side.
    """
    return aa.ratio is not None and not _differs(aa) and half_width(aa.ratio) <= WIDEST


def _aa_trouble(aa: Comparison, title: str, headline: bool) -> str | None:
    """Say what is wrong with the A/A arm, and what to do; None when nothing is."""
    if aa.ratio is None:
        if not headline:  # withheld values: the rows say why
            return None
        return (
            f"{title}: the check of this machine is missing. {aa.reference} needs at least two "
            "blocks in which both of its runs count; give the run more blocks."
        )
    if told_apart(aa):
        return None
    ratio = aa.ratio
    seen = f"{ratio.value:.3g}x [{ratio.low:.3g}, {ratio.high:.3g}] over {ratio.n} blocks"
    if half_width(ratio) > WIDEST:
        needed = blocks_for_half_width(ratio, WIDEST)
        return (
            f"{title}: this machine could not tell two identical servers apart. {aa.reference} "
            f"ran twice in every block, and its second run was {seen}: to within "
            f"{half_width(ratio):.0%}, where {WIDEST:.0%} is wanted. That would take about "
            f"{needed:,} blocks (--blocks {needed}) of this noise, or a quieter machine: stop "
            "other work and run again."
        )
    return (
        f"{title}: two runs of the same server differ on this machine. The second run of "
        f"{aa.reference} in every block was {seen}, beyond the {LEAST_FLOOR:.0%} floor, so a "
        "difference of that size between profiles means nothing. Stop other work and run again."
    )


def _differs(aa: Comparison) -> bool:
    if aa.ratio is None:
        return False
    return aa.ratio.low > 1 + LEAST_FLOOR or aa.ratio.high < 1 / (1 + LEAST_FLOOR)
