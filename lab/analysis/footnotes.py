"""Footnotes: the notices of some of a run's figures; `lab.analysis.notices` has their order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from lab.analysis.summary import Summary
from lab.model.measurement import Run
from lab.model.notice import Notice
from lab.model.numbers import share
from lab.model.workload import Wire

RETRIED = 0.01
"""Share of requests sent again from which it is worth a note: below, a recycled worker does it."""

UNEVEN = 0.15
"""By how much the busiest worker's share exceeds an even one, from which it is worth a note."""


@dataclass(frozen=True, slots=True)
class MadeAgain(Notice):
    """Trials that were repeats."""

    trials: int

    def sentence(self) -> str:
        were = "trial was" if self.trials == 1 else "trials were"
        return (
            f"{self.trials} {were} repeated: something outside the run disturbed the first "
            "attempt. Only the last attempt counts. At most a tenth of the trials are repeated."
        )


@dataclass(frozen=True, slots=True)
class Fragile(Notice):
    """One or two blocks decide any change of the tables."""

    def sentence(self) -> str:
        return (
            "fragile: one or two blocks decide the result, as a rank-based estimate differs from "
            "the mean. Run more blocks."
        )


@dataclass(frozen=True, slots=True)
class SentAgain(Notice):
    """Requests that the client had to send twice."""

    shares: Mapping[str, float]
    """Profile -> share of its requests; of those where it is worth a note."""

    def sentence(self) -> str:
        who = ", ".join(f"{name} {share(part)}" for name, part in self.shares.items())
        return (
            "Requests sent again because the server closed a connection that the client kept: "
            f"{who}. Its clients pay for new connections."
        )


@dataclass(frozen=True, slots=True)
class BusiestWorker(Notice):
    """A worker that received far more than an even share of the requests."""

    shares: Mapping[str, tuple[float, int]]
    """Profile -> share of the data received, and number of workers; of those worth a note."""

    def sentence(self) -> str:
        who = ", ".join(
            f"{name} {share(part)} ({workers} workers)"
            for name, (part, workers) in self.shares.items()
        )
        return (
            "One worker received far more than its share of the requests, counted in segments "
            f"with data: {who}. A connection stays with the worker that accepted it."
        )


@dataclass(frozen=True, slots=True)
class SeveralSettings(Notice):
    """A step of more than one setting, since the profile that it is written against is missing."""

    profile: str
    before: str
    instead_of: str

    def sentence(self) -> str:
        return (
            f"{self.profile} / {self.before}: more than one setting; {self.profile} is one step "
            f"from {self.instead_of}, which is not in this run."
        )


@dataclass(frozen=True, slots=True)
class SentLate(Notice):
    """What an open loop's own generator sent after it was due, though a connection was free."""

    profile: str
    """The one with most."""

    share: float
    """Of its requests."""

    def sentence(self) -> str:
        if self.share == 0:
            return "The load generator sent every request on time."
        return (
            "Sent late by the load generator although a connection was free: at most "
            f"{self.share:.2%} of the requests ({self.profile})."
        )


@dataclass(frozen=True, slots=True)
class VaryingReply(Notice):
    """A request whose right replies differ."""

    request: str
    why: str
    """As its workload has it: a whole sentence."""

    def sentence(self) -> str:
        return f"{self.request}: {self.why}"


@dataclass(frozen=True, slots=True)
class TellingValues(Notice):
    """Values in the run's folder that may be secrets."""

    names: tuple[str, ...]
    """What they are the values of."""

    def sentence(self) -> str:
        return (
            f"Before you share this run: the values of {', '.join(self.names)} are in its "
            "folder, and query values are in its report. Use values that may be public."
        )


@dataclass(frozen=True, slots=True)
class Protocols(Notice):
    """More than one protocol in a run."""

    profiles: Mapping[Wire, tuple[str, ...]]
    """Who is asked in which."""

    def sentence(self) -> str:
        who = "; ".join(
            f"{wire.manner.called}: {', '.join(names)}" for wire, names in self.profiles.items()
        )
        return (
            "Profiles use different protocols, so a ratio between them includes that "
            f"difference: {who}."
        )


@dataclass(frozen=True, slots=True)
class Backing(Notice):
    """A service that ran beside the servers."""

    service: str

    def sentence(self) -> str:
        return f"Backing service: {self.service}."


@dataclass(frozen=True, slots=True)
class NotRun(Notice):
    """A profile that was left out."""

    profile: str
    why: str

    def sentence(self) -> str:
        return f"Not run: {self.profile}: {self.why}."


def made_again(run: Run) -> MadeAgain | None:
    """Return how many trials were repeats; None where none was."""
    return MadeAgain(run.made_again) if run.made_again else None


def fragile(summary: Summary, metrics: Sequence[str]) -> Fragile | None:
    """Return whether one or two blocks decide any change by these metrics; None if not."""
    return Fragile() if any(side.fragile for side in summary.comparisons(metrics)) else None


def sent_again(summary: Summary) -> SentAgain | None:
    """Return what was sent again of the profiles where it is worth a note; None of none."""
    shares = {
        row.profile.name: row.retried_share
        for row in summary.rows
        if row.retried_share is not None and row.retried_share >= RETRIED
    }
    return SentAgain(shares) if shares else None


def busiest_worker(run: Run) -> BusiestWorker | None:
    """Return the profiles of which one worker had far more to do than another; None of none."""
    shares = {}
    for profile in run.plan.profiles:
        readings = [trial.readings for trial in run.trials if trial.slot.arm.name == profile.name]
        known = [reading for reading in readings if "workers.most" in reading]
        if not known:
            continue
        most = median(reading["workers.most"] for reading in known)
        workers = round(median(reading["workers.number"] for reading in known))
        if workers > 1 and most >= 1 / workers + UNEVEN:
            shares[profile.name] = most, workers
    return BusiestWorker(shares) if shares else None


def several_settings(summary: Summary) -> Iterator[SeveralSettings]:
    """Yield the steps that a ladder with all of its profiles would have in several."""
    for step in summary.steps:
        if step.instead_of is not None and step.before is not None:
            yield SeveralSettings(step.profile, step.before, step.instead_of)


def sent_late(run: Run) -> SentLate | None:
    """Return how many requests the generator of an open loop sent late; None of another load."""
    if run.plan.load.rate is None:
        return None
    shares = {}
    for profile in run.plan.profiles:
        trials = [trial for trial in run.trials if trial.slot.arm.name == profile.name]
        if planned := sum(trial.total("planned") for trial in trials):
            shares[profile.name] = sum(trial.total("late") for trial in trials) / planned
    if not shares:
        return None
    worst = max(shares, key=lambda name: shares[name])
    return SentLate(worst, shares[worst])


def varying_replies(run: Run) -> Iterator[VaryingReply]:
    """Yield the requests whose right replies differ."""
    for request in run.plan.workload.asks:
        if request.expect.varies:
            yield VaryingReply(str(request), request.expect.varies)


def telling_values(run: Run) -> TellingValues | None:
    """Return the names of values that may be secrets; None where there are none."""
    names = {name for request in run.plan.workload.asks for name in request.telling}
    return TellingValues(tuple(sorted(names))) if names else None


def protocols(run: Run) -> Protocols | None:
    """Return who is asked in which protocol; None where all are asked in one."""
    profiles_by_wire: dict[Wire, dict[str, None]] = {}
    for arm in run.plan.arms:
        profiles_by_wire.setdefault(arm.workload.wire, {})[arm.profile.name] = None
    several = {wire: tuple(names) for wire, names in profiles_by_wire.items()}
    return Protocols(several) if len(several) > 1 else None


def around(run: Run) -> tuple[Notice, ...]:
    """Return what ran beside the servers, and what was not run."""
    beside = (Backing(str(service)) for service in run.plan.backing)
    return (*beside, *(NotRun(name, why) for name, why in sorted(run.skipped.items())))
