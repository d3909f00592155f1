"""What is concluded: findings, comparisons, causes and decisions."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Literal

from lab.model.asked import CounterRun, Role


@dataclass(frozen=True, slots=True)
class Finding:
    """A gate that fired: why a trial does not count, and what to do about it."""

    gate: str
    reason: str
    advice: str
    withholds: frozenset[str] | None = None
    """Names of the metrics that it makes meaningless; None for all of them."""

    outside: bool = False
    """Whether the cause lies outside the experiment, so that the trial may be repeated."""


class Verdict(enum.StrEnum):
    """What a comparison allows to be said."""

    FASTER = "better"
    SLOWER = "worse"
    SAME = "same"
    """The whole interval lies within the floor."""
    UNDECIDED = "undecided"
    INVALID = "invalid"
    """Too few valid trials of one side."""


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


def worded(verdict: Verdict, below: float | None) -> str:
    """
    Return *verdict* in words; one that is open says how small the change is at the most.

    >>> worded(Verdict.UNDECIDED, 0.05)
    'undecided, but below 5%'
    """
    if verdict is not Verdict.UNDECIDED or below is None:
        return verdict.value
    return f"{verdict.value}, but below {below:.0%}"


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
    """Whether a rank-based estimate disagrees with the mean."""

    may_be: MayBe | None = None
    """What else the true ratio may be, since the generator was at its limit; None where it was
    not, and where the metric does not depend on the generator."""

    below: float | None = None
    """The smallest of 2, 3, 5 and 10 % that the true ratio is nearer to 1 than: its whole interval
    lies within that share; None where it does not lie within 10 %, and with *may_be*."""

    between: Between | None = None
    """In place of *ratio* where server and load had cores in common, and this is throughput."""

    @property
    def said(self) -> str:
        """The verdict in words."""
        return worded(self.verdict, self.below)

    @property
    def bound(self) -> str:
        """What stands before a ratio that is a bound of the true one; empty where it is none."""
        bounds = {MayBe.LARGER: "at least ", MayBe.SMALLER: "at most "}
        return "" if self.may_be is None else bounds.get(self.may_be, "")

    @property
    def caveat(self) -> str:
        """What is to be said of a ratio whose throughput is a lower bound; empty otherwise."""
        if self.may_be is None:
            return ""
        sides = {MayBe.LARGER: self.changed, MayBe.SMALLER: self.reference, MayBe.EITHER: "both"}
        return f"{sides[self.may_be]} at the generator's limit: the ratio may be {self.may_be}"


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

        >>> found = Comparison("cpu", "a", "b", Verdict.SLOWER, Estimate(2.25, 2.1, 2.4, 6))
        >>> print(Departure("b", Role.PROFILE, 6, found))
        b: decided after 6 blocks (2.25x); its time goes to the others
        """
        ratio, below = self.comparison.ratio, self.comparison.below
        said = "" if ratio is None else f"{ratio.value:.2f}x"
        if below is not None and self.comparison.verdict in (Verdict.UNDECIDED, Verdict.SAME):
            said = f"below {below:.0%}"
        then = "the run ends" if self.last else "its time goes to the others"
        return f"{self.arm}: decided after {self.blocks} blocks ({said}); {then}"


@dataclass(frozen=True, slots=True)
class Cause:
    """What limited one trial."""

    name: str
    """See `lab.analysis.diagnose`: "router", "accept queue", "server CPU", ..."""

    evidence: str
    """The readings that show it, with their numbers."""

    rules_out: str = ""
    """What speaks against the other causes, with numbers."""


class Standing(enum.StrEnum):
    """How far a cause is proved."""

    CONSISTENT = "consistent with"
    """The readings fit; nothing was toggled, or the result is undecided."""
    CONFIRMED = "cause"
    """With the one setting toggled the metric moved as predicted, beyond the noise."""
    WITHDRAWN = "withdrawn"
    """With the one setting toggled the metric stayed where it was, or moved the other way."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A cause over the trials of one profile."""

    profile: str
    cause: Cause
    """As one of its trials shows it: the one in the middle."""
    trials: int
    """Trials that show it."""
    of: int
    """Trials that could."""
    standing: Standing
    counter: CounterRun | None = None
    effect: Comparison | None = None
    """The counter-run over the profile itself, by the counter-run's metric."""


class Decision(enum.StrEnum):
    """What a run, or a test, says to a published claim."""

    REPRODUCED = "reproduced"
    """The interval holds the published effect, or lies beyond it, and excludes none."""
    SMALLER = "smaller"
    """An effect in the claimed direction, beyond the noise, and below the published one."""
    NONE = "none"
    """The published effect is excluded, and no other can be told from the noise."""
    REVERSED = "reversed"
    """An effect in the other direction, beyond the noise."""
    UNDECIDED = "undecided"
    """Both the published effect and none are possible."""
    UNTESTABLE = "untestable"
    """For the reason given."""
    TRUE = "true"
    """By a test: as the article says."""
    FALSE = "false"
    """By a test: otherwise."""

    @property
    def is_open(self) -> bool:
        """Whether it leaves a claim open."""
        return self in (Decision.UNDECIDED, Decision.UNTESTABLE)


@dataclass(frozen=True, slots=True)
class Inaction:
    """How a run shows that an option does nothing: what it should do is counted, and never done."""

    option: str
    """Of the changed profile: seconds after which it acts, shorter than the run's windows."""
    metric: str
    """A count of what the option does: 0 for the changed profile."""
    witness: str
    """Profile for which it is not 0, so that the count is known to work."""
    sentence: str
    """What to say then; {window}, {limit} (the option's value) and {count} (the witness's) stand
    for the figures."""


@dataclass(frozen=True, slots=True)
class Article:
    """Where claims were published; what is not known of it is None."""

    title: str
    year: int | None = None
    author: str | None = None
    address: str | None = None

    @property
    def cited(self) -> str:
        """Title, and author and year where they are known."""
        known = ", ".join(map(str, filter(None, (self.author, self.year))))
        return f'"{self.title}"' + (f" ({known})" if known else "")


@dataclass(frozen=True, slots=True)
class Claim:
    """What an article says, in our words, and the comparison or the test that decides it."""

    id: str
    source: str
    """Short name of the article."""
    text: str
    workload: str = ""
    reference: str = ""
    """Profile."""
    changed: str = ""
    """Profile."""
    metric: str = "throughput"
    published: tuple[float, float] | None = None
    """The article's figures, reference first; None where it shows a chart only."""
    ratio: float | None = None
    """changed / reference as published."""
    direction: str | None = None
    """Where no ratio is published: "above", "below" or "same"."""
    note: str = ""
    inaction: Inaction | None = None
    """Where the article praises an option that can be counted at work."""
    cores: int | None = None
    """Server cores that a run must have at the least to say anything to it."""
    connections: int | None = None
    """The same of the load's connections."""
    version: str | None = None
    """The same of a server or distribution, after its name: "uwsgi 2.0.20"."""
    variable: str | None = None
    """Names a server of the user's that has to be asked, as nothing that the lab starts is one."""
    rate: Literal["equal"] | None = None
    """Whether only an open loop decides it, in which all servers are asked at one rate."""
    kind: Literal["ratio", "fact"] = "ratio"
    """What decides it: a comparison, or a test that answers yes or no."""
    test: str | None = None
    """What decides a fact, or a direction of which there is no run: a test, as pytest names it."""
    holds: bool | None = None
    """What its test finds."""
    needs: tuple[str, ...] = ()
    """Of a fact without a test: what a test takes, as in `ClaimVerdict.takes`."""
    article: Article | None = None
    """Where it was published: the article *source*."""

    @property
    def stated(self) -> str:
        """The article's figure, a ratio or a direction; and its metric, if not throughput."""
        if self.kind == "fact":
            return "a fact"
        said = "no difference" if self.direction == "same" else f"{self.direction} 1"
        if self.ratio is not None:
            said = f"{self.ratio:.2f}x"
        return said if self.metric == "throughput" else f"{said}, {self.metric}"


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """A claim, decided by one run or by its test."""

    claim: Claim
    decision: Decision
    sentence: str
    """Why, in one sentence with its figures."""
    run: str | None = None
    """Name of the run that decided it."""
    load: str = ""
    """That run's load, for people."""
    comparison: Comparison | None = None
    cause: str = ""
    """What limited the two sides there: the diagnosis' name and standing."""
    takes: tuple[str, ...] = ()
    """What would decide it, where this does not: "profile x", "workload y", or in more words."""
    banners: tuple[str, ...] = ()
    """What that run's report warns of above its tables: whoever quotes the run says it, too."""
    machine: str = ""
    """That run's processor and its cores, for people."""

    @property
    def tested(self) -> bool:
        """Whether a run or a test says anything to the claim."""
        return self.run is not None or self.claim.holds is not None
