"""
Where the requests of a run are, and how they spread over the workers: the looks of `lab watch`.

The looks are made on the load generator's cores, for at most 1 % of one. They need no rights beyond
those of a run: the server is a descendant of the lab.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from lab.analysis.in_flight import InFlight, Look, in_flight_of
from lab.bench.probes.holders import read_sockets
from lab.bench.probes.processes import PROC, read_snapshot
from lab.bench.probes.sock_diag import SocketDiagnosis
from lab.bench.probes.waits import waiting_threads, waits_elsewhere
from lab.bench.probes.watching import ListeningServer, Watching
from lab.errors import LabError
from lab.model.protocols import Stop, Subject

THIS_THREAD = PROC / "thread-self"

LEAST_LOOKS = 3
"""Fewer say nothing of a window. One of 3 s has 4 to 8: a look costs 4 ms, and the first second has
none that counts."""

SAMPLES = 4
"""Times that the main threads are seen between two looks."""

LEAST_SEGMENTS = 100
"""Segments with data, of which a small request has one, below which chance makes the shares."""


class _EndedError(Exception):
    """The window has ended."""


class RequestProbe:
    """Looks at the port that clients connect to, all through the window."""

    def start(self, subject: Subject) -> Stop:
        """
        Begin to look; `stop` returns `requests.*` and `workers.*`.

        `requests.in_flight`, `.read`, `.unread` and `.queued` are means: all, those that a worker
        has read, those that one has accepted and not read, and those in the accept queue.
        `workers.number` counts the processes that accept connections; `workers.most` is the share
        of the segments with data that the busiest of them received. `workers.elsewhere` is a share
        of the looks at main threads that waited: those in which they did not wait for their
        sockets. `workers.waiting_threads` is the largest number of a worker's other threads that
        waited at a time within a call that is no lock. There is no reading over a UNIX socket, in
        a short window, and where the kernel describes no sockets; no `requests.*` and
        `workers.most` of fewer than LEAST_LOOKS, and no `workers.most` of fewer than
        LEAST_SEGMENTS.
        """
        if subject.port is None:
            return dict
        looking = _Looking(subject, subject.port)
        looking.thread.start()
        return looking.stop


@dataclass(slots=True)
class _Looking:
    subject: Subject
    port: int
    thread: threading.Thread = field(init=False)
    looks: list[Look] = field(default_factory=list)
    _pids: Sequence[int] = ()
    """The workers, as the last look had them."""
    _elsewhere: list[bool] = field(default_factory=list)
    """Of each look at a main thread that waited, whether it was not for its sockets."""
    _waiting: list[int] = field(default_factory=list)
    """Of the first looks at each worker, its other threads that waited within a call."""
    _ended: threading.Event = field(default_factory=threading.Event)
    _home: Path = field(default_factory=THIS_THREAD.readlink)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._look, name="looks", daemon=True)

    def stop(self) -> Mapping[str, float]:
        """End, and return the readings."""
        self._ended.set()
        self.thread.join()
        readings: dict[str, float] = {}
        if len(self.looks) >= LEAST_LOOKS:
            readings = _readings(in_flight_of(self.looks, None), self.looks)
        # Of many threads a look takes so long that there are one or two.
        if self.looks:
            readings["workers.number"] = float(len(self._pids))
        if len(self._elsewhere) >= LEAST_LOOKS:
            readings["workers.elsewhere"] = fmean(self._elsewhere)
        if self._waiting:
            readings["workers.waiting_threads"] = float(max(self._waiting))
        return readings

    def _look(self) -> None:
        if THIS_THREAD.readlink() == self._home:
            return  # gevent has replaced the threads of this process, and a look would stop it
        with suppress(OSError):
            for pid in self.subject.generators[:1]:
                os.sched_setaffinity(0, os.sched_getaffinity(pid))
        with suppress(LabError, OSError, _EndedError), SocketDiagnosis() as diagnosis:
            server = _server(self.subject, self.port, diagnosis)
            watching = Watching(server, diagnosis, self._pause)
            for look in watching.looks(None):
                self.looks.append(look)
                self._pids = watching.workers.shown(look.workers)
                if len(self.looks) <= LEAST_LOOKS:  # of many threads it costs as much as a look
                    self._waiting += map(waiting_threads, self._pids)

    def _pause(self, seconds: float) -> None:
        """
        Wait until the next look, and see meanwhile where the main threads are.

        Raises:
            _EndedError: The window has ended.
        """
        for _ in range(SAMPLES):
            waits = map(waits_elsewhere, self._pids)
            self._elsewhere += [elsewhere for elsewhere in waits if elsewhere is not None]
            if self._ended.wait(seconds / SAMPLES):
                raise _EndedError


def _server(subject: Subject, port: int, diagnosis: SocketDiagnosis) -> ListeningServer:
    """Return the server that has the port, of those that may listen there at other addresses."""
    inodes: set[int] = set()
    for process in read_snapshot(subject.server).tree(subject.server):
        inodes.update(read_sockets(process.pid).values())
    listeners = [listener for listener in diagnosis.listeners(port) if listener.inode in inodes]
    if not listeners:
        raise LabError(f"the server does not listen on port {port}")
    return ListeningServer(listeners, subject.server)


def _readings(figures: InFlight, looks: Sequence[Look]) -> dict[str, float]:
    readings = {
        "requests.in_flight": figures.in_flight.mean,
        "requests.read": fmean(look.read for look in looks),
        "requests.unread": figures.waiting_inside.mean,
        "requests.queued": figures.queued.mean,
    }
    if figures.segments >= LEAST_SEGMENTS:
        shares = [share.segments for share in figures.workers if share.segments is not None]
        readings["workers.most"] = max(shares)
    return readings
