"""Who does it: the protocols of servers, generators and probes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lab.model.backing import BackingRole
from lab.model.measurement import Window
from lab.model.plan import Load
from lab.model.profile import Profile
from lab.model.workload import Wire, Workload


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a server answers: a numeric address, so that nothing is looked up under load."""

    host: str
    port: int
    socket: str = ""
    """Path of the UNIX socket where it answers instead of at *host* and *port*, which is 0."""

    wire: Wire = Wire.HTTP
    """What it is to be asked in."""

    @property
    def target(self) -> tuple[str, int] | str:
        """What a client connects to: address and port, or the path of a UNIX socket."""
        return self.socket or (self.host, self.port)

    @property
    def address(self) -> str:
        """Address and port, IPv6 addresses in brackets; or "unix:" and the path of a socket."""
        if self.socket:
            return f"unix:{self.socket}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class RunningServer(Protocol):
    """A started server that has given a correct reply; valid inside the `with` that made it."""

    endpoint: Endpoint
    pid: int
    """Root of its process tree: the guard, which reaps every orphan, so that CPU is exact."""

    def ended(self) -> str | None:
        """Return how a command of it ended, or None while all run."""

    def log_tail(self, lines: int = 20) -> str:
        """Return the last lines of its log."""


class Runner(Protocol):
    """Adapter of one application server."""

    def check(self, profile: Profile) -> None:
        """
        Refuse a profile that the lab cannot run, or that would harm a server which runs now.

        Raises:
            ProfileError: With the option, and what to do.
        """

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

    elsewhere: bool
    """Whether it has none here, so that the server has the whole machine."""

    def warm_up(self, seconds: float, requests: int) -> None:
        """
        Load unrecorded until both have passed, or 5 s more than *seconds*.

        A timed load goes on afterwards; a counted one falls silent.
        """

    def measure(self, seconds: float) -> Sequence[Window]:
        """Record *seconds* of a timed load, or one whole counted load."""

    def pause(self) -> None:
        """End a timed load until the next warm-up, when its requests have their replies."""


class Generator(Protocol):
    """Adapter of one load generator."""

    @property
    def name(self) -> str:
        """The generator, or the command that has it, and its processes: "engine x2", "locust"."""

    def hosts(self, address: str) -> Mapping[str, Mapping[str, Any]]:
        """
        Return what is known of each other host that the load comes from, by its name.

        From now on it has to come from the same processes.

        Args:
            address: Where the servers of the run will listen.

        Raises:
            UsageError: A process on another host could not reach them there.
        """

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
    port: int | None
    """Where it answers over TCP; None over a UNIX socket."""
    generators: tuple[int, ...] = ()
    """The generator's processes on this machine, the lab's own among them."""
    backing: tuple[tuple[int, BackingRole], ...] = ()
    """The root process of each backing service that the lab has started."""


Stop = Callable[[], Mapping[str, float]]
"""Ends a probe: returns named readings over the window; one that could not be taken is absent."""


class Probe(Protocol):
    """A reading taken before and after the window."""

    def start(self, subject: Subject) -> Stop:
        """Read what is there before the window, and return what to call after it."""
