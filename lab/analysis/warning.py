"""What a reader of a run must know before any number, with its figures; words are the report's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.model.comparison import Estimate


@dataclass(frozen=True, slots=True)
class RunWarning:
    """One of those below: its class is its kind."""


@dataclass(frozen=True, slots=True)
class NeverStarted(RunWarning):
    """No server of these gave a correct reply."""

    profiles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failing(RunWarning):
    """Servers died, or failed so many requests that nothing of a trial counts."""

    failed: Mapping[str, tuple[int, int]]
    """Profile -> in how many trials, and of how many."""


@dataclass(frozen=True, slots=True)
class NothingCompared(RunWarning):
    """Fewer than two profiles have a trial that counts."""


@dataclass(frozen=True, slots=True)
class SharedCeiling(RunWarning):
    """Profiles that work differently reach the same throughput."""

    profiles: tuple[str, ...]
    """By their throughput."""

    spread: float
    """Share by which the fastest is above the slowest."""

    cpu: tuple[float, float] | None
    """Least and most seconds a request; None where they were never read."""


@dataclass(frozen=True, slots=True)
class NoiseUnknown(RunWarning):
    """The reference has too few blocks in which both of its runs count."""

    reference: str


@dataclass(frozen=True, slots=True)
class Noise(RunWarning):
    """The same server twice is further apart than wanted."""

    reference: str
    """Profile that ran twice; "" for all values of a sweep together."""

    seen: Mapping[str, Estimate]
    """Metric -> what the second run over the first came out at."""

    smallest: float
    """Share that was to be seen."""

    reach: float
    """The noise: share below which nothing can be seen."""

    blocks: int | None
    """That would be enough; None where no number is known to be."""

    decides: bool
    """Whether the exit status stands for it."""

    apart: bool = False
    """Whether the two surely differ, where none of the intervals is too wide."""


@dataclass(frozen=True, slots=True)
class EndedEarly(RunWarning):
    """Not all that was planned was measured."""

    measured: int
    planned: int
    """Trials."""


@dataclass(frozen=True, slots=True)
class NotEnded(RunWarning):
    """A run of minutes was stopped, or is under way."""

    blocks: int


@dataclass(frozen=True, slots=True)
class OtherWork(RunWarning):
    """Profiles did not do the same work for a reply."""

    work: str
    """The reading that says so."""

    per_reply: Mapping[str, float]
    """Profile -> its median."""
