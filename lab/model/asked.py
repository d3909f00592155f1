"""What is run: what is asked of profiles, and the plan that pairs them."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from lab.model.own import OURS, Runtime
from lab.model.profile import Profile
from lab.model.request import HOST, Expectation, Request


class Wire(enum.StrEnum):
    """How a request is sent, and how the end of its reply is told."""

    HTTP = "http"
    ECHO = "echo"
    """As many bytes back as were sent, and the same."""
    UWSGI = "uwsgi"
    """The request as nginx's `uwsgi_pass` sends it; a reply in HTTP, which ends with its
    connection."""


class Transport(enum.StrEnum):
    """What carries the bytes."""

    TCP = "tcp"
    UNIX = "unix"
    """A UNIX socket in the trial's own folder."""


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

    apps: Mapping[str, str] = field(default_factory=dict)
    """Interface -> what a server of that interface serves for it; "" where the server is the
    application itself. Empty where *app* says it, or the profile's own."""

    wire: Wire = Wire.HTTP
    transport: Transport = Transport.TCP
    size: int = 0
    """Echo: bytes of a message."""

    lines: int = 1
    """Echo: lines of *size* bytes that are sent at once, for servers that read by line."""

    backing: tuple[str, ...] = ()
    """Names of the backing services that its application needs."""

    words: tuple[tuple[str, str], ...] = ()
    """What their commands are filled with: (("delay", "50"),)."""

    runtime: Runtime = OURS
    """What a server of the application is started with."""

    beside: Runtime | None = None
    """What all but the user's own inis are started with, where the first of these says it; None
    where that is *runtime*, as in every arm."""

    host: str = HOST
    """Value of the Host header."""

    requests: tuple[Request, ...] = ()
    """What is asked, by weight; empty for GET *path* alone, whose reply is what *expect* says."""

    seed: int = 0
    """Of the order in which several requests are made."""

    work: str | None = None
    """A reading that must be alike, per reply, in all profiles: else they did not do the same
    work."""

    @property
    def asks(self) -> tuple[Request, ...]:
        """What is asked over HTTP, each with the reply that is right."""
        return self.requests or (Request(self.path, expect=self.expect),)

    @property
    def asked(self) -> str:
        """What is asked, for people: the request's target, or the size of the message."""
        first, *others = map(str, self.asks)
        asked = f"{first} and {len(others)} more" if others else first
        if self.wire is Wire.HTTP:
            return asked
        carrier = "TCP" if self.transport is Transport.TCP else "a UNIX socket"
        if self.wire is Wire.UWSGI:
            return f"{asked} by the uwsgi protocol over {carrier}"
        lines = f"{self.lines} lines of " if self.lines > 1 else ""
        return f"{lines}{self.size:,} bytes over {carrier}"

    @property
    def family(self) -> str:
        """What its variants have in common: "payload" of "payload-1k"."""
        return self.name.partition("-")[0]

    @property
    def unsized(self) -> str:
        """What its sizes have in common: "echo-unix" of "echo-unix-1k"."""
        return self.name.rpartition("-")[0]


class BackingRole(enum.StrEnum):
    """What a backing service is to the measurement."""

    UPSTREAM = "upstream"
    """Part of the load, on the generator's cores: what it limits does not count."""
    BACKEND = "backend"
    """Part of what is measured, on the server's cores: what it limits has a cause."""


Commands = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BackingService:
    """
    A program that servers need and that is not compared: a file of loadtests/backing/.

    Commands and *environment* hold {python} {here} {folder} {host} {port} and its *words*, which a
    workload may set. It is started by *prepare*, *run*, and *fill* when it is *ready*: a command
    ends with 0, or GET / gives 200 ("http"). Its programs are on PATH or in *path*, with {here}
    in it, of a pattern the highest version; *needs* installs them, *version* prints theirs. Where
    the lab is root, *user* owns {folder}, prepares and runs. Servers get its *environment*. Where
    the user has a variable *url*, that names a server of theirs, and nothing is started.
    """

    summary: str
    role: BackingRole
    run: Commands
    ready: Literal["http"] | tuple[str, ...]
    path: str = ""
    user: str = ""
    prepare: Commands = ()
    fill: Commands = ()
    version: tuple[str, ...] = ()
    needs: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    url: str = ""

    name: str = ""
    file: Path = field(default_factory=Path)
    digest: str = ""
    """SHA-256, in hexadecimal, of *file* and those that are named after it."""
    release: str = ""
    """What *version* printed."""
    theirs: bool = False
    """Whether *url* names another one."""

    def __str__(self) -> str:
        """Say what it is, and on whose cores."""
        if self.theirs:
            return f"{self.name}: a server of the user's ({self.url}), not watched"
        side = "generator" if self.role is BackingRole.UPSTREAM else "server"
        release = f" ({self.release})" if self.release else ""
        return f"{self.name}, on the cores of the {side}: {self.summary}{release}"


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
    """Open loop: requests/s, evenly spaced; None for a closed loop. Not with *requests*."""


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


SMALLEST = 0.05
"""Smallest difference that is looked for where nobody says, as a share."""


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
    minutes: float | None = None
    """Time that the blocks may take; None for a fixed number of them. With it *blocks* is the most
    that there may be."""
    looks: tuple[int, ...] = ()
    """Blocks after which is asked which comparisons have ended; none with a fixed number."""
    server_cores: str | None = None
    """CPUs of every server: "0,2-3". None where it may use all, and where the run does not say."""
    generator_cores: str | None = None
    """The same of the load."""
    backing: tuple[BackingService, ...] = ()
    """What its servers need, started before the first of them."""
    smallest: float = SMALLEST
    """Share that the run has to be able to tell from noise: else it is noisier than wanted."""

    @property
    def block(self) -> tuple[Arm, ...]:
        """The arms of one block: its own, and the reference's a second time."""
        again = (arm for arm in self.arms if arm.profile.name == self.reference)
        return (*self.arms, *(replace(arm, role=Role.AA) for arm in again))

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


class Better(enum.StrEnum):
    """The direction in which a metric improves."""

    HIGHER = "higher"
    LOWER = "lower"


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
