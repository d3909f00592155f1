"""How two sides compare: the ratio, its interval, and the verdict."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from lab.model.plan import Role


class Verdict(enum.StrEnum):
    """What a comparison allows to be said."""

    BETTER = "better"
    WORSE = "worse"
    NO_DIFFERENCE = "no difference"
    """The whole interval lies within the noise."""
    INCONCLUSIVE = "inconclusive"
    INVALID = "invalid"
    """Too few valid trials of one side."""

    @property
    def differs(self) -> bool:
        """Whether the two sides are told apart: better, or worse."""
        return self in (Verdict.BETTER, Verdict.WORSE)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A ratio with its confidence interval."""

    value: float
    low: float
    """Of the interval."""
    high: float
    n: int
    """Blocks."""
    level: float = 0.95
    """Of the interval: the share of such intervals that hold the true ratio."""


def verdict_text(verdict: Verdict, below: float | None) -> str:
    """
    Return *verdict* in words; without a difference, with the size of the change that is excluded.

    >>> verdict_text(Verdict.INCONCLUSIVE, 0.05)
    'no difference (< 5%)'
    """
    if verdict.differs or below is None:
        return verdict.value
    return f"{Verdict.NO_DIFFERENCE} (< {below:.0%})"


class MayBe(enum.StrEnum):
    """Where a true ratio may lie, if the generator's limit kept a profile from being faster."""

    LARGER = "larger"
    """The changed profile was kept."""
    SMALLER = "smaller"
    """The reference was kept."""
    EITHER = "larger or smaller"
    """Both were kept."""

    def ends(self, ratio: Estimate) -> tuple[float, float]:
        """Return between what the true ratio lies, by the interval of the one that was measured."""
        low = ratio.low if self is MayBe.LARGER else 0.0
        return low, ratio.high if self is MayBe.SMALLER else math.inf


def at_limit(limited: str | None, may_be: MayBe) -> str:
    """Say of a ratio that it is a bound, since *limited* was kept; None for both sides."""
    return f"{limited or 'both'} saturated the load generator: the ratio may be {may_be}"


@dataclass(frozen=True, slots=True)
class Between:
    """Ends of a ratio that cannot be measured itself; None for an end that is not known."""

    low: float | None
    """Of the interval of the lower end."""
    high: float | None
    """Of the interval of the upper end."""
    n: int
    """Blocks."""
    level: float
    """Of both intervals."""

    def __str__(self) -> str:
        """
        Say where the ratio lies.

        >>> print(Between(0.551, 0.926, 10, 0.95), Between(None, 0.926, 10, 0.95), sep=", ")
        between 0.551x and 0.926x, at most 0.926x
        """
        if self.low is None or self.high is None:
            return f"at most {self.high:.3g}x" if self.low is None else f"at least {self.low:.3g}x"
        return f"between {self.low:.3g}x and {self.high:.3g}x"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Ratio of a profile to the one it is against, paired by block."""

    metric: str
    reference: str
    changed: str
    verdict: Verdict
    ratio: Estimate | None
    """changed / reference; None with fewer than two valid pairs."""

    detectable: float | None = None
    """Smallest ratio above 1 that so many blocks would tell from 1, 4 times out of 5; a verdict
    needs it times 1 + the metric's floor."""

    blocks_needed: int | None = None
    """About how many blocks would decide it; None unless undecided."""

    fragile: bool = False
    """Whether a rank-based estimate disagrees with the mean; never with a trimmed one."""

    may_be: MayBe | None = None
    """What else the true ratio may be, since the generator was at its limit; None where it was
    not, and where the metric does not depend on the generator."""

    below: float | None = None
    """The smallest of 2, 3, 5 and 10 % that the true ratio is nearer to 1 than: its whole interval
    lies within that share; None where it does not lie within 10 %, and with *may_be*."""

    both: bool | None = None
    """True where the ratio is a trimmed mean of those to both trials of the reference in a block,
    or to the one that counts; absent where it is to its first trial."""

    between: Between | None = None
    """In place of *ratio* where server and load had cores in common, and this is throughput."""

    @property
    def verdict_text(self) -> str:
        """The verdict in words."""
        return verdict_text(self.verdict, self.below)

    @property
    def bound(self) -> str:
        """What stands before a ratio that is a bound of the true one; empty where it is none."""
        bounds = {MayBe.LARGER: "at least ", MayBe.SMALLER: "at most "}
        return "" if self.may_be is None else bounds.get(self.may_be, "")

    @property
    def limited(self) -> str | None:
        """The profile that the generator kept from being faster; None for both, and for none."""
        sides = {MayBe.LARGER: self.changed, MayBe.SMALLER: self.reference}
        return None if self.may_be is None else sides.get(self.may_be)

    @property
    def caveat(self) -> str:
        """What is to be said of a ratio whose throughput is a lower bound; empty otherwise."""
        return "" if self.may_be is None else at_limit(self.limited, self.may_be)


@dataclass(frozen=True, slots=True)
class Departure:
    """An arm that leaves a run before its end: all comparisons that it is in have ended."""

    arm: str
    role: Role
    blocks: int
    """How many it was in the run for."""
    comparison: Comparison
    """With the profile that it is a step from, by the metric that comes first."""
    last: bool = False
    """Whether nothing is open any more, so that the run ends."""

    def __str__(self) -> str:
        """
        Say why it leaves.

        >>> found = Comparison("cpu", "a", "b", Verdict.WORSE, Estimate(2.25, 2.1, 2.4, 6))
        >>> print(Departure("b", Role.PROFILE, 6, found))
        b: decided after 6 blocks (2.25x); its time goes to the others
        """
        ratio, below = self.comparison.ratio, self.comparison.below
        said = "" if ratio is None else f"{ratio.value:.2f}x"
        if below is not None and not self.comparison.verdict.differs:
            said = f"below {below:.0%}"
        then = "the run ends" if self.last else "its time goes to the others"
        return f"{self.arm}: decided after {self.blocks} blocks ({said}); {then}"
