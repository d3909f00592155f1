"""
One trial: a fresh server, a steady load, and one fault planted in its middle.

It is the runner's trial (`lab.bench.trials.runner`), whose window holds the fault.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from lab.bench.load.process import EngineGenerator, EngineSession, Recording
from lab.bench.servers.process import Process
from lab.bench.servers.runner import ServerRunner
from lab.bench.store.environment import Cores
from lab.bench.trials.conduct import real_parts
from lab.bench.trials.plan import alone
from lab.bench.trials.runner import Silent, run
from lab.cli.stress.counting import Burst, count, count_burst, first, series
from lab.cli.stress.faults import Fault
from lab.cli.stress.overlay import can_be_added, overlay
from lab.cli.stress.result import CONTROL, FaultOutcome
from lab.cli.stress.target import Target
from lab.errors import GeneratorError, log_lines
from lab.model.measurement import Trial, Window
from lab.model.plan import Arm, Load
from lab.model.profile import Profile
from lab.model.protocols import Endpoint
from lab.model.workload import Workload

SLICE = 0.25
"""Seconds of one entry of the series."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long the parts of a trial take at the least; seconds."""

    before: float = 2.0
    """From the begin of the load to the fault."""
    after: float = 1.5
    """From when the fault is over to the end of the load."""
    whole: float = 8.0
    """The load, unless the fault has stopped the server."""
    stopped: float = 2.0
    """From asking the server to stop to the end of the load."""


USUAL = Pace()


@dataclass(frozen=True, slots=True)
class Conditions:
    """What all trials have in common."""

    cores: Cores | None
    """The server's and the generator's; None for any."""
    quick: Workload | None = None
    """The same application asked for something that takes no time; None where that is unknown."""
    pace: Pace = USUAL


def measure(fault: Fault, arm: Arm, conditions: Conditions) -> FaultOutcome:
    """
    Plant *fault* in *arm*, whose load is an open loop, and count what its clients felt.

    A trial that fails is an outcome that says so. One that something else disturbed is repeated:
    requests were lost or late before the fault was planted, or without any, or the generator had
    not the CPU to send them in time. Not one in which they were answered wrongly then: that is the
    application's doing, and it would do so again.

    Raises:
        ProfileError: A command of the profile has a word in braces that is not known.
        LabError: The server could not be stopped.
    """
    if fault.options and not can_be_added(arm.profile):
        return _impossible(fault, "it adds options to an ini of uWSGI, and this profile has none")
    if fault.quick and conditions.quick is None:
        return _impossible(fault, "it needs a path that is known to take no time")
    planted, trials = _FaultTrial(fault, arm, conditions), list[Trial]()
    parts = replace(
        real_parts(planted, conditions.cores, trials.append),
        server=planted,
        probes=(),
        facts=lambda _subject: {},
        judge=lambda _trial: (),
        again=lambda _findings: planted.again,
    )
    run(alone(arm, window=conditions.pace.whole), parts, Silent())
    if planted.outcome is None:
        last = trials[-1]
        line, *more = (last.failure or "").split("\n")
        log = "\n".join((*more, *log_lines(last.log, last.log_file)))
        return FaultOutcome(fault.name, problem=f"failed: {line}", log=log)
    return replace(planted.outcome, tries=len(trials))


def _impossible(fault: Fault, why: str) -> FaultOutcome:
    return FaultOutcome(fault.name, problem=f"not possible: {why}", possible=False)


@dataclass
class _FaultTrial:
    """The server and the generator of one trial and its repeats, as the runner takes them."""

    fault: Fault
    arm: Arm
    conditions: Conditions
    outcome: FaultOutcome | None = None
    """Of the last trial; None if it failed."""
    again: bool = False
    """Whether that trial is to be repeated."""
    target: Target = field(init=False)
    steady: EngineSession = field(init=False)
    name: str = EngineGenerator.name
    pids: Sequence[int] = ()
    elsewhere: bool = False

    def hosts(self, address: str) -> dict[str, dict[str, Any]]:  # noqa: ARG002
        """Return nothing: the load is made here."""
        return {}

    def check(self, profile: Profile) -> None:
        """Refuse nothing: the profiles were checked before the first trial."""

    @contextmanager
    def start(
        self, profile: Profile, workload: Workload, folder: Path, cores: Sequence[int] | None
    ) -> Iterator[Process]:
        """Start *profile* with the options of the fault; see `lab.model.protocols.Runner`."""
        self.outcome, self.again = None, False
        changed = overlay(profile, self.fault.options, folder)
        with ServerRunner().start(changed, workload, folder, cores) as server:
            self.target = Target(server, folder)
            yield server

    @contextmanager
    def session(
        self, endpoint: Endpoint, workload: Workload, load: Load, cores: Sequence[int] | None
    ) -> Iterator[_FaultTrial]:
        """Connect the steady load and the burst; see `lab.model.protocols.Generator`."""
        burst, engine = self.fault.burst, EngineGenerator()
        with ExitStack() as stack:
            steady = engine.session(endpoint, workload, load, cores)
            self.steady = stack.enter_context(steady)
            if burst:
                at_once = Load(burst, keepalive=False, requests=burst, timeout=load.timeout)
                burst_workload = workload
                if self.fault.quick and (quick := self.conditions.quick):
                    burst_workload = replace(workload, path=quick.path, requests=quick.requests)
                    burst_workload = replace(burst_workload, expect=quick.expect)
                extra = engine.session(endpoint, burst_workload, at_once, cores)
                self.target.burst = stack.enter_context(extra)
            yield self

    def warm_up(self, seconds: float, requests: int) -> None:
        """Do nothing: every request counts, from the first one on."""

    def pause(self) -> None:
        """Do nothing: it is loaded once."""

    def measure(self, seconds: float) -> Sequence[Window]:
        """Record the steady load for *seconds* at the least, with the fault in its middle."""
        fault, target, pace = self.fault, self.target, self.conditions.pace
        already = Counter(target.logged())
        began = self.steady.record(SLICE)
        _sleep_until(began + pace.before)
        fault_response = fault.plant(target)
        if not fault_response.possible:
            self.outcome = _impossible(fault, fault_response.note)
            return ()
        if fault.stops:
            _sleep_until(target.planted[0] + pace.stopped)
        else:
            _sleep_until(max(began + seconds, perf_counter() + pace.after))
        # By then every request has been answered, or its time has run out: none is queued, as there
        # is a connection for each that can be under way.
        recording = self.steady.finish(self.arm.load.timeout + 1.0)
        replacements = (Counter(target.logged()) - already).total() if already else None
        before = untouched(fault.name, recording.windows, pace)
        outcome = FaultOutcome(
            fault.name,
            note="; ".join(filter(None, (fault_response.note, _idle(target)))),
            disturbed=disturbed(before, recording.windows),
            replaced=replacements if fault_response.killed is None else fault_response.replaced,
            killed=fault_response.killed,
            planted=tuple(round(instant - began, 3) for instant in target.planted),
        )
        bursts = [replace(burst, ended=burst.ended - began) for burst in target.bursts]
        outcome = counted(outcome, recording, bursts, outcome.planted[0] if fault.stops else None)
        idle = fault_response.effect and 0 < target.idle == len(target.bursts)
        self.outcome = replace(
            outcome, effect=had_effect(outcome, fault_response.effect and not idle), idle=idle
        )
        self.again = outcome.disturbed and not count(before).wrong
        return recording.windows


def untouched(fault: str, windows: Sequence[Window], pace: Pace) -> Sequence[Window]:
    """Return the windows in which no fault can have done anything; of the control that is all."""
    return windows if fault == CONTROL else first(windows, pace.before)


def disturbed(before: Sequence[Window], whole: Sequence[Window]) -> bool:
    """
    Return whether something else than the fault was felt.

    Args:
        before: See `untouched`. What its last window leaves unfinished is not lost yet.
        whole: All windows of the trial.
    """
    return count(before).late > 0 or any(window.errors for window in before) or count(whole).starved


def had_effect(outcome: FaultOutcome, seen: bool) -> bool:
    """
    Return whether a fault can have hurt.

    Args:
        outcome: With its counts: who felt it need not be in the burst.
        seen: Whether the server did something about it while the burst was under way.
    """
    felt = outcome.counts is not None and not outcome.counts.clean
    return seen or (felt and bool(outcome.planted))


def counted(
    outcome: FaultOutcome, recording: Recording, bursts: Sequence[Burst], stopped: float | None
) -> FaultOutcome:
    """
    Return *outcome* with the counts of its requests.

    Args:
        outcome: Without counts.
        recording: Of the steady load.
        bursts: Of the requests that were sent at once.
        stopped: Seconds from the begin of the load to when the server was told to stop, if it was.

    Raises:
        GeneratorError: The requests could not be made, for a reason of this machine's own.
    """
    steady = count(recording.windows, stopped)
    assert steady.attempted == recording.attempted, "a request was counted twice, or not at all"
    extra = [count_burst(burst, stopped) for burst in bursts]
    if any("ports" in counts.errors for counts in (steady, *extra)):
        raise GeneratorError("no local port is free on this machine; try again in a minute")
    return replace(
        outcome,
        steady=steady,
        burst=sum(extra[1:], extra[0]) if extra else None,
        series=series(recording.windows, stopped, bursts),
    )


def _idle(target: Target) -> str:
    """Return that a fault met nothing under way, if so."""
    if not target.idle:
        return ""
    times = "" if len(target.bursts) == 1 else f" {target.idle} of {len(target.bursts)} times"
    return f"no request of the burst was in flight{times}: ask for what takes longer"


def _sleep_until(instant: float) -> None:
    time.sleep(max(0.0, instant - perf_counter()))
