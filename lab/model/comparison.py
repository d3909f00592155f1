"""The comparison of two profiles: ratio, confidence interval and verdict."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from lab.model.metric import METRICS
from lab.model.plan import Better, Role

BELOW = (0.02, 0.03, 0.05, 0.10)
"""Sizes of a change that people ask for: a setting that moves less is mostly left alone."""


class Verdict(enum.StrEnum):
    """The result of a comparison."""

    BETTER = "better"
    WORSE = "worse"
    NO_DIFFERENCE = "no difference"
    """The whole interval lies within the noise."""
    INCONCLUSIVE = "inconclusive"
    INVALID = "invalid"
    """Too few valid trials of one side."""

    @property
    def differs(self) -> bool:
        """Whether it is better or worse."""
        return self in (Verdict.BETTER, Verdict.WORSE)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A ratio with its confidence interval."""

    value: float
    low: float
    """Lower end of the interval; *high* is the upper one."""
    high: float
    n: int
    """Number of blocks."""
    level: float = 0.95
    """Confidence level: the share of such intervals that contain the true ratio."""


def verdict_text(verdict: Verdict, below: float | None) -> str:
    """
    Return *verdict* as text; "no difference" with the size of the change that is excluded.

    >>> verdict_text(Verdict.INCONCLUSIVE, 0.05)
    'no difference (< 5%)'
    """
    if verdict.differs or below is None:
        return verdict.value
    return f"{Verdict.NO_DIFFERENCE} (< {below:.0%})"


class MayBe(enum.StrEnum):
    """In which direction a true ratio may differ, if the load generator saturated."""

    LARGER = "larger"
    """It saturated with the changed profile."""
    SMALLER = "smaller"
    """It saturated with the reference."""
    EITHER = "larger or smaller"
    """It saturated with both."""

    def ends(self, ratio: Estimate) -> tuple[float, float]:
        """Return the least and the largest true ratio, given the measured one."""
        low = ratio.low if self is MayBe.LARGER else 0.0
        return low, ratio.high if self is MayBe.SMALLER else math.inf


def at_limit(limited: str | None, may_be: MayBe) -> str:
    """Return the caveat of a ratio whose load generator saturated; *limited* None: both sides."""
    return f"{limited or 'both'} saturated the load generator: the ratio may be {may_be}"


@dataclass(frozen=True, slots=True)
class Between:
    """The ends of a ratio that cannot be measured itself; None: unknown."""

    low: float | None
    """Lower end of the interval of the least ratio."""
    high: float | None
    """Upper end of the interval of the largest ratio."""
    n: int
    """Number of blocks."""
    level: float
    """Confidence level of both intervals."""

    def __str__(self) -> str:
        """
        Return the known ends.

        >>> print(Between(0.551, 0.926, 10, 0.95), Between(None, 0.926, 10, 0.95), sep=", ")
        between 0.551x and 0.926x, at most 0.926x
        """
        if self.low is None or self.high is None:
            return f"at most {self.high:.3g}x" if self.low is None else f"at least {self.low:.3g}x"
        return f"between {self.low:.3g}x and {self.high:.3g}x"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The ratio of a profile to its reference, paired by block."""

    metric: str
    reference: str
    changed: str
    verdict: Verdict
    ratio: Estimate | None
    """changed / reference; None: fewer than two valid pairs."""

    detectable: float | None = None
    """Smallest ratio above 1 that these blocks distinguish from 1 in 4 of 5 runs. A verdict needs
    this ratio times (1 + the floor of the metric)."""

    blocks_needed: int | None = None
    """About how many blocks would decide it; None unless inconclusive."""

    fragile: bool = False
    """Whether a rank-based estimate has another verdict; always False for a trimmed mean."""

    may_be: MayBe | None = None
    """How the true ratio may differ because the load generator saturated; None if it did not, or
    if the metric does not depend on it."""

    below: float | None = None
    """The smallest of 2, 3, 5 and 10 % that contains the whole interval around 1; None if 10 % does
    not, and with *may_be*."""

    both: bool | None = None
    """True if the reference is both of its trials in a block, and the ratio a trimmed mean; absent
    if the reference is its first trial."""

    between: Between | None = None
    """The ratio of throughputs if server and load share cores; *ratio* is then None."""

    floor: float | None = None
    """Share below which a change is within the noise; None: unknown."""

    @property
    def ends(self) -> tuple[float, float] | None:
        """The least and the largest ratio that may be true; None: unknown."""
        if self.between is not None:
            low, high = self.between.low, self.between.high
            return 0.0 if low is None else low, math.inf if high is None else high
        if self.ratio is None:
            return None
        measured = (self.ratio.low, self.ratio.high)
        return measured if self.may_be is None else self.may_be.ends(self.ratio)

    @property
    def no_gain(self) -> float | None:
        """
        The smallest of 0, 2, 3, 5 and 10 % that a gain is below; None if a gain may be 10 %.

        None as well unless it is inconclusive: whether it is worse is not known then.

        >>> estimate = Estimate(0.92, 0.81, 1.04, 9)
        >>> Comparison("throughput", "a", "b", Verdict.INCONCLUSIVE, estimate).verdict_text
        'gain < 5%, loss possible'
        """
        if self.verdict is not Verdict.INCONCLUSIVE or self.below is not None or self.ends is None:
            return None
        low, high = self.ends
        higher = METRICS[self.metric].better is Better.HIGHER
        most = high if higher else 1 / low if low else math.inf
        return next((size for size in (0.0, *BELOW) if most <= 1 + size), None)

    @property
    def gain_text(self) -> str:
        """How small a gain is, if `no_gain` is known; empty otherwise."""
        if self.no_gain is None:
            return ""
        return f"gain < {self.no_gain:.0%}" if self.no_gain else "no gain"

    @property
    def verdict_text(self) -> str:
        """The verdict as text."""
        if self.gain_text:
            return f"{self.gain_text}, loss possible"
        return verdict_text(self.verdict, self.below)

    @property
    def bound(self) -> str:
        """The prefix of a ratio that is a bound of the true one; empty if it is not."""
        bounds = {MayBe.LARGER: "at least ", MayBe.SMALLER: "at most "}
        return "" if self.may_be is None else bounds.get(self.may_be, "")

    @property
    def limited(self) -> str | None:
        """The profile with which the load generator saturated; None: both, or none."""
        sides = {MayBe.LARGER: self.changed, MayBe.SMALLER: self.reference}
        return None if self.may_be is None else sides.get(self.may_be)

    @property
    def caveat(self) -> str:
        """The caveat if the load generator saturated; empty otherwise."""
        return "" if self.may_be is None else at_limit(self.limited, self.may_be)


@dataclass(frozen=True, slots=True)
class Departure:
    """An arm that leaves a run early, because all its comparisons are decided."""

    arm: str
    role: Role
    blocks: int
    """Number of blocks in which it took part."""
    comparison: Comparison
    """With the profile before it, by the first metric."""
    last: bool = False
    """Whether no comparison is left, so that the run ends."""

    def __str__(self) -> str:
        """
        Return why it leaves.

        >>> comparison = Comparison("cpu", "a", "b", Verdict.WORSE, Estimate(2.25, 2.1, 2.4, 6))
        >>> print(Departure("b", Role.PROFILE, 6, comparison))
        b: decided after 6 blocks (2.25x); its time goes to the others
        """
        ratio, below = self.comparison.ratio, self.comparison.below
        size = "" if ratio is None else f"{ratio.value:.2f}x"
        if below is not None and not self.comparison.verdict.differs:
            size = f"below {below:.0%}"
        then = "the run ends" if self.last else "its time goes to the others"
        return f"{self.arm}: decided after {self.blocks} blocks ({size}); {then}"
