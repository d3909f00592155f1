"""
Two runs against each other: did a profile's ratio to its own run's reference change?

Absolute figures are never compared: between two runs the machine changed as well. Each run divides
by its own reference, block by block, and the two sets of log-ratios are independent samples, so
the interval of their difference is Welch's. The noise of both runs is in it; the floor is that of
both A/A arms.

Source: Welch, Biometrika 34 (1947).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lab.analysis.compare import LEAST_FLOOR, below, reach, verdict_of
from lab.analysis.health import gravest
from lab.analysis.machine import Facts, facts
from lab.analysis.stats import error_of, interval, smallest_found
from lab.analysis.summary import Summary
from lab.model.comparison import Estimate, Verdict, verdict_text
from lab.model.metric import METRICS, shown, with_ratio


@dataclass(frozen=True, slots=True)
class RunDifference:
    """How one ratio within a run changed from one run to another."""

    metric: str
    profile: str
    reference: str
    """Profile that *profile* is divided by in each run."""
    before: Estimate | None
    """profile / reference in the first run."""
    after: Estimate | None
    """The same in the second."""
    ratio: Estimate | None
    """after / before, with the smaller number of blocks; None where either is."""
    floor: float
    """Share below which a change is within the noise."""
    verdict: Verdict
    detectable: float | None = None
    """Smallest ratio above 1 that two such runs would find 4 times out of 5, but for the floor."""
    below: float | None = None
    """The smallest of 2, 3, 5 and 10 % that the change surely is below; None if it may be 10 %."""

    @property
    def verdict_text(self) -> str:
        """The verdict in words."""
        return verdict_text(self.verdict, self.below)


@dataclass(frozen=True, slots=True)
class Across:
    """What changed between two runs that may be compared."""

    before: Summary
    after: Summary
    changes: tuple[RunDifference, ...]
    """Every profile of both runs but the reference, by every metric; in the second's order."""

    @property
    def reference(self) -> str:
        """Name of the profile that every other is divided by."""
        return self.after.run.plan.reference

    @property
    def metrics(self) -> tuple[str, ...]:
        """By which changes are told."""
        return shown(self.after.run.plan.load)

    @property
    def machine(self) -> Facts:
        """Where the second run was made."""
        return facts(self.after.run.environments)

    @property
    def alone(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Profiles that are in the first run only, and in the second; in alphabetical order."""
        runs = (self.before.run, self.after.run)
        first, second = ({profile.name for profile in run.plan.profiles} for run in runs)
        return tuple(sorted(first - second)), tuple(sorted(second - first))

    @property
    def undecided(self) -> dict[str, tuple[int, float]]:
        """Metric -> how many changes are, and the smallest ratio that would have been found."""
        undecided = {}
        for metric in self.metrics:
            sizes = [
                run_difference.detectable * (1 + run_difference.floor)
                for run_difference in self.changes
                if run_difference.metric == metric
                and run_difference.verdict is Verdict.INCONCLUSIVE
                and run_difference.detectable is not None
            ]
            if sizes:
                undecided[metric] = len(sizes), min(sizes)
        return undecided

    @property
    def capped(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Profiles with which each run's generator was at its limit."""
        first, second = (
            tuple(row.profile.name for row in summary.rows if row.at_least("throughput"))
            for summary in (self.before, self.after)
        )
        return first, second

    @property
    def exit_code(self) -> int:
        """The graver of the two runs' own; 3 at the least where nothing could be compared."""
        nothing = all(change.ratio is None for change in self.changes)
        return gravest(self.before.exit_code, self.after.exit_code, 3 if nothing else 0)


def across(before: Summary, after: Summary) -> Across:
    """
    Compare two runs, which `lab.analysis.comparable` has let through.

    Args:
        before: The first run, such as the main branch's.
        after: The second, whose change is judged.
    """
    known = {profile.name for profile in before.run.plan.profiles}
    names = [profile.name for profile in after.run.plan.profiles if profile.name in known]
    reference = after.run.plan.reference
    pairs = [(name, reference) for name in names if name != reference]
    return Across(before, after, tuple(_changes(before, after, pairs, with_ratio())))


def change(
    before: Summary, after: Summary, metric: str, profile: str, reference: str
) -> RunDifference:
    """Return how the ratio of any two profiles changed, by one metric."""
    (run_difference,) = _changes(before, after, [(profile, reference)], [metric])
    return run_difference


def welch(before: Estimate, after: Estimate) -> tuple[Estimate, float]:
    """
    Return the ratio of two independent ratios, and what would have been found.

    Returns:
        after / before with its 95 % interval, and the smallest ratio above 1 that lies off 1
        4 times out of 5.
    """
    a, b = error_of(before) ** 2, error_of(after) ** 2
    error = math.sqrt(a + b)
    # Without any spread every number of degrees gives the same interval, which is a point.
    degrees = (a + b) ** 2 / (a**2 / (before.n - 1) + b**2 / (after.n - 1)) if error else 1.0
    centre = math.log(after.value / before.value)
    n = min(before.n, after.n)
    return interval(centre, error, degrees, n), smallest_found(error, degrees)


def combined_floor(before: float, after: float) -> float:
    """Return the floor of a comparison across runs, from what both A/A arms reach."""
    return max(LEAST_FLOOR, math.hypot(before, after))


def _changes(
    before: Summary,
    after: Summary,
    pairs: Sequence[tuple[str, str]],
    metrics: Sequence[str],
) -> Iterator[RunDifference]:
    for profile, reference in pairs:
        for metric in metrics:
            floor = combined_floor(_noise(before, metric), _noise(after, metric))
            sides = [
                summary.compare_whole(metric, profile, reference) for summary in (before, after)
            ]
            old, new = (side.ratio for side in sides)
            bound = any(side.may_be is not None for side in sides)
            run_difference = RunDifference(
                metric, profile, reference, old, new, None, floor, Verdict.INVALID
            )
            if old is not None and new is not None:
                ratio, detectable = welch(old, new)
                verdict = verdict_of(ratio.low, ratio.high, floor, METRICS[metric].better)
                run_difference = replace(
                    run_difference,
                    ratio=ratio,
                    verdict=verdict,
                    detectable=detectable,
                    below=None if bound else below(ratio),
                )
            yield run_difference


def _noise(summary: Summary, metric: str) -> float:
    """Return how far the A/A arm reaches; the least floor where there is none."""
    ratio = summary.aa[metric].ratio
    return reach(ratio) if ratio is not None else LEAST_FLOOR
