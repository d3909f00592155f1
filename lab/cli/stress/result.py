"""What a stress test found, as it is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

CONTROL = "none"
"""Name of the fault that is none: what is felt there is the machine's doing, or the load's."""

LOST = 99
"""Exit status when a profile that must lose nothing did; as for any threshold."""

UNPROVED = 3
"""Exit status when this machine could not tell."""

DELAYED = 0.05
"""Share of requests sent late by the generator from which something else has used its CPU: without
that it was 0 to 3 %, beside a test suite up to 40."""


@dataclass(frozen=True, slots=True)
class Counts:
    """
    What became of some requests.

    `attempted` is the sum of the correct replies, `lost`, `wrong` and `turned_away`.
    """

    attempted: int
    lost: int
    """No whole reply: refused, reset, closed, truncated, timed out, or never decided."""
    late: int
    """Correct, but later than `lab.cli.stress.counting.LATE` after the request was due."""
    wrong: int
    """Another status or body, or no HTTP."""
    turned_away: int = 0
    """Refused after the server had been told to stop: a balancer would ask another one."""
    retried: int = 0
    """Sent again because the server had closed a kept connection meanwhile; not an error."""
    longest: float | None = None
    """Seconds of the slowest correct reply, from when it was due; None without one."""
    errors: Mapping[str, int] = field(default_factory=dict)
    """By class, those that were turned away included; see `lab.model.measurement.Window.errors`."""
    delayed: int = 0
    """Requests that the generator itself sent late: its own failing."""

    @property
    def clean(self) -> bool:
        """Whether nothing was lost, late or wrong."""
        return not (self.lost or self.late or self.wrong)

    @property
    def starved(self) -> bool:
        """Whether the generator itself was late with so many that they say little of the server."""
        return self.delayed > DELAYED * self.attempted

    def __add__(self, other: Counts) -> Counts:
        waits = [wait for wait in (self.longest, other.longest) if wait is not None]
        return Counts(
            attempted=self.attempted + other.attempted,
            lost=self.lost + other.lost,
            late=self.late + other.late,
            wrong=self.wrong + other.wrong,
            turned_away=self.turned_away + other.turned_away,
            retried=self.retried + other.retried,
            longest=max(waits, default=None),
            errors=Counter(self.errors) + Counter(other.errors),
            delayed=self.delayed + other.delayed,
        )


@dataclass(frozen=True, slots=True)
class Series:
    """
    The load over time: an entry for each slice.

    A burst counts in the slice in which it ended. But for what was never decided, the sums are
    those of `FaultOutcome.counts`.
    """

    at: tuple[float, ...]
    """Seconds from the begin of the load to the slice's end."""
    slowest: tuple[float | None, ...]
    """Seconds of the slowest correct reply that arrived in it; None without one."""
    lost: tuple[int, ...]
    wrong: tuple[int, ...]
    turned_away: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FaultOutcome:
    """One fault planted in one profile."""

    fault: str
    problem: str | None = None
    """Why there are no counts: it cannot be planted there, or the trial failed."""
    log: str = ""
    """The last lines of the server's log, where the trial failed."""
    possible: bool = True
    """False where the profile has nothing to plant the fault in."""
    made: bool = True
    """False where there was no trial, as the control was not clean."""
    effect: bool = True
    """Whether it can have hurt: not where the server did nothing about it, nor where no request was
    under way that a burst was to bring, unless clients felt it all the same."""
    idle: bool = False
    """Whether the server did something about it, while no request of a burst was in flight."""
    note: str = ""
    """What is to be known of it, such as why it had no effect."""
    disturbed: bool = False
    """Whether requests were lost or late before the fault was planted, or the generator itself was
    late with many, each time that it was tried."""
    tries: int = 1
    """How often the trial was made; the last one is told of. More than one were disturbed."""
    replaced: int | None = None
    """Worker processes that were started after the load began, or that took a killed one's place;
    None where that is unknown: only a uWSGI log names them all."""
    killed: int | None = None
    """Worker processes that were killed; None where the fault kills none."""
    planted: tuple[float, ...] = ()
    """Seconds from the begin of the load to each time that the fault was planted."""
    steady: Counts | None = None
    burst: Counts | None = None
    """Of the requests that were sent at once, on top; None where the fault sends none."""
    series: Series | None = None

    @property
    def counts(self) -> Counts | None:
        """All requests, steady and burst; None where there are no counts."""
        if self.steady is None:
            return None
        return self.steady if self.burst is None else self.steady + self.burst


@dataclass(frozen=True, slots=True)
class ProfileResult:
    """Every fault that was planted in one profile."""

    name: str
    summary: str
    outcomes: tuple[FaultOutcome, ...]
    """In the order of the faults; a test that was interrupted lacks the last ones."""


@dataclass(frozen=True, slots=True)
class StressResult:
    """A whole stress test; `lab.bench.store.folder.read_json` reads it from its file."""

    FORMAT: ClassVar[int] = 1
    """1: the first."""
    WHAT: ClassVar[str] = "result of a stress test"

    format: int
    command: str
    machine: Mapping[str, Any]
    """CPU, kernel and versions of `lab.bench.store.environment`."""
    workload: str
    """What was asked: "loadtests.workloads.waiting:app, GET /12"."""
    rate: float
    """Requests per second of the steady load."""
    connections: int
    timeout: float
    """Seconds."""
    faults: Mapping[str, str]
    """Name of each fault, in order -> what it is."""
    profiles: tuple[ProfileResult, ...]
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Profile that cannot run here -> why."""

    def plus(self, profile: str, outcome: FaultOutcome) -> StressResult:
        """Return the result with one more outcome of *profile*."""
        profiles = (
            replace(profile_result, outcomes=(*profile_result.outcomes, outcome))
            if profile_result.name == profile
            else profile_result
            for profile_result in self.profiles
        )
        return replace(self, profiles=tuple(profiles))

    def outcome(self, profile: str, fault: str) -> FaultOutcome | None:
        """Return what was felt of *fault* on *profile*; None if it was not planted any more."""
        (profile_result,) = (
            profile_result for profile_result in self.profiles if profile_result.name == profile
        )
        return next(
            (outcome for outcome in profile_result.outcomes if outcome.fault == fault), None
        )

    def controls(self) -> Mapping[str, Counts | None]:
        """Return what was felt on each profile without any fault; None where that is unknown."""
        outcomes = {profile.name: self.outcome(profile.name, CONTROL) for profile in self.profiles}
        return {name: None if it is None else it.counts for name, it in outcomes.items()}

    def dirty(self) -> tuple[str, ...]:
        """Return the profiles on which not all was as it should be without any fault."""
        return tuple(name for name, felt in self.controls().items() if felt and not felt.clean)

    def wrong(self) -> tuple[str, ...]:
        """Return the profiles that answered wrongly without any fault."""
        return tuple(name for name, felt in self.controls().items() if felt and felt.wrong)

    def slow(self) -> tuple[str, ...]:
        """Return the profiles on which requests were lost or late without any fault."""
        items_view = self.controls().items()
        return tuple(name for name, felt in items_view if felt and (felt.lost or felt.late))

    def bearable(self, profiles: Collection[str]) -> int | None:
        """
        Return a rate that each of some profiles has room for: half of what it answered rightly.

        None where that is below 1; each of them has a control.
        """
        rates = []
        for profile in profiles:
            control = self.outcome(profile, CONTROL)
            assert control is not None
            counts, slices = control.counts, control.series
            assert counts is not None
            # To the last reply, so that a queue which the load left behind counts with its time.
            seconds = slices.at[-1] if slices else 0.0
            right = counts.attempted - counts.lost - counts.wrong
            rates.append(int(right / seconds / 2) if seconds else 0)
        return min(rates) if min(rates) >= 1 else None

    def uncontrolled(self) -> tuple[str, ...]:
        """Return the profiles of which nothing is known without a fault."""
        return tuple(name for name, felt in self.controls().items() if felt is None)

    def disturbed(self) -> tuple[str, ...]:
        """
        Return "fault on profile" of each trial that something else had disturbed.

        Not of a control that is `dirty`, which says it.
        """
        dirty = self.dirty()
        return tuple(
            f"{outcome.fault} on {profile.name}"
            for profile in self.profiles
            for outcome in profile.outcomes
            if outcome.disturbed and not (outcome.fault == CONTROL and profile.name in dirty)
        )

    def untried(self, required: Collection[str], named_faults: Collection[str]) -> tuple[str, ...]:
        """Return "FAULT on PROFILE" of each asked fault that a required profile has no room for."""
        return tuple(
            f"{outcome.fault} on {profile.name}"
            for profile in self.profiles
            for outcome in profile.outcomes
            if profile.name in required and outcome.fault in named_faults and not outcome.possible
        )

    def status(self, required: Collection[str] = (), named_faults: Collection[str] = ()) -> int:
        """
        Return the exit status.

        Args:
            required: Profiles that may neither lose a request nor answer one wrongly.
            named_faults: Faults that were asked for by name: each must be possible on those.

        Returns:
            3 where a control is not clean or missing; else 99 where a required profile lost
            something or answered wrongly in a trial that was not disturbed; else 3 where a trial of
            one failed, was disturbed, had no effect, or was asked for and is not possible; else 0.
        """
        profile_results = [profile for profile in self.profiles if profile.name in required]
        outcomes = [outcome for profile in profile_results for outcome in profile.outcomes]
        if self.dirty() or self.uncontrolled():
            return UNPROVED
        undisturbed = [
            outcome.counts for outcome in outcomes if outcome.counts and not outcome.disturbed
        ]
        if any(counts.lost or counts.wrong for counts in undisturbed):
            return LOST
        short = any(len(profile.outcomes) < len(self.faults) for profile in profile_results)
        failed = any(
            outcome.possible and (outcome.counts is None or outcome.disturbed or not outcome.effect)
            for outcome in outcomes
        )
        missing = any(name in self.skipped for name in required)
        untried = self.untried(required, named_faults)
        return UNPROVED if failed or short or missing or untried else 0
