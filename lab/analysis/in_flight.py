"""Requests in flight at a server over time: from looks to figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from lab.analysis.ladder import Placement
from lab.model.connection import ConnectionState, UnixConnection

P95 = 0.95

IDLE, QUEUED, UNREAD, BUSY, SENDING = ConnectionState


@dataclass(frozen=True, slots=True)
class WorkerLook:
    """One worker at one look. Its connections have at most one request each."""

    busy: int
    """Requests that it has read, and those whose reply is on its way."""

    unread: int
    """Requests that it has accepted and not read."""

    segments: int
    """Segments with data that its connections received since the last look."""


@dataclass(frozen=True, slots=True)
class Look:
    """A server at one moment."""

    at: float
    """Seconds, monotonic."""

    states: Mapping[ConnectionState, int]
    """Connections in a state."""

    guessed: int
    """Connections whose state no evidence decided."""

    oldest_unread: float
    """Seconds since the oldest unread bytes came; 0 if none wait."""

    queue: int
    """Connections in the accept queue, with and without a request."""

    limit: int
    """Of the accept queue."""

    workers: Mapping[int, WorkerLook] = field(default_factory=dict)
    """Process -> what it holds; empty if the owners of connections cannot be read."""

    @property
    def connections(self) -> int:
        """All established connections."""
        return sum(self.states.values())

    @property
    def in_flight(self) -> int:
        """Requests that have arrived and are not answered in full."""
        return self.connections - self.states.get(IDLE, 0)

    @property
    def read(self) -> int:
        """Requests that the server has read."""
        return self.states.get(BUSY, 0) + self.states.get(SENDING, 0)

    @property
    def queued(self) -> int:
        """Requests that wait to be accepted."""
        return self.states.get(QUEUED, 0)

    def in_workers(self, threads: int | None) -> int:
        """
        Return the requests that the application works on.

        Args:
            threads: Requests that a worker can process at once, and no more, although it may read
                more; None: any number, or unknown.
        """
        if threads is None:
            return self.read
        if not self.workers:
            return self.read
        held = sum(worker.busy for worker in self.workers.values())
        taken = sum(min(threads, worker.busy) for worker in self.workers.values())
        return taken + self.read - held

    def waiting_inside(self, threads: int | None) -> int:
        """Return the requests that a worker has accepted and does not work on."""
        return self.in_flight - self.in_workers(threads) - self.queued


def look_at(
    at: float,
    placements: Iterable[Placement],
    owners: Mapping[int, int],
    queue: tuple[int, int],
) -> Look:
    """
    Return a look.

    Args:
        at: Seconds, monotonic.
        placements: All connections.
        owners: Inode -> process that has it open, as far as that is known.
        queue: Length and limit of the accept queue.
    """
    states: Counter[ConnectionState] = Counter()
    busy: Counter[int] = Counter()
    unread: Counter[int] = Counter()
    segments: Counter[int] = Counter()
    guessed = oldest = 0
    for placement in placements:
        state, connection = placement.state, placement.connection
        states[state] += 1
        guessed += placement.guessed
        if state is UNREAD:
            oldest = max(oldest, connection.last_received)
        owner = owners.get(connection.inode)
        if owner is not None:
            busy[owner] += state is BUSY or state is SENDING
            unread[owner] += state is UNREAD
            segments[owner] += placement.segments
    workers = {pid: WorkerLook(busy[pid], unread[pid], segments[pid]) for pid in busy}
    return Look(at, states, guessed, oldest / 1000, *queue, workers)


def look_at_unix(
    at: float,
    connections: Iterable[UnixConnection],
    owners: Mapping[int, int],
    queue: tuple[int, int],
) -> Look:
    """
    Return a look at a UNIX socket, of which each connection is taken for a request.

    Where connections are kept for later, that is more than there are. Arguments as of `look_at`.
    """
    busy: Counter[int] = Counter()
    unread: Counter[int] = Counter()
    states: Counter[ConnectionState] = Counter({QUEUED: queue[0]})
    for connection in connections:
        states[UNREAD if connection.unread else BUSY] += 1
        owner = owners.get(connection.inode)
        if owner is not None:
            busy[owner] += not connection.unread
            unread[owner] += bool(connection.unread)
    workers = {pid: WorkerLook(busy[pid], unread[pid], 0) for pid in busy}
    return Look(at, states, 0, 0.0, *queue, workers)


@dataclass(frozen=True, slots=True)
class Level:
    """A number of requests over time."""

    mean: float
    p95: int
    """In 95 of 100 looks there were at most so many."""
    most: int


def level(numbers: Sequence[int]) -> Level:
    """
    Return the level of *numbers*, one a look.

    >>> level([1, 1, 1, 5])
    Level(mean=2.0, p95=5, most=5)
    """
    ordered = sorted(numbers)
    return Level(fmean(ordered), ordered[int(P95 * len(ordered))], ordered[-1])


@dataclass(frozen=True, slots=True)
class WorkerShare:
    """What one worker had of all that the server did."""

    pid: int
    in_flight: float
    """Mean."""

    time: float | None
    """Share of the time that requests spent in workers; None: none spent any."""

    segments: float | None
    """Share of the segments with data that came; None: none came."""


@dataclass(frozen=True, slots=True)
class InFlight:
    """Requests in flight over several looks."""

    looks: int
    in_flight: Level
    in_workers: Level
    waiting_inside: Level
    queued: Level
    queue: Level
    """The accept queue: connections with and without a request."""

    limit: int
    sending: float
    """Mean number of replies on their way."""

    oldest_unread: float
    """Seconds."""

    guessed: float
    """Share of the connections looked at whose state no evidence decided."""

    waited: float
    """Share of the looks at which a request waited, inside or in the accept queue."""

    workers: Sequence[WorkerShare]
    segments: int
    """Segments with data that came to connections whose worker is known."""


def in_flight_of(looks: Sequence[Look], threads: int | None) -> InFlight:
    """Return the figures of *looks*, of which there is one at least; see `Look.in_workers`."""

    def over(number: Callable[[Look], int]) -> Level:
        return level([number(look) for look in looks])

    connections = sum(look.connections for look in looks)
    waited = sum(look.queued + look.waiting_inside(threads) > 0 for look in looks)
    return InFlight(
        looks=len(looks),
        in_flight=over(lambda look: look.in_flight),
        in_workers=over(lambda look: look.in_workers(threads)),
        waiting_inside=over(lambda look: look.waiting_inside(threads)),
        queued=over(lambda look: look.queued),
        queue=over(lambda look: look.queue),
        limit=looks[-1].limit,
        sending=fmean(look.states.get(SENDING, 0) for look in looks),
        oldest_unread=max(look.oldest_unread for look in looks),
        guessed=sum(look.guessed for look in looks) / connections if connections else 0.0,
        waited=waited / len(looks),
        workers=_shares(looks),
        segments=sum(worker.segments for look in looks for worker in look.workers.values()),
    )


def _shares(looks: Sequence[Look]) -> list[WorkerShare]:
    held: Counter[int] = Counter()
    segments: Counter[int] = Counter()
    for look in looks:
        for pid, worker in look.workers.items():
            held[pid] += worker.busy + worker.unread
            segments[pid] += worker.segments
    all_held, all_segments = held.total(), segments.total()
    return [
        WorkerShare(
            pid,
            held[pid] / len(looks),
            held[pid] / all_held if all_held else None,
            segments[pid] / all_segments if all_segments else None,
        )
        for pid in sorted(held)
    ]
