"""
The server's accept queues: how full, and how many handshakes were dropped from them.

The kernel counts for each listener the segments it discarded (sk_drops; `d` in `ss -m`). On a
plain listener that grows as ListenDrops does (Linux 6.18: 585 and 585 with a backlog of 4 and 200
clients). Two things come on top:

- With TCP_DEFER_ACCEPT, which uWSGI sets on every TCP socket, the bare end of each handshake is
  discarded until data follows. The namespace counts those as TCPDeferAcceptDrop.
- A handshake that finds the queue full only at its end counts twice (625 = 595 + 5 deferred + 25).
  ListenDrops counts it once, so it is the upper bound.

What other programs in the namespace do can hide a part of this server's drops, if they defer too,
but never invent one. Where it may hide all of them, the reading is absent.

Sources: net/ipv4/tcp_ipv4.c, tcp_minisocks.c (tcp_check_req).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from lab.bench.probes.listeners import Listener, read_listeners
from lab.bench.probes.processes import Snapshot, read_snapshot
from lab.bench.probes.tcp import grown_since, read_counters
from lab.model.protocols import Stop, Subject

LEAST_BEHIND = 0.05
"""CPU of those behind a router, as a share of its own, that shows that requests reach them: with an
application that answers one byte, uWSGI's workers used 0.36; an idle master wakes once a second."""


@dataclass(frozen=True, slots=True)
class Growth:
    """What a listener discarded in the window."""

    public: bool
    """Whether it has the port that clients connect to."""
    defers: bool
    """Whether it has TCP_DEFER_ACCEPT."""
    discarded: int


class SocketProbe:
    """Drops of the listener that clients connect to, and of those behind it."""

    def start(self, subject: Subject) -> Stop:
        """
        Read what each listener has discarded; `stop` returns `listener.*` and `server.router`.

        `listener.drops` is the total. `listener.public.drops` and `listener.inner.drops` say where
        they fell, and are absent where that cannot be told. `listener.public.queue` and `.limit`
        are connections, as the window ends. For `server.router` see `router`. There is no reading
        at all where the server's sockets cannot be read, or it has none.
        """
        snapshot = read_snapshot(subject.server)
        listeners = read_listeners(_pids(snapshot, subject))
        discarded = (
            None
            if listeners is None
            else {listener.inode: listener.discarded for listener in listeners}
        )
        return partial(_readings, subject, snapshot, discarded, read_counters())


def drops(growths: Iterable[Growth], counters: Mapping[str, float]) -> dict[str, float]:
    """
    Return the handshakes that this server dropped, in all and by side.

    Args:
        growths: Of its listeners.
        counters: Growth of the namespace's TCPDeferAcceptDrop and ListenDrops; where one is absent
            nothing can be concluded, and nothing is returned. Nor is it where others deferred
            handshakes and some were dropped: they may be all ours, or none.
    """
    growths = tuple(growths)
    if not {"TCPDeferAcceptDrop", "ListenDrops"} <= counters.keys():
        return {}
    plain = sum(growth.discarded for growth in growths if not growth.defers)
    deferred = sum(growth.discarded for growth in growths if growth.defers)
    overflowed = deferred - counters["TCPDeferAcceptDrop"] if deferred else 0.0
    if overflowed < 0 < counters["ListenDrops"] - plain:
        return {}
    total = min(plain + max(0.0, overflowed), counters["ListenDrops"])
    readings = {"listener.drops": float(total)}
    for public, name in ((True, "public"), (False, "inner")):
        here = [growth.discarded for growth in growths if growth.public == public]
        most = min(total, sum(here))
        least = total - min(total, sum(growth.discarded for growth in growths) - sum(here))
        if here and most == least:
            readings[f"listener.{name}.drops"] = float(most)
    return readings


def router(
    listeners: Iterable[Listener], port: int | None, before: Snapshot, now: Snapshot
) -> float | None:
    """
    Return the share of a core that went into passing requests on to the tree's own workers.

    Of uWSGI's `http` the router has the public listener open and not the inner one, which the
    workers have; of a proxy started with its server, the proxy has one and the server the other.
    So who answers clients and cannot take what is passed on inside is the router. None without an
    inner listener, and where its holders did next to nothing: then it is another port, such as
    that of uWSGI's statistics, and nothing is passed on.
    """
    listeners = tuple(listeners)
    public = {pid for listener in listeners if listener.port == port for pid in listener.holders}
    inner = {pid for listener in listeners if listener.port != port for pid in listener.holders}
    earlier = {process.key: process.cpu_seconds for process in before.processes.values()}

    def used(pids: set[int]) -> float:
        members = [now.processes[pid] for pid in pids if pid in now.processes]
        return sum(member.cpu_seconds - earlier.get(member.key, 0.0) for member in members)

    passing = used(public - inner)
    if not inner or not public - inner or now.at <= before.at:
        return None
    if used(inner) <= LEAST_BEHIND * passing:
        return None
    return passing / (now.at - before.at)


def _readings(
    subject: Subject,
    before: Snapshot,
    discarded: Mapping[int, int] | None,
    counters_before: Mapping[str, int],
) -> Mapping[str, float]:
    counters = grown_since(counters_before)
    snapshot = read_snapshot(subject.server)
    listeners = read_listeners(_pids(snapshot, subject))
    if discarded is None or not listeners:
        return {}
    growths = [
        Growth(
            public=listener.port == subject.port,
            # Where it is unknown a drop may be missed, and none is invented.
            defers=listener.defers is not False,
            discarded=listener.discarded - discarded.get(listener.inode, 0),
        )
        for listener in listeners
    ]
    readings = _queues(listeners, subject.port) | drops(growths, counters)
    share = router(listeners, subject.port, before, snapshot)
    return readings if share is None else readings | {"server.router": share}


def _queues(listeners: Iterable[Listener], port: int | None) -> dict[str, float]:
    """Return the public queue; of several sockets on one port, as with SO_REUSEPORT, the sum."""
    public = [listener for listener in listeners if listener.port == port]
    if not public:
        return {}
    return {
        "listener.public.queue": float(sum(listener.queue for listener in public)),
        "listener.public.limit": float(sum(listener.limit for listener in public)),
    }


def _pids(snapshot: Snapshot, subject: Subject) -> list[int]:
    return [process.pid for process in snapshot.tree(subject.server)]
