"""What is published, and what a run says to it."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Literal

from lab.model.comparison import Comparison
from lab.model.warning import RunWarning


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
    lacks: tuple[str, ...] = ()
    """Those of them that are a profile or a workload, which the lab does not have."""
    warnings: tuple[RunWarning, ...] = ()
    """What that run's report warns of above its tables: whoever quotes the run says it, too."""
    machine: str = ""
    """That run's processor and its cores, for people."""

    @property
    def tested(self) -> bool:
        """Whether a run or a test says anything to the claim."""
        return self.run is not None or self.claim.holds is not None
