"""
The vocabulary: what is run, what is measured, what is concluded.

Nothing here does I/O and everything here is immutable. Quantities are SI base units - seconds,
bytes, requests per second - and are scaled only where they are printed. A quantity that could not
be read is absent, never 0.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, overload

# -- what is run -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Profile:
    """One configuration of one server, a file that its server can run without the lab."""

    name: str
    """File name without its suffix; the name used on the command line and in reports."""

    server: str
    """Name of the adapter in `lab.servers` that runs it: "uwsgi" or "command"."""

    path: Path
    """The file: an ini for uWSGI, a TOML under profiles/peers/ for any other server."""

    summary: str
    """One line, imperative: what this step changes."""

    against: str | None
    """Name of the profile that this one is compared with; None for the start of a ladder."""

    options: tuple[tuple[str, str], ...]
    """Resolved options in order, includes expanded, repeats kept; what the server really gets."""

    digest: str
    """SHA-256 of *options* in hexadecimal, independent of the port and of the checkout's folder."""

    commands: tuple[tuple[str, ...], ...] = ()
    """Peers only: commands in start order, with {host} {port} {app} {chdir} {here} {folder}
    {workers}."""

    fill: tuple[str, ...] = ()
    """Peers only: those of its own files that are written to {folder} with their words filled."""

    replace: tuple[tuple[str, str], ...] = ()
    """Peers only: texts of those files and what takes their place, so that a configuration which
    is deployed as it is can listen and write elsewhere in a trial."""

    keepalive: bool = False
    """Whether it promises to keep a client's connection open between requests."""

    needs: str | None = None
    """Peers only: what installs the server, shown where it is missing."""

    reply: str | None = None
    """The body of every reply, where it serves no application: it shows what its server can do at
    most, and stands beside the others as a reference line."""


LONGEST_BODY = 64 << 20
"""
Bytes of a reply's body from which the lab gives it up, whatever it would have become.

An honest one is far from it: of a whole web page with its pictures and scripts, 2 to 3 MB, it is
twenty times as much, and the longest answer of this project's service has less than 1 MB. A server
that floods sends it over loopback in a tenth of a second, before a machine runs short of memory.
"""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a correct reply is. With neither body nor pattern, the first reply defines it."""

    status: int = 200
    body: bytes | None = None
    """Exact body of every reply."""

    pattern: str | None = None
    """Regular expression that is searched in the body, for an application whose reply varies."""

    @property
    def complete(self) -> bool:
        """Whether a reply can be judged by it."""
        return self.body is not None or self.pattern is not None


@dataclass(frozen=True, slots=True)
class Workload:
    """An application, the request made of it, and the reply that is correct."""

    name: str
    path: str
    """Request target, beginning with a slash."""

    expect: Expectation
    app: str | None = None
    """Import path "package.module:callable"; None where the profile names the application."""

    chdir: Path | None = None
    """Folder in which the application is imported; None for this project's root."""


@dataclass(frozen=True, slots=True)
class Load:
    """
    A closed loop, in which each connection sends its next request when its last reply is there; or,
    with a rate, an open loop, in which requests are due at planned instants whatever the server
    does.
    """

    connections: int = 64
    """In an open loop: the most that are open at once."""
    keepalive: bool = True
    """Whether a connection is used again when the server keeps it open; else one request each."""

    requests: int | None = None
    """End after this many requests instead of after the window; None for a timed window."""

    timeout: float = 10.0
    """Seconds from sending a request (or connecting) until it counts as an error."""

    rate: float | None = None
    """Open loop: requests a second, evenly spaced; None for a closed loop. Not with *requests*."""


class Role(enum.StrEnum):
    """Why an arm is in a block."""

    PROFILE = "profile"
    AA = "a/a"
    """The reference's second run: any difference from its first is the machine's noise."""
    COUNTER = "counter"
    """A profile with the one setting toggled that a cause names; see `CounterRun`."""


@dataclass(frozen=True, slots=True)
class Arm:
    """What a trial measures: one profile, asked for one thing, under one load."""

    name: str
    """Unique among the arms of one role in a run: the profile's name, and what is in *at*."""

    profile: Profile
    workload: Workload
    """What is asked of it, and which reply is correct: its own where it serves no application."""

    load: Load
    at: Mapping[str, str] = field(default_factory=dict)
    """Where arms of one profile differ, what sets this one apart: {"rate": "50%"}."""

    role: Role = Role.PROFILE


@dataclass(frozen=True, slots=True)
class Plan:
    """Randomised complete blocks: every arm once a block, and the reference a second time."""

    arms: tuple[Arm, ...]
    """In ladder order; the first is the baseline."""

    reference: str
    """Name of the profile whose arms run twice in every block: the A/A arms."""

    blocks: int
    warmup: float
    """Seconds of unrecorded load at the least; also at least 200 requests a worker."""

    window: float
    """Seconds of recorded load in a trial."""

    seed: int

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """The arms' profiles, each once, in ladder order."""
        return tuple({arm.profile.name: arm.profile for arm in self.arms}.values())

    @property
    def load(self) -> Load:
        """The load of its arms, but for their rates where these differ."""
        return self.arms[0].load

    @property
    def workload(self) -> Workload:
        """What is asked of every profile that serves an application."""
        asked = (arm.workload for arm in self.arms if arm.profile.reply is None)
        return next(asked, self.arms[0].workload)


@dataclass(frozen=True, slots=True)
class Slot:
    """A planned trial: its place in the run's order, and what it measures."""

    block: int
    """From 0."""
    position: int
    """Within the block, from 0."""
    arm: Arm


# -- what is measured ------------------------------------------------------------------------------


class Better(enum.StrEnum):
    """The direction in which a metric improves."""

    HIGHER = "higher"
    LOWER = "lower"


@dataclass(frozen=True, slots=True)
class Metric:
    """A measured quantity; the registry of these drives every table."""

    name: str
    title: str
    unit: str
    """Unit as printed, after multiplying by *scale*."""
    scale: float
    better: Better
    exact: bool = False
    """True for quantities without noise, such as a count of drops."""


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("throughput", "requests/s", "1/s", 1.0, Better.HIGHER),
        Metric("cpu", "CPU a request", "µs", 1e6, Better.LOWER),
        Metric("cpu_vs_generator", "server CPU / generator CPU", "", 1.0, Better.LOWER),
        Metric("p50", "p50", "ms", 1e3, Better.LOWER),
        Metric("p90", "p90", "ms", 1e3, Better.LOWER),
        Metric("p99", "p99", "ms", 1e3, Better.LOWER),
        Metric("service_p99", "service time p99", "ms", 1e3, Better.LOWER),
        Metric("memory", "memory (PSS)", "MB", 1e-6, Better.LOWER),
        Metric("switches", "voluntary switches a request", "", 1.0, Better.LOWER),
        Metric("drops", "accept-queue drops", "", 1.0, Better.LOWER, exact=True),
        Metric("errors", "errors", "", 1.0, Better.LOWER, exact=True),
        Metric("retried", "requests sent again", "", 1.0, Better.LOWER, exact=True),
        Metric("respawns", "workers replaced", "", 1.0, Better.LOWER, exact=True),
    )
}
"""Metrics of a trial by name; `lab.analysis.metrics` derives them from windows and readings."""


@dataclass(frozen=True, slots=True)
class Window:
    """What one generator process counted while the window was open."""

    process: int
    """Its process id."""

    wall: float
    """Seconds between opening and closing, by its own monotonic clock."""

    ok: int
    """Replies that were correct in status, length and body."""

    errors: Mapping[str, int]
    """Failed requests by class: refused, reset, closed, timeout, truncated, malformed, status,
    body (another one, or given up as longer than any right one: `lab.generators.judge`), ports (no
    local port was free), and connect (any other failure to connect)."""

    unfinished: int
    """Requests still in flight when the window closed."""

    retried: int
    """Requests sent on a kept connection that ended without a byte of reply, which the server need
    not have had (see `lab.generators.connections.Connections.lose`), and sent again on a new one,
    as browsers and proxies do. Not errors: each has its own outcome."""

    connections: int
    """Connections opened."""

    replies: tuple[int, ...]
    """Correct replies of each of the load's connections (a slot, when one connection carries one
    request); 0 means that a client got nothing."""

    received: int
    """Bytes."""

    latency: Mapping[int, int]
    """Correct replies by latency: lower bound of the bucket in integer microseconds -> count. See
    `lab.generators.histogram`. From the first attempt to send until the last byte; in an open loop
    from the instant at which the request was due."""

    latency_sum: float
    """Seconds, of the correct replies."""

    cpu: float
    """Seconds that the generator's loop ran on a CPU."""

    wait: float
    """Seconds that it was ready to run and waited for a CPU."""

    planned: int = 0
    """Open loop: requests that became due in the window."""

    late: int = 0
    """Open loop: requests sent more than `lab.generators.engine.LATE_SEND` after they were due
    although a connection was free: the generator's own failing, not the server's."""

    queued: int = 0
    """Open loop: requests due and not yet sent when the window closed; part of *unfinished*."""

    service: Mapping[int, int] = field(default_factory=dict)
    """Open loop: correct replies by service time, from the first attempt to send; as *latency*."""


Count = Literal[
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
    attempt: int
    """0, or the number of the repeat after an outside disturbance (at most 2)."""

    started_at: float
    """POSIX seconds, for people; durations come from monotonic clocks."""

    digest: str
    """The resolved profile's."""

    environment: str
    """Digest of the environment it ran in: a key into the run's `run.json`."""

    windows: tuple[Window, ...] = ()
    """One for each generator process; empty when the trial failed before its window."""

    readings: Mapping[str, float] = field(default_factory=dict)
    """Probe readings by dotted name, such as `server.cpu_user`; one not read is absent."""

    facts: Mapping[str, str] = field(default_factory=dict)
    """What was seen of the server, such as `fib` = "cython"."""

    failure: str | None = None
    """Why there is no window: the server did not start, or ended; with its log's last lines."""

    failed: Failure | None = None
    """Which kind of failure that is."""

    @overload
    def total(self, figure: Count) -> int: ...
    @overload
    def total(self, figure: Seconds) -> float: ...
    def total(self, figure: str) -> float:
        """Return the sum of a figure of `Window` over all generator processes."""
        found: float = sum(getattr(window, figure) for window in self.windows)
        return found

    def is_own(self, profile: str) -> bool:
        """Return whether *profile* is measured: not as the A/A arm, and not by a counter-run."""
        return self.slot.arm.name == profile and self.slot.arm.role is Role.PROFILE


@dataclass(frozen=True, slots=True)
class CounterRun:
    """
    A profile with the one setting toggled that a cause names.

    It joins the blocks that are left, so that it is paired with the profile like any other. If the
    cause is the right one, *metric* moves in the direction *expects*, beyond the noise.
    """

    of: str
    """Name of the profile whose cause it tests, in the arm that has the same *at*."""

    cause: str
    """Name of the cause that it puts to the test; see `lab.analysis.diagnose`."""

    toggle: str
    """What is changed, for people: "http-socket instead of http"."""

    arm: Arm
    """What is run. Its profile has the same options as that of *of* where the toggle is in the load
    or in the workload."""

    metric: str
    expects: Better
    """Whether the toggled *metric* should be HIGHER or LOWER than the profile's own."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run as it lies on disk: all that a report is made of."""

    name: str
    """Its folder's name."""

    command: str
    """The command that repeats it."""

    plan: Plan
    environments: Mapping[str, Mapping[str, object]]
    """Digest -> what `lab.environment` read before the first trial."""

    trials: tuple[Trial, ...]
    """In the order in which they ran, repeats after the trial that they repeat."""

    skipped: Mapping[str, str] = field(default_factory=dict)
    """Profile that cannot run here -> why."""

    generator: str = "engine"
    """Name of the generator, and the door it came through: "engine", "locust", "locust x2"."""

    counters: tuple[CounterRun, ...] = ()
    """Counter-runs of the causes that its first blocks showed."""


# -- what is concluded -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Finding:
    """A gate that fired: why a trial does not count, and what to do about it."""

    gate: str
    reason: str
    advice: str
    withholds: frozenset[str] | None = None
    """Names of the metrics that it makes meaningless; None for all of them."""

    outside: bool = False
    """Whether the cause lies outside the experiment, so that the trial may be repeated."""


class Verdict(enum.StrEnum):
    """What a comparison allows to be said."""

    FASTER = "better"
    SLOWER = "worse"
    SAME = "same"
    """The whole interval lies within the floor."""
    UNDECIDED = "undecided"
    INVALID = "invalid"
    """Too few valid trials of one side."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A ratio with its confidence interval."""

    value: float
    low: float
    high: float
    n: int
    """Blocks."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Ratio of a profile to the one it is against, paired by block."""

    metric: str
    reference: str
    changed: str
    verdict: Verdict
    ratio: Estimate | None
    """changed / reference; None with fewer than two valid pairs."""

    detectable: float | None = None
    """Smallest ratio above 1 that so many blocks would find 4 times out of 5."""

    blocks_needed: int | None = None
    """About how many blocks would decide it; None unless undecided."""

    fragile: bool = False
    """Whether a rank-based estimate disagrees with the mean."""


@dataclass(frozen=True, slots=True)
class Cause:
    """What limited one trial."""

    name: str
    """See `lab.analysis.diagnose`: "router", "accept queue", "server CPU", ..."""

    evidence: str
    """The readings that show it, with their numbers."""

    rules_out: str = ""
    """What speaks against the other causes, with numbers."""


class Standing(enum.StrEnum):
    """How far a cause is proved."""

    CONSISTENT = "consistent with"
    """The readings fit; nothing was toggled, or the result is undecided."""
    CONFIRMED = "cause"
    """With the one setting toggled the metric moved as predicted, beyond the noise."""
    WITHDRAWN = "withdrawn"
    """With the one setting toggled the metric stayed where it was, or moved the other way."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A cause over the trials of one profile."""

    profile: str
    cause: Cause
    """As one of its trials shows it: the one in the middle."""
    trials: int
    """Trials that show it."""
    of: int
    """Trials that could."""
    standing: Standing
    counter: CounterRun | None = None
    effect: Comparison | None = None
    """The counter-run over the profile itself, by the counter-run's metric."""


class Decision(enum.StrEnum):
    """What a run says to a published claim."""

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


@dataclass(frozen=True, slots=True)
class Claim:
    """What an article says, in our words, and the comparison that puts it to the test."""

    id: str
    source: str
    """Short name of the article."""
    text: str
    workload: str
    reference: str
    """Profile."""
    changed: str
    """Profile."""
    metric: str = "throughput"
    published: tuple[float, float] | None = None
    """The article's figures, reference first; None where it shows a chart only."""
    ratio: float | None = None
    """changed / reference as published."""
    direction: str | None = None
    """Where no ratio is published: "above", "below" or "same"."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """A claim, decided by one run."""

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


# -- who does it -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a server answers: a numeric address, so that nothing is looked up under load."""

    host: str
    port: int
    name: str = ""
    """What its Host header says instead of the address, as "example.org:8080"."""

    @property
    def address(self) -> str:
        """Address and port: IPv6 addresses in brackets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        return self.name or self.address


class RunningServer(Protocol):
    """A started server that has given a correct reply; valid inside the `with` that made it."""

    endpoint: Endpoint
    pid: int
    """Root of its process tree: the guard, which reaps every orphan, so that CPU is exact."""

    def ended(self) -> str | None:
        """Return how a command of it ended, or None while all run."""

    def log_tail(self, lines: int = 20) -> str:
        """Return the last lines of its log."""


class Server(Protocol):
    """Adapter of one application server."""

    def start(
        self, profile: Profile, workload: Workload, folder: Path, cores: Sequence[int] | None
    ) -> AbstractContextManager[RunningServer]:
        """
        Start on a free port, wait until a correct reply is served, and stop on exit.

        Args:
            profile: What to run.
            workload: Its application, and the request and reply that prove readiness.
            folder: Private to this trial: log, sockets, pid files.
            cores: CPUs that it may use; None for all.

        Raises:
            ServerStartError: It ended, or gave no correct reply before the deadline.
        """


class Session(Protocol):
    """A generator under way against one server."""

    pids: Sequence[int]
    """The generator's processes on this machine."""

    def warm_up(self, seconds: float, requests: int) -> None:
        """
        Load unrecorded until both have passed, or 5 s more than *seconds*.

        A timed load goes on afterwards; a counted one falls silent.
        """

    def measure(self, seconds: float) -> Sequence[Window]:
        """Record *seconds* of a timed load, or one whole counted load."""


class Generator(Protocol):
    """Adapter of one load generator."""

    @property
    def name(self) -> str:
        """The generator and the door it came through: "engine", "locust", "locust x2"."""

    def session(
        self, endpoint: Endpoint, workload: Workload, load: Load, cores: Sequence[int] | None
    ) -> AbstractContextManager[Session]:
        """
        Connect to nothing yet; on exit close every connection.

        Raises:
            GeneratorError: The generator itself failed.
        """


@dataclass(frozen=True, slots=True)
class Subject:
    """What the probes look at."""

    server: int
    """Root process of the server's tree."""
    port: int
    generators: tuple[int, ...] = ()
    """The generator's processes on this machine, the lab's own among them."""


Stop = Callable[[], Mapping[str, float]]
"""Ends a probe: returns named readings over the window; one that could not be taken is absent."""


class Probe(Protocol):
    """A reading taken before and after the window."""

    def start(self, subject: Subject) -> Stop:
        """Read what is there before the window, and return what to call after it."""
