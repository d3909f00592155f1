"""What is published, and what a run says to it."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from lab.model.comparison import Comparison
from lab.model.notice import Notice

FIGURE = 0.25
"""
A printed figure stands for effects within so much of its own: 39 % more for 29 to 49 % more.

The article's figure is of one run on another machine, and has no interval of its own.
"""


class Decision(enum.StrEnum):
    """What came of a published claim: see `OUTCOMES`."""

    REPRODUCED = "reproduced"
    LARGER = "larger"
    SMALLER = "smaller"
    NOT_SEEN = "not seen"
    OPPOSITE = "opposite"
    OUTDATED = "true then, outdated"
    INCONCLUSIVE = "inconclusive"
    UNTESTABLE = "cannot be tested here"
    NO_RUN = "no run yet"

    @property
    def is_open(self) -> bool:
        """Whether it leaves a claim open."""
        return self in (Decision.INCONCLUSIVE, Decision.UNTESTABLE, Decision.NO_RUN)


OUTCOMES: Mapping[Decision, str] = {
    Decision.REPRODUCED: "The interval contains the article's figure or what its word stands for, "
    "or a test confirms the claim.",
    Decision.LARGER: "The effect exists and is larger; two systems that the article calls alike "
    "are further apart.",
    Decision.SMALLER: "The effect exists and is smaller.",
    Decision.NOT_SEEN: "An effect of that size is excluded and the opposite is not shown, or a "
    "test finds that the claim does not hold.",
    Decision.OPPOSITE: "The effect goes in the other direction, outside the noise.",
    Decision.OUTDATED: "The author found it in versions that are gone; it is not so today.",
    Decision.INCONCLUSIVE: "The run allows more than one of these, or its figures do not count.",
    Decision.UNTESTABLE: "It needs something that this lab does not have.",
    Decision.NO_RUN: "The lab can test it, and there is no run at that load.",
}
"""What each outcome means, in one sentence."""


@dataclass(frozen=True, slots=True)
class Band:
    """What a word without a figure stands for, as changed / reference; fixed for all claims."""

    reading: str
    """Why so, for people: a clause."""
    low: float | None = None
    high: float | None = None

    @property
    def limits(self) -> tuple[float, float]:
        """Smallest and largest ratio; 0 and infinity where there is none."""
        return self.low or 0.0, math.inf if self.high is None else self.high

    def __str__(self) -> str:
        if self.low is None:
            return f"at most {self.high:g} times"
        if self.high is None:
            return f"at least {self.low:g} times"
        return f"{self.low:g} to {self.high:g} times"


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
    direction: Literal["above", "below"] | None = None
    """Where neither a ratio nor a word for one is published."""
    band: str | None = None
    """The article's word for the size, which decides before a ratio does."""
    note: str = ""
    caveat: str = ""
    """What the author himself says against it, in our words."""
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
    """What its test finds today."""
    outdated: str | None = None
    """Of a fact that does not hold: what has changed since the article, for people."""
    untestable: str | None = None
    """Of a fact without a test: why this lab has none, for people."""
    article: Article | None = None
    """Where it was published: the article *source*."""
    meaning: Band | None = None
    """What the word *band* stands for."""

    @property
    def limits(self) -> tuple[float, float]:
        """Smallest and largest changed / reference that is what the article says."""
        if self.meaning is not None:
            return self.meaning.limits
        if self.ratio is None:
            return (0.0, 1.0) if self.direction == "below" else (1.0, math.inf)
        gain = max(self.ratio, 1 / self.ratio) - 1
        least, most = 1 + (1 - FIGURE) * gain, 1 + (1 + FIGURE) * gain
        return (least, most) if self.ratio >= 1 else (1 / most, 1 / least)

    @property
    def of_nearness(self) -> bool:
        """Whether it says that two are alike, and not that one is ahead."""
        least, most = self.limits
        return least < 1 < most

    @property
    def stated(self) -> str:
        """The article's word, figure or direction; and its metric, if not throughput."""
        if self.kind == "fact":
            return "a fact"
        statement = f"{self.direction} 1"
        if self.ratio is not None:
            statement = f"{self.ratio:.2f}x"
        if self.band is not None:
            statement = f'"{self.band}"' + ("" if self.ratio is None else f" ({statement})")
        return statement if self.metric == "throughput" else f"{statement}, {self.metric}"


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
    """What limited the sides there, where a counter-run has shown it: the diagnosis' name."""
    uncounted: str = ""
    """Where its figures do not count: what the article's own tool would have printed."""
    takes: tuple[str, ...] = ()
    """What would decide it, where this does not: "profile x", "workload y", or in more words."""
    lacks: tuple[str, ...] = ()
    """Those of them that are a profile or a workload, which the lab does not have."""
    warnings: tuple[Notice, ...] = ()
    """What that run's report warns of above its tables: whoever quotes the run says it, too."""
    machine: str = ""
    """That run's processor and its cores, for people."""

    @property
    def tested(self) -> bool:
        """Whether a run or a test says anything to the claim."""
        return self.run is not None or self.claim.holds is not None
