"""
Warnings: the notices that a reader of a run must know before any number.

`lab.analysis.same_work.OtherWork` is one more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.analysis.compare import LEAST_FLOOR
from lab.analysis.looks import STOPPED
from lab.model.comparison import Estimate
from lab.model.metric import METRICS
from lab.model.notice import Means, Notice, Remedy
from lab.model.numbers import percent, share
from lab.model.wording import counted


@dataclass(frozen=True, slots=True)
class NeverStarted(Notice):
    """No server of these gave a correct reply."""

    profiles: tuple[str, ...]

    def sentence(self) -> str:
        return f"Did not start: {', '.join(self.profiles)}."


@dataclass(frozen=True, slots=True)
class Failing(Notice):
    """Servers died, or failed so many requests that nothing of a trial counts."""

    failed: Mapping[str, tuple[int, int]]
    """Profile -> in how many trials, and of how many."""

    def sentence(self) -> str:
        return (
            f"Failed {self._shares()}. The server did not start, died, or failed so many "
            "requests that the trial is invalid."
        )

    def _shares(self) -> str:
        """Return who failed how often, in as few words as there are different shares."""
        names: dict[str, list[str]] = {}
        for name, (times, trials) in self.failed.items():
            share = "every trial" if times == trials else f"{times} of {trials} trials"
            names.setdefault(share, []).append(name)
        return "; ".join(f"in {share}: {', '.join(of)}" for share, of in names.items())


@dataclass(frozen=True, slots=True)
class NothingCompared(Notice):
    """Fewer than two profiles have a trial that counts."""

    early: bool = False
    """Whether the run ended early, so that more blocks may help."""

    def sentence(self) -> str:
        remedy = "" if self.early else " More blocks will not help."
        return f"Nothing can be compared: fewer than two profiles have a valid trial.{remedy}"


@dataclass(frozen=True, slots=True)
class SharedCeiling(Notice):
    """Profiles that work differently reach the same throughput."""

    profiles: tuple[str, ...]
    """By their throughput."""

    spread: float
    """Share by which the fastest is above the slowest."""

    cpu: tuple[float, float] | None
    """Least and most seconds a request; None where they were never read."""

    def sentence(self) -> str:
        work = ""
        if self.cpu is not None:
            least, most = (seconds * 1e6 for seconds in self.cpu)
            work = f", although a request costs {least:,.0f} to {most:,.0f} µs"
        return (
            f"{len(self.profiles)} profiles reach the same throughput within {self.spread:.2%}"
            f"{work} ({', '.join(self.profiles)}): the bottleneck is something that they share, "
            "such as the client, the network, a log, a rate limit or a backing service. Find it "
            "before you compare them."
        )


@dataclass(frozen=True, slots=True)
class NoiseUnknown(Notice):
    """The reference has too few blocks in which both of its runs count."""

    reference: str
    voided: bool = False
    """Whether other programs made trials invalid, which more blocks do not change."""
    of_two: bool = False
    """Whether two blocks have them, which leave everything open."""

    def sentence(self) -> str:
        needed = "three" if self.of_two else "two"
        remedy = "" if self.voided else " Run more blocks."
        return (
            f"The noise check is missing: {self.reference} needs at least {needed} blocks in which "
            f"both of its trials are valid.{remedy}"
        )


@dataclass(frozen=True, slots=True)
class Noise(Notice):
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

    @property
    def remedy(self) -> Remedy | None:
        """Blocks where a number is known; None for a sweep, and where the two surely differ."""
        if not self.reference or self.apart:
            return None
        if self.blocks is None:
            return Remedy(Means.QUIETER_MACHINE)
        return Remedy(Means.BLOCKS, self.blocks)

    def sentence(self) -> str:
        seen = " and ".join(
            f"{METRICS[metric].title} {ratio.value:.3g}x [{ratio.low:.3g}, {ratio.high:.3g}]"
            for metric, ratio in self.seen.items()
        )
        noise, wanted = share(self.reach), f"(wanted: {percent(self.smallest)})"
        if not self.reference:
            return (
                "Noisy machine: over all values, the same server compared with itself differs "
                f"by {seen},"
                f" and the noise of one value is {noise}: smaller differences cannot be detected "
                "there "
                f"{wanted}."
            )
        text = (
            f"Noisy machine: the same server compared with itself ({self.reference}, twice in "
            f"each block) differs by {seen}."
        )
        if self.apart:
            return (
                f"{text} That is {noise} noise, more than {LEAST_FLOOR:.0%}, so a difference of "
                "that size between profiles means nothing. Stop other work and run again."
            )
        return (
            f"{text} That is {noise} noise: smaller differences cannot be detected in this run "
            f"{wanted}; larger ones can."
        )


@dataclass(frozen=True, slots=True)
class EndedEarly(Notice):
    """Not all that was planned was measured."""

    measured: int
    planned: int
    """Trials."""

    def sentence(self) -> str:
        return f"Ended early: {self.measured} of {self.planned} planned trials were measured."


@dataclass(frozen=True, slots=True)
class MissingProfiles(Notice):
    """The run ended before these profiles had a trial."""

    profiles: tuple[str, ...]

    def sentence(self) -> str:
        names = ", ".join(self.profiles)
        return f"Not measured: the run ended before the first trial of {names}."


@dataclass(frozen=True, slots=True)
class NotEnded(Notice):
    """A run of minutes was stopped, or is under way."""

    blocks: int

    def sentence(self) -> str:
        return (
            f"{counted(self.blocks, 'block')}, and the run did not end by itself: inconclusive "
            f"comparisons use a stricter level, {percent(STOPPED)}, because a person who watches "
            "a run may stop it at a convenient moment."
        )
