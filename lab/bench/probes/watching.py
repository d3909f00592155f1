"""Looks at a running server, again and again, for 1 % of a core at the most."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from lab.analysis.in_flight import Look, look_at, look_at_unix
from lab.analysis.ladder import Ladder
from lab.bench.probes.pressure import idle_seconds
from lab.bench.probes.sock_diag import ListeningSocket, SocketDiagnosis
from lab.bench.probes.sockets import Growth, drops
from lab.bench.probes.tcp import read_counters
from lab.bench.probes.waits import ThreadWaits
from lab.bench.probes.workers import Workers
from lab.errors import LabError
from lab.model.wording import in_a_line

PERIOD = 0.2
"""Seconds between two looks, at the least."""

BUDGET = 0.01
"""Share of a core that watching may cost: looks are rarer where they cost more."""

LEARNING = 1.0
"""Seconds at the beginning in which the ladder learns; their looks do not count."""


class ServerEndedError(LabError):
    """The server that was watched listens no more."""


@dataclass(frozen=True, slots=True)
class ListeningServer:
    """A running server."""

    listeners: Sequence[ListeningSocket]
    """One at least: of one port, or of one path."""

    root: int | None
    """Its first process; None: this user may not see who listens."""

    space: int | None = None
    """A process of its network namespace, where that is another one."""

    @property
    def is_unix(self) -> bool:
        """Whether it listens on a UNIX socket."""
        return self.listeners[0].family == socket.AF_UNIX

    @property
    def name(self) -> str:
        """Where it listens, as people write it."""
        return self.listeners[0].name

    @property
    def inodes(self) -> frozenset[int]:
        """Inodes of its listening sockets."""
        return frozenset(listener.inode for listener in self.listeners)


Server = TypeVar("Server", bound=ListeningServer)


@dataclass(slots=True)
class Watching(Generic[Server]):
    """Watches one server from one thread; reads, and does nothing else."""

    target: Server
    diagnosis: SocketDiagnosis
    sleep: Callable[[float], object] = time.sleep
    workers: Workers = field(init=False)
    waits: ThreadWaits = field(init=False)
    _ladder: Ladder = field(default_factory=Ladder)
    _listeners: list[ListeningSocket] = field(default_factory=list)
    _discarded: dict[int, int] = field(default_factory=dict)
    _counters: dict[str, int] = field(default_factory=dict)
    _began: float = 0.0
    _cpu: float = 0.0
    _idle: float | None = None

    def __post_init__(self) -> None:
        self.workers = Workers(self.target.root, self.target.inodes)
        self.waits = ThreadWaits(self.target.listeners[0].port, self.diagnosis)

    def looks(self, seconds: float | None) -> Iterator[Look]:
        """
        Yield the looks that count, for so many seconds; None: until nobody wants more.

        Raises:
            ServerEndedError: The server listens no more.
        """
        self._begin()
        until = None if seconds is None else self._began + LEARNING + seconds
        cpu, learns = self._cpu, True
        while until is None or time.monotonic() < until:
            look = self._look()
            if look.at >= self._began + LEARNING:
                if learns:  # a server that has just started may have had its first worker only
                    self.workers.search()
                learns = False
                yield look
            used = time.thread_time() - cpu
            cpu += used
            pause = max(PERIOD, used / BUDGET)
            self.sleep(pause if until is None else max(0.0, min(pause, until - time.monotonic())))

    @property
    def elapsed(self) -> float:
        """Seconds since it began, those included in which the ladder learns."""
        return time.monotonic() - self._began

    @property
    def idle(self) -> float | None:
        """Cores of the machine that were idle since it began; None: unknown."""
        now = idle_seconds()
        if now is None or self._idle is None:
            return None
        return (now - self._idle) / self.elapsed

    @property
    def cost(self) -> float:
        """Share of a core that watching has cost so far."""
        return (time.thread_time() - self._cpu) / max(1e-9, self.elapsed)

    def dropped(self) -> int | None:
        """Return the handshakes dropped from the full accept queue so far; None: unknown."""
        if self.target.is_unix:
            return None
        now = read_counters(self.target.space or "self")
        counters = {
            name: float(now[name] - self._counters[name]) for name in now if name in self._counters
        }
        growths = [
            # Whether a listener defers its accepts is unknown: a drop may be missed, none invented.
            Growth(True, True, listener.discarded - self._discarded[listener.inode])
            for listener in self._listeners
        ]
        number = drops(growths, counters).get("listener.drops")
        return None if number is None else round(number)

    def _begin(self) -> None:
        self._began, self._cpu = time.monotonic(), time.thread_time()
        self._idle = idle_seconds()
        self._counters = read_counters(self.target.space or "self")
        self._listeners = self._read_listeners()
        self.workers.search()

    def _look(self) -> Look:
        if self.target.is_unix:
            return self._look_unix()
        port = self.target.listeners[0].port
        self._listeners = self._read_listeners()
        connections = [
            connection
            for family in sorted({listener.family for listener in self._listeners})
            for connection in self.diagnosis.connections(port, family)
            if any(listener.takes(connection) for listener in self._listeners)
        ]
        inodes = {connection.inode for connection in connections} - {0}
        owners = self.workers.owners(inodes)
        placements = self._ladder.judge(connections)
        return look_at(time.monotonic(), placements, owners, self._queue())

    def _look_unix(self) -> Look:
        listeners, connections = self.diagnosis.unix(self.target.listeners[0].address)
        self._listeners = self._known(listeners)
        owners = self.workers.owners({connection.inode for connection in connections})
        return look_at_unix(time.monotonic(), connections, owners, self._queue())

    def _queue(self) -> tuple[int, int]:
        """Return length and limit of the accept queue."""
        queue = sum(listener.queue for listener in self._listeners)
        return queue, sum(listener.limit for listener in self._listeners)

    def _read_listeners(self) -> list[ListeningSocket]:
        """Return the server's listening sockets; see `_known`."""
        first = self.target.listeners[0]
        if self.target.is_unix:
            return self._known(self.diagnosis.unix(first.address)[0])
        return self._known(self.diagnosis.listeners(first.port))

    def _known(self, listeners: Sequence[ListeningSocket]) -> list[ListeningSocket]:
        """
        Return those of *listeners* that are the server's.

        Raises:
            ServerEndedError: None is.
        """
        # With SO_REUSEPORT, and after a restart, there are new sockets.
        addresses = {listener.address for listener in self.target.listeners}
        listeners = [listener for listener in listeners if listener.address in addresses]
        if not listeners:
            raise ServerEndedError(f"{in_a_line(self.target.name)}: the server listens no more")
        self.workers.check()
        for listener in listeners:
            self._discarded.setdefault(listener.inode, listener.discarded)
        self.workers.inodes = frozenset(listener.inode for listener in listeners)
        return listeners
