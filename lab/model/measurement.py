"""What is measured: the windows and readings of a trial, and a run of many."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, overload

from lab.model.bounds import Amount, Count, Instant, Positive, Reading
from lab.model.plan import CounterRun, Plan, Role, Slot


@dataclass(frozen=True, slots=True)
class Answers:
    """What came of one of several requests, in one window."""

    latency: Mapping[Count, Count] = field(default_factory=dict)
    """As `Window.latency`, of its correct replies."""

    errors: Mapping[str, Count] = field(default_factory=dict)
    """As `Window.errors`."""


@dataclass(frozen=True, slots=True)
class Window:
    """What one generator process counted while the window was open."""

    process: Count
    """Its process id."""

    wall: Positive
    """Seconds between opening and closing, by its own monotonic clock."""

    ok: Count
    """Replies that were correct in status, length and body."""

    errors: Mapping[str, Count]
    """Failed requests by class: refused, reset, closed, timeout, truncated, malformed, status,
    body (another one, or given up as longer than any right one: `lab.bench.load.judge`), ports (no
    local port was free), and connect (any other failure to connect)."""

    unfinished: Count
    """Requests still in flight when the window closed."""

    retried: Count
    """Requests sent on a kept connection that ended without a byte of reply, which the server need
    not have had (see `lab.bench.load.connections.Connections.lose`), and sent again on a new one,
    as browsers and proxies do. Not errors: each has its own outcome."""

    connections: Count
    """Connections opened."""

    replies: tuple[Count, ...]
    """Correct replies of each of the load's connections (a slot, when one connection carries one
    request); 0 means that a client got nothing."""

    received: Count
    """Bytes."""

    latency: Mapping[Count, Count]
    """Correct replies by latency: lower bound of the bucket in integer microseconds -> count. See
    `lab.model.histogram`. From the first attempt to send until the last byte; in an open loop
    from the instant at which the request was due."""

    latency_sum: Amount
    """Seconds, of the correct replies."""

    cpu: Amount
    """Seconds that the generator's loop ran on a CPU."""

    wait: Amount
    """Seconds that it was ready to run and waited for a CPU."""

    planned: Count = 0
    """Open loop: requests that became due in the window."""

    late: Count = 0
    """Open loop: requests sent more than `lab.bench.load.engine.LATE_SEND` after they were due
    although a connection was free: the generator's own failing, not the server's."""

    queued: Count = 0
    """Open loop: requests due and not yet sent when the window closed; part of *unfinished*."""

    service: Mapping[Count, Count] = field(default_factory=dict)
    """Open loop: correct replies by service time, from the first attempt to send; as *latency*."""

    partial: Count = 0
    """Requests of which a socket took a part at first, and the rest later: no fault of anybody."""

    sample: str = ""
    """Class of the first wrong reply, and what it was: "status: 500 'too many clients'". Of an
    echo, where it differs from what was sent. Of several requests, with which it was.
    Control characters are escaped."""

    requests: tuple[Answers, ...] = ()
    """What came of each of several requests, in the order of `Workload.requests`; a request that
    was never sent is in none. Empty where there is one."""

    host: str = ""
    """Name of the host that the process ran on, a key of `Run.hosts`; empty where that is the
    server's. The figures below are known of another host only."""

    tcp: Mapping[str, Reading] = field(default_factory=dict)
    """What that host's kernel counted meanwhile for all of its processes, as the readings `tcp.*`
    of a trial, which these are part of."""

    rtt: Amount | None = None
    """Seconds: the shortest round trip that its kernel saw on the connections of the warm-up."""

    skew: Amount = 0.0
    """Seconds by which its beginning or its end may be off that of the others at the most: for so
    long the order and its answer were under way. No clocks of two hosts are compared."""


Counted = Literal[
    "ok", "unfinished", "retried", "connections", "received", "planned", "late", "queued"
]
Seconds = Literal["latency_sum", "cpu", "wait"]


class Failure(enum.StrEnum):
    """What kept a trial from being measured to its end."""

    SERVER = "server"
    """It did not start, or ended before the window did."""
    LOAD = "load"
    """The server had started, and the generator gave up."""
    LEFT_OUT = "left out"
    """It was not tried, because its server had failed to start before."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One profile under load once, its server started and stopped for it: what is repeated."""

    slot: Slot
    attempt: Count
    """0, or the number of the repeat after an outside disturbance (at most 2)."""

    started_at: Instant
    """POSIX seconds, for people; durations come from monotonic clocks."""

    digest: str
    """The resolved profile's."""

    environment: str
    """Digest of the environment it ran in: a key into the run's `run.json`."""

    windows: tuple[Window, ...] = ()
    """One for each generator process; empty when the trial failed before its window."""

    readings: Mapping[str, Reading] = field(default_factory=dict)
    """Probe readings by dotted name, such as `server.cpu_user`; one not read is absent."""

    facts: Mapping[str, str] = field(default_factory=dict)
    """What was seen of the server, such as `fib` = "cython"."""

    failure: str | None = None
    """What kept it from being measured to its end, in lines; the most important one first."""

    failed: Failure | None = None
    """Which kind of failure that is."""

    log: tuple[str, ...] | None = None
    """The last lines that the server printed, where it failed; empty where it printed none, None
    where the failure says all that is in them."""

    log_file: str | None = None
    """File with the whole of that log; None where it is not kept."""

    @property
    def shares_cores(self) -> bool:
        """Whether server and load had a core in common: named for both, or neither was pinned."""
        pinned = "server.cores" in self.readings or "machine.cores" not in self.readings
        return not pinned or self.readings.get("cores.shared", 0.0) > 0

    @property
    def share(self) -> float:
        """Share of the time in which the server had its cores; see `Plan.share`."""
        return self.readings.get("server.share", 1.0)

    def measures(self, profile: str) -> bool:
        """Return whether it is a trial of *profile*: no A/A trial, and no counter-run."""
        return self.slot.arm.name == profile and self.slot.arm.role is Role.PROFILE

    def serves(self, profile: str) -> bool:
        """Return whether it is a trial of *profile*, the A/A trials included; no counter-run."""
        return self.slot.arm.name == profile and self.slot.arm.role is not Role.COUNTER

    @overload
    def total(self, figure: Counted) -> int: ...
    @overload
    def total(self, figure: Seconds) -> float: ...
    def total(self, figure: str) -> float:
        """Return the sum of a figure of `Window` over all generator processes."""
        total: float = sum(getattr(window, figure) for window in self.windows)
        return total


@dataclass(frozen=True, slots=True)
class Run:
    """A run as it lies on disk: all that a report is made of."""

    name: str
    """Its folder's name."""

    command: str
    """The command that repeats it."""

    plan: Plan
    environments: Mapping[str, Mapping[str, object]]
    """Digest -> what `lab.bench.store.environment` read before the first trial."""

    trials: tuple[Trial, ...]
    """In the order in which they ran, repeats after the trial that they repeat."""

    skipped: Mapping[str, str] = field(default_factory=dict)
    """Profile that cannot run here -> why."""

    generator: str = "engine"
    """Name of the generator, or of the command that has it, and its processes if there are several:
    "engine", "engine x2", "locust"."""

    counters: tuple[CounterRun, ...] = ()
    """Counter-runs of the causes that its first blocks showed."""

    ended: bool = False
    """Of a run of minutes: whether it ended by itself, and was not stopped."""

    hosts: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Name -> what was read of each host that the load came from; none where it is the server's."""

    whole: Run | None = None
    """The run with a sweep of which this one is a single value's part; None for one that is
    whole."""

    @property
    def tool(self) -> str:
        """The generator's kind: "engine", "ab" or "locust"."""
        return self.generator.split()[0]

    @property
    def shares_cores(self) -> bool:
        """Whether server and load had a core in common in any trial."""
        return any(trial.shares_cores for trial in self.trials)

    @property
    def blocks(self) -> int:
        """Blocks of which a trial was made."""
        return len({trial.slot.block for trial in self.trials})

    @property
    def made_again(self) -> int:
        """Trials that were repeats."""
        return sum(trial.attempt > 0 for trial in self.trials)

    @property
    def allotted(self) -> int:
        """Blocks that were planned, or that the minutes allowed."""
        return self.plan.blocks if self.plan.minutes is None else self.blocks
