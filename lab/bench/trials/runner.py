"""
Plan to trials: the only place where server, generator and probes meet.

A trial:

    server.start -> first correct reply, workers at rest -> warm-up -> probes.start -> window
    -> probes.stop -> server.stop, nothing left behind -> recorded

With turns, all servers of a block are started first, and the step in the middle is repeated.
A trial that fails is data: it is recorded with its reason and the block goes on. Nothing here
prints, and nothing here knows which command started the run.
"""

from __future__ import annotations

import itertools
import os
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean
from typing import Protocol

from lab.analysis.gates import judge
from lab.analysis.metrics import server_cpu
from lab.bench.machine import temporary
from lab.bench.machine.slowdown import slowed, window_for
from lab.bench.probes.cpu import CpuProbe
from lab.bench.servers.backing import RunningBacking
from lab.bench.trials.hosts import clients_side
from lab.bench.trials.schedule import Blocks, Schedule
from lab.bench.trials.turns import joined_readings, joined_windows
from lab.config import servers
from lab.errors import (
    GeneratorError,
    LabError,
    LoadGivenUpError,
    ServerStartError,
    WorkersChangedError,
)
from lab.model.comparison import Departure
from lab.model.finding import Finding
from lab.model.measurement import Failure, Trial, Window
from lab.model.plan import Arm, CounterRun, Plan, Slot
from lab.model.protocols import Generator, Probe, Runner, RunningServer, Session, Subject

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
"""Seconds of full load in which the CPU per request is sampled: before a server is slowed down, no
more than half of a turn, and after its last turn in windows half as long."""

SETTLING = 0.25
"""Seconds of load that are not recorded after that."""

BEYOND, COUNTED_LOAD = 60.0, 900.0
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
        """A stage of a trial begins: "start", "warm-up", "speed", "window" or "stop"."""

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
    made = defaultdict[tuple[int, int], list[Trial]](list)
    for trial in earlier:
        made[trial.slot.block, trial.slot.position].append(trial)

    def attempted(slots: Sequence[Slot], attempt: int) -> bool:
        """Run trials and record them; return whether something disturbed any of them."""
        again = False
        for trial in failures.counted(plan, slots, attempt, parts, observer):
            findings = parts.judge(trial)
            parts.record(trial)
            trials.append(trial)
            observer.finished(trial, findings)
            again |= parts.again(findings)
        failures.end_if_changed()
        return again

    for block in itertools.count():
        arms = schedule.next(trials)
        if arms is None:
            return
        slots = [Slot(block, position, arm) for position, arm in enumerate(arms)]
        trials += itertools.chain(*(made[block, slot.position] for slot in slots))
        slots = [slot for slot in slots if not made[block, slot.position]]
        if plan.turns > 1:
            # What disturbs one of them disturbs them all, and none is repeated.
            attempted(slots, 0)
            continue
        for slot in slots:
            for attempt in range(1 + REPEATS):
                again = attempted([slot], attempt)
                if not again or attempt == REPEATS or not repeats_left:
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
    (outcome,) = run_together(plan, [slot], attempt, parts, observer)
    if isinstance(outcome, LabError):
        raise outcome
    return outcome


def run_together(
    plan: Plan, slots: Sequence[Slot], attempt: int, parts: Parts, observer: Observer
) -> list[Trial | ServerStartError | GeneratorError]:
    """
    Start the servers of some slots, load them in turns, read the probes, stop them.

    Returns:
        The trial of each slot, or why there is none.

    Raises:
        BackingError: What a server needs has ended, and does not start again.
    """
    outcomes: dict[int, Trial | ServerStartError | GeneratorError] = {}
    alone = len(slots) == 1
    turns = 1 if alone else plan.turns
    with ExitStack() as stack:
        running: dict[int, _RunningTrial] = {}

        def take(number: int, step: Callable[[], object]) -> None:
            """Take a step of a trial, which leaves those that run if it fails."""
            try:
                step()
            except (ServerStartError, GeneratorError) as error:
                outcomes[number] = error
                running.pop(number, None)

        def start(number: int) -> None:
            trial = stack.enter_context(_started(plan, slots[number], attempt, parts, observer))
            running[number] = trial
            if not alone:
                trial.alone = False
                trial.session.pause()

        for number in range(len(slots)):
            take(number, partial(start, number))
        for turn, (stage, step) in enumerate(_steps(plan, parts, turns)):
            order = random.Random(f"{plan.seed}/{slots[0].block}/{turn}")
            for number in order.sample(list(running), len(running)):
                observer.stage(slots[number], attempt, stage)
                take(number, partial(step, running[number]))
        for number, running_trial in running.items():
            outcomes[number] = running_trial.trial(plan, parts)
            observer.stage(slots[number], attempt, "stop")
    return [outcomes[number] for number in range(len(slots))]


@dataclass(slots=True)
class _RunningTrial:
    """A trial whose server is started and warm."""

    begun: Trial
    server: RunningServer
    session: Session
    subject: Subject
    restarted: Sequence[str]
    """Names of the backing services that were started again."""
    alone: bool = True
    """Whether no other server runs meanwhile, so that its load goes on all the time."""
    windows: list[Sequence[Window]] = field(default_factory=list)
    readings: list[Mapping[str, float]] = field(default_factory=list)
    unslowed: list[float] = field(default_factory=list)
    """CPU seconds of a request before the server was slowed down."""
    halved: list[float] = field(default_factory=list)
    """The same in windows half as long as the trial's."""
    slice: float = 0.0
    """Seconds for which it had the CPUs at a time, if it was slowed down."""

    def in_turn(self, step: Callable[[], object], *, settle: bool = False) -> None:
        """Take a step under load; beside other servers the load ends with it."""
        if settle or not self.alone:
            self.session.warm_up(SETTLING, 0)
        step()
        if not self.alone:
            self.session.pause()

    def measure(self, seconds: float, probes: Sequence[Probe], helpers: Sequence[int] = ()) -> None:
        """
        Record a window, and what the probes read meanwhile.

        Args:
            seconds: Of the window.
            probes: What reads.
            helpers: Processes that the load needs, beside its own.
        """
        subject = replace(self.subject, generators=(*self.subject.generators, *helpers))
        stops = [probe.start(subject) for probe in probes]
        self.windows.append(tuple(self.session.measure(seconds)))
        readings: dict[str, float] = {}
        for stop in reversed(stops):
            readings.update(stop())
        self.readings.append(readings)

    def sample(self, seconds: float, samples: list[float]) -> None:
        """Add a sample of the CPU seconds that a request costs."""
        cpu = _cpu_per_request(self.session, self.subject, seconds)
        samples += [] if cpu is None else [cpu]

    def trial(self, plan: Plan, parts: Parts) -> Trial:
        """Return the whole trial."""
        arm = self.begun.slot.arm
        windows = joined_windows(self.windows)
        readings = in_own_time(joined_readings(self.readings), plan.share)
        if self.unslowed:
            readings["server.cpu_unslowed"] = fmean(self.unslowed)
        if self.halved:
            readings["server.cpu_halved"] = fmean(self.halved)
        readings |= clients_side(readings, windows)
        readings |= _cores(parts, plan.share, elsewhere=self.session.elsewhere)
        if plan.share < 1:
            readings["server.window"] = self.slice
        seen = dict(parts.facts(self.subject))
        if arm.workload.app is not None or not arm.workload.wire.manner.http:
            seen.pop("fib", None)  # another application has no business with it
        if self.restarted:
            seen["restarted"] = " and ".join(self.restarted)
        trial = replace(self.begun, windows=windows, readings=readings, facts=seen)
        if (how := self.server.ended()) is not None:
            failure = f"the server ended before the window's end: {how}"
            log = tuple(self.server.log_tail().splitlines())
            trial = replace(trial, failure=failure, failed=Failure.SERVER, log=log)
        return trial


@contextmanager
def _started(
    plan: Plan, slot: Slot, attempt: int, parts: Parts, observer: Observer
) -> Iterator[_RunningTrial]:
    """Start a slot's server and warm it up; stop it on exit."""
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
        generator_pids = (*session.pids, *parts.lab)
        port = None if server.endpoint.socket else server.endpoint.port
        observer.stage(slot, attempt, "warm-up")
        session.warm_up(plan.warmup, _warmup_requests(arm, plan))
        subject = Subject(server.pid, port, generator_pids, backing)
        yield _RunningTrial(trial, server, session, subject, restarted)


_Step = Callable[[_RunningTrial], None]


def _steps(plan: Plan, parts: Parts, turns: int) -> Iterator[tuple[str, _Step]]:
    """Yield what is done with each running server, one server after the other, and its stage."""
    seconds = plan.window / turns
    if plan.share < 1:
        yield "speed", partial(_choose_windows, plan, parts, turns)
    for turn in range(turns):
        stage = "window" if turns == 1 else f"turn {turn + 1} of {turns}"
        yield stage, partial(_take_turn, plan, parts, seconds)
    if plan.share < 1:
        yield "speed", partial(_halve_windows, plan, parts)


def _choose_windows(plan: Plan, parts: Parts, turns: int, trial: _RunningTrial) -> None:
    """Choose the windows by what a request costs at the server's usual speed."""
    if _lasts(trial):
        sample = min(SAMPLE, plan.window / turns / 2)
        trial.in_turn(partial(trial.sample, sample, trial.unslowed))
    cost = fmean(trial.unslowed) if trial.unslowed else None
    connections = trial.begun.slot.arm.load.connections
    measured = plan.share * plan.window
    trial.slice = window_for(cost, connections, len(_cpus(parts)), measured, turns)


def _take_turn(plan: Plan, parts: Parts, seconds: float, trial: _RunningTrial) -> None:
    """Measure one of a trial's turns."""
    measure = partial(trial.measure, seconds, parts.probes)
    if plan.share == 1:
        trial.in_turn(measure)
        return
    with _slowed(plan, parts, trial, seconds, trial.slice) as helpers:
        trial.in_turn(partial(measure, helpers), settle=_lasts(trial))


def _halve_windows(plan: Plan, parts: Parts, trial: _RunningTrial) -> None:
    """Sample what a request costs in windows half as long as the trial's."""
    if not _lasts(trial):
        return
    sample = min(SAMPLE, plan.window / 2)
    with _slowed(plan, parts, trial, sample, trial.slice / 2):
        trial.in_turn(partial(trial.sample, sample, trial.halved), settle=True)


def _lasts(trial: _RunningTrial) -> bool:
    """Return whether the load goes on after a measurement."""
    return trial.begun.slot.arm.load.requests is None


def _slowed(
    plan: Plan, parts: Parts, trial: _RunningTrial, seconds: float, window: float
) -> AbstractContextManager[Sequence[int]]:
    """Slow a trial's server down, but not its load and probes, for some seconds: see `slowed`."""
    return slowed(
        plan.share,
        (*trial.session.pids, *parts.lab),
        _cpus(parts),
        seconds=seconds + BEYOND if _lasts(trial) else COUNTED_LOAD,
        window=window,
    )


def _cpus(parts: Parts) -> Sequence[int]:
    """Return the CPUs of server and load."""
    cpus = {*(parts.server_cores or ()), *(parts.generator_cores or ())}
    return sorted(cpus or os.sched_getaffinity(0))


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
        self, plan: Plan, slots: Sequence[Slot], attempt: int, parts: Parts, observer: Observer
    ) -> list[Trial]:
        """Return the trial of each slot, or one that says why there is none."""
        tried = [slot for slot in slots if self._not_started[slot.arm.name] < START_FAILURES]
        try:
            outcomes = iter(run_together(plan, tried, attempt, parts, observer) if tried else ())
        except GeneratorError as error:
            outcomes = iter([error] * len(tried))
        return [
            self._trial(slot, attempt, parts, next(outcomes) if slot in tried else None)
            for slot in slots
        ]

    def _trial(
        self,
        slot: Slot,
        attempt: int,
        parts: Parts,
        outcome: Trial | ServerStartError | GeneratorError | None,
    ) -> Trial:
        """Return the trial of a slot, or one that says why there is none; None: it was left out."""
        if outcome is None:
            again = f"not started again: it failed to start {START_FAILURES} times in a row"
            return _failed(slot, attempt, parts, Failure.LEFT_OUT, again)
        if isinstance(outcome, ServerStartError):
            self._not_started[slot.arm.name] += 1
            parts.keep(outcome)
            trial = _failed(slot, attempt, parts, Failure.SERVER, outcome.problem)
            file = None if outcome.kept is None else str(outcome.kept)
            return replace(trial, log=outcome.last_lines, log_file=file)
        del self._not_started[slot.arm.name]
        if isinstance(outcome, GeneratorError):
            if isinstance(outcome, WorkersChangedError):
                self._changed = outcome
            elif not isinstance(outcome, LoadGivenUpError):  # which is the server's doing
                self._generator += 1
                if self._generator == GENERATOR_FAILURES:
                    raise outcome
            text = f"the load was given up: {outcome}"
            return _failed(slot, attempt, parts, Failure.LOAD, text)
        self._generator = 0
        return outcome


def _cores(parts: Parts, share: float, *, elsewhere: bool) -> dict[str, float]:
    """Return how many cores the server was given, and how many of them the load as well."""
    if share < 1:
        cores = len(parts.server_cores or os.sched_getaffinity(0))
        return {
            "server.cores": float(cores),
            "server.share": share,
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
