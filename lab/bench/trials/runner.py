"""
Plan to trials: the only place where server, generator and probes meet.

A trial:

    server.start -> first correct reply, workers at rest -> warm-up -> probes.start -> window
    -> probes.stop -> server.stop, nothing left behind -> recorded

A trial that fails is data: it is recorded with its reason and the block goes on. Nothing here
prints, and nothing here knows which command started the run.
"""

from __future__ import annotations

import itertools
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Protocol

from lab.analysis.gates import judge
from lab.analysis.metrics import server_cpu
from lab.bench.machine import temporary
from lab.bench.machine.slowdown import WINDOW, slowed
from lab.bench.probes.cpu import CpuProbe
from lab.bench.servers.backing import RunningBacking
from lab.bench.trials.hosts import clients_side
from lab.bench.trials.schedule import Blocks, Schedule
from lab.config import servers
from lab.errors import (
    GeneratorError,
    LoadGivenUpError,
    ServerStartError,
    WorkersChangedError,
)
from lab.model.comparison import Departure
from lab.model.finding import Finding
from lab.model.measurement import Failure, Trial
from lab.model.plan import Arm, CounterRun, Plan, Slot
from lab.model.protocols import Generator, Probe, Runner, Session, Subject

REPEATS = 2
"""A trial that was disturbed from outside is repeated this often at most. One whose outcome
displeases is never repeated: dropping those lowers the coverage of a 95 % interval to 89 %."""

REPEAT_SHARE = 0.10
"""Repeats of a whole run, as a share of its trials: a busy machine must not make it much longer."""

START_FAILURES = 2
"""After this many failed starts in a row a profile is recorded as failed and not tried again."""

GENERATOR_FAILURES = 3
"""The run ends after this many trials in a row for which the generator could make no load."""

SAMPLE = 0.5
"""Seconds of full load before and after a server is slowed down, for its CPU per request; no more
than a quarter of the window."""

SETTLING = 0.25
"""Seconds of load that are not recorded after that."""

LONGEST, COUNTED_LOAD = 60.0, 900.0
"""Seconds after which a server is slowed down no more: beyond the window, or of a counted load."""

USUAL_WORKERS = 2
"""Worker processes of a profile that does not say how many it has."""


def disturbed(findings: Sequence[Finding]) -> bool:
    """Return whether something outside the experiment disturbed a trial."""
    return any(finding.gate.outside for finding in findings)


@dataclass(frozen=True, slots=True)
class Parts:
    """What a run is made with; tests put scripted ones in."""

    server: Runner
    generator: Generator
    probes: Sequence[Probe]
    facts: Callable[[Subject], Mapping[str, str]]
    record: Callable[[Trial], None]
    environment: str
    """Digest of the environment."""
    lab: Sequence[int] = ()
    """The lab's own processes, so that their CPU is not taken for foreign."""
    server_cores: Sequence[int] | None = None
    generator_cores: Sequence[int] | None = None
    clock: Callable[[], float] = time.time
    keep: Callable[[ServerStartError], None] = lambda _error: None
    """Keeps the log of a server that did not start, and says where in the error."""
    judge: Callable[[Trial], Sequence[Finding]] = judge
    again: Callable[[Sequence[Finding]], bool] = disturbed
    """Whether a trial of which this is found is repeated: see `REPEATS`."""
    backing: Sequence[RunningBacking] = ()
    """What its servers need, each asked before each trial."""


class Observer(Protocol):
    """Is told what happens, to show it."""

    def settled(self, plan: Plan) -> None:
        """Which replies are right is known, and the first trial comes next."""

    def stage(self, slot: Slot, attempt: int, stage: str) -> None:
        """A stage of a trial begins: "start", "warm-up", "window" or "stop"."""

    def finished(self, trial: Trial, findings: Sequence[Finding]) -> None:
        """A trial has been recorded."""

    def confirming(self, counters: Sequence[CounterRun]) -> None:
        """From now on every block holds these as well."""

    def leaving(self, departures: Sequence[Departure]) -> None:
        """From now on no block holds these."""


class Silent:
    """An observer that shows nothing."""

    def settled(self, plan: Plan) -> None:
        """Pass over what is required."""

    def stage(self, slot: Slot, attempt: int, stage: str) -> None:
        """Pass over a stage."""

    def finished(self, trial: Trial, findings: Sequence[Finding]) -> None:
        """Pass over a trial."""

    def confirming(self, counters: Sequence[CounterRun]) -> None:
        """Pass over counter-runs."""

    def leaving(self, departures: Sequence[Departure]) -> None:
        """Pass over who leaves."""


def run(
    plan: Plan,
    parts: Parts,
    observer: Observer,
    schedule: Schedule | None = None,
    earlier: Sequence[Trial] = (),
) -> None:
    """
    Carry out the whole plan.

    Args:
        plan: What to do.
        parts: With what.
        observer: Is told of it.
        schedule: Which arms each block holds; None for those of the plan in every one.
        earlier: Trials of the same plan and schedule that are recorded already: their slots are
            not run again.

    Raises:
        GeneratorError: The generator failed several times in a row, or lost a process; what was
            recorded stands.
        ResultsError: A trial could not be recorded.
        Interrupted: A signal came; its trial is not recorded.
    """
    schedule = schedule or Blocks(plan)
    repeats_left = max(REPEATS, int(schedule.trials * REPEAT_SHARE))
    failures = _Failures()
    trials: list[Trial] = []
    made: dict[tuple[int, int], list[Trial]] = {}
    for each in earlier:
        made.setdefault((each.slot.block, each.slot.position), []).append(each)
    for block in itertools.count():
        arms = schedule.next(trials)
        if arms is None:
            return
        for position, arm in enumerate(arms):
            if (block, position) in made:
                trials += made[block, position]
                continue
            slot = Slot(block, position, arm)
            for attempt in range(1 + REPEATS):
                trial = failures.counted(plan, slot, attempt, parts, observer)
                findings = parts.judge(trial)
                parts.record(trial)
                trials.append(trial)
                observer.finished(trial, findings)
                failures.end_if_changed()
                if not parts.again(findings) or attempt == REPEATS or not repeats_left:
                    break
                repeats_left -= 1


def run_trial(plan: Plan, slot: Slot, attempt: int, parts: Parts, observer: Observer) -> Trial:
    """
    Start the slot's server, load it, read the probes, stop it.

    Raises:
        ServerStartError: It did not start.
        GeneratorError: The load could not be made.
        BackingError: What the server needs has ended, and does not start again.
    """
    arm, profile = slot.arm, slot.arm.profile
    restarted = [
        running_backing.service.name for running_backing in parts.backing if running_backing.check()
    ]
    trial = Trial(slot, attempt, parts.clock(), profile.digest, parts.environment)
    with ExitStack() as stack:
        folder = stack.enter_context(temporary.folder())
        observer.stage(slot, attempt, "start")
        server = stack.enter_context(
            parts.server.start(profile, arm.workload, folder, parts.server_cores)
        )
        session = stack.enter_context(
            parts.generator.session(server.endpoint, arm.workload, arm.load, parts.generator_cores)
        )
        backing = tuple(
            (running_backing.pid, running_backing.service.role) for running_backing in parts.backing
        )
        own = (*session.pids, *parts.lab)
        port = None if server.endpoint.socket else server.endpoint.port
        subject = Subject(server.pid, port, own, backing)
        observer.stage(slot, attempt, "warm-up")
        session.warm_up(plan.warmup, _warmup_requests(arm, plan))
        with _slowed(plan, slot, session, subject, parts) as (subject, unslowed):
            observer.stage(slot, attempt, "window")
            stops = [probe.start(subject) for probe in parts.probes]
            windows = tuple(session.measure(plan.window))
            readings: dict[str, float] = {}
            for stop in reversed(stops):
                readings.update(stop())
        readings = in_own_time(readings, plan.share) | unslowed
        readings |= clients_side(readings, windows)
        readings |= _cores(parts, plan.share, elsewhere=session.elsewhere)
        seen = dict(parts.facts(subject))
        if arm.workload.app is not None or not arm.workload.wire.manner.http:
            seen.pop("fib", None)  # another application has no business with it
        if restarted:
            seen["restarted"] = " and ".join(restarted)
        trial = replace(trial, windows=windows, readings=readings, facts=seen)
        if (how := server.ended()) is not None:
            failure = f"the server ended before the window's end: {how}"
            log = tuple(server.log_tail().splitlines())
            trial = replace(trial, failure=failure, failed=Failure.SERVER, log=log)
        observer.stage(slot, attempt, "stop")
    return trial


@contextmanager
def _slowed(
    plan: Plan, slot: Slot, session: Session, subject: Subject, parts: Parts
) -> Iterator[tuple[Subject, dict[str, float]]]:
    """
    Slow the server down, if that is planned.

    Yield the subject, and what at the end has its CPU per request at its usual speed, as the mean
    of before and after.
    """
    readings: dict[str, float] = {}
    if plan.share == 1:
        yield subject, readings
        return
    lasts = slot.arm.load.requests is None
    seconds = plan.window + LONGEST if lasts else COUNTED_LOAD
    cpus = {*(parts.server_cores or ()), *(parts.generator_cores or ())}
    sample = min(SAMPLE, plan.window / 4)
    usual = [_cpu_per_request(session, subject, sample)] if lasts else []
    with slowed(plan.share, session.pids, sorted(cpus or os.sched_getaffinity(0)), seconds) as pids:
        if lasts:
            session.warm_up(SETTLING, 0)
        yield replace(subject, generators=(*subject.generators, *pids)), readings
    if lasts:
        usual.append(_cpu_per_request(session, subject, sample))
    known = [seconds for seconds in usual if seconds is not None]
    if known:
        readings["server.cpu_unslowed"] = fmean(known)


def _cpu_per_request(session: Session, subject: Subject, sample: float) -> float | None:
    """Return the seconds of CPU that a request costs the server, by a sample of some seconds."""
    stop = CpuProbe().start(subject)
    windows = session.measure(sample)
    readings = stop()
    seconds, rate = server_cpu(readings), sum(window.ok / window.wall for window in windows)
    return seconds / (rate * readings["elapsed"]) if seconds and rate else None


def in_own_time(readings: Mapping[str, float], share: float) -> dict[str, float]:
    """
    Return *readings* with shares of the time that are those of the server's own time.

    Outside of its share it runs on no core, and none that it could use is idle.

    >>> in_own_time({"server.busiest": 0.2, "elapsed": 3.0}, 0.25)
    {'server.busiest': 0.8, 'elapsed': 3.0}
    """
    of_time = {"server.busiest", "server.idle", "server.router"}
    return {name: value / share if name in of_time else value for name, value in readings.items()}


class _Failures:
    """Runs trials, and remembers what has failed so far."""

    def __init__(self) -> None:
        self._not_started: Counter[str] = Counter()
        """By profile: starts in a row that failed."""
        self._generator = 0
        """Trials in a row that the generator could not make."""
        self._changed: WorkersChangedError | None = None
        """Why the generator is not any more what made the first trials."""

    def end_if_changed(self) -> None:
        """
        End the run once its load comes from others than before.

        Raises:
            WorkersChangedError: It does.
        """
        if self._changed is not None:
            raise self._changed

    def counted(
        self, plan: Plan, slot: Slot, attempt: int, parts: Parts, observer: Observer
    ) -> Trial:
        """Return the slot's trial, or one that says why there is none."""
        if self._not_started[slot.arm.name] >= START_FAILURES:
            again = f"not started again: it failed to start {START_FAILURES} times in a row"
            return _failed(slot, attempt, parts, Failure.LEFT_OUT, again)
        try:
            trial = run_trial(plan, slot, attempt, parts, observer)
        except ServerStartError as error:
            self._not_started[slot.arm.name] += 1
            parts.keep(error)
            trial = _failed(slot, attempt, parts, Failure.SERVER, error.problem)
            file = None if error.kept is None else str(error.kept)
            return replace(trial, log=error.last_lines, log_file=file)
        except GeneratorError as error:
            del self._not_started[slot.arm.name]
            if isinstance(error, WorkersChangedError):
                self._changed = error
            elif not isinstance(error, LoadGivenUpError):  # which is the server's doing
                self._generator += 1
                if self._generator == GENERATOR_FAILURES:
                    raise
            text = f"the load was given up: {error}"
            return _failed(slot, attempt, parts, Failure.LOAD, text)
        del self._not_started[slot.arm.name]
        self._generator = 0
        return trial


def _cores(parts: Parts, share: float, *, elsewhere: bool) -> dict[str, float]:
    """Return how many cores the server was given, and how many of them the load as well."""
    if share < 1:
        cores = len(parts.server_cores or os.sched_getaffinity(0))
        return {
            "server.cores": float(cores),
            "server.share": share,
            "server.window": WINDOW,
            "cores.shared": 0.0,
        }
    if parts.server_cores is None:
        # Without a load beside it, it has the machine to itself.
        return {"server.cores": float(len(os.sched_getaffinity(0)))} if elsewhere else {}
    shared = set() if elsewhere else {*parts.server_cores} & {*(parts.generator_cores or ())}
    return {"server.cores": float(len(parts.server_cores)), "cores.shared": float(len(shared))}


def _failed(slot: Slot, attempt: int, parts: Parts, kind: Failure, failure: str) -> Trial:
    trial = Trial(slot, attempt, parts.clock(), slot.arm.profile.digest, parts.environment)
    return replace(trial, failure=failure, failed=kind)


def _warmup_requests(arm: Arm, plan: Plan) -> int:
    """Return the requests of the warm-up; of an open loop no more than become due in its time."""
    workers = servers.settings(arm.profile).processes or USUAL_WORKERS
    wanted = plan.warm * workers
    return wanted if arm.load.rate is None else min(wanted, int(arm.load.rate * plan.warmup))
