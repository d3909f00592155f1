"""
How each fault is planted, and how one sees what the server did about it.

What replaces or stops something is planted while a burst keeps every worker busy: it can hurt only
what is under way, and at 50 requests a second there is nothing for most of the time.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from time import perf_counter

from lab.model import Subject
from lab.probes.sockets import SocketProbe
from lab.stress.target import Target

BUSY = 16
"""Requests of the burst that keeps the workers busy: a few times 12 ms for each of four."""

RENEWAL = 10.0
"""Seconds for new workers to come; a chain reload takes two for each."""

KILLS, KILL_EVERY = 6, 0.9
"""Kills, and seconds from one to the next: all within some 5 s."""
REPLACEMENT = 5.0
"""Seconds for a killed worker's place to be taken: a master needs one, and two more where it finds
that workers die too fast."""

STOP = 10.0
"""Seconds for one command to finish its requests and end."""

SLOW, SLOW_SECONDS, SLOW_EVERY = 50, 5.0, 0.5
"""Slow clients; how long they last; seconds between two bytes of each."""

QUEUE = 1000
"""Connections at once: ten times uWSGI's default accept queue."""

LIFETIME = 6
"""Seconds of a worker: the first generation ends while the load runs, and the next one after it."""
TURNS = 3.5
"""Seconds from the first worker's end to the last one's: the load goes on a little after it, and
must be over before the second generation's end."""

TOUCHED = "reload-me"
"""The file of the chain reload, in the trial's folder."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the server did about a fault."""

    effect: bool = True
    note: str = ""
    possible: bool = True
    """False if the profile has nothing to plant it in; the note says what it lacks."""
    killed: int | None = None
    """Workers that were killed; None of a fault that kills none."""
    replaced: int | None = None
    """Those whose place was taken."""


def nothing(_target: Target) -> Seen:
    """Plant nothing: the control."""
    return Seen()


def reload(target: Target) -> Seen:
    """Send SIGHUP to each command, and go on when it serves with new processes."""
    ended, unmoved = [], []
    for index, name in enumerate(target.programs):
        renewed, has_ended = target.renewal(index), target.has_ended(index)
        target.press()
        target.mark()
        target.server.signal(index, signal.SIGHUP)
        target.until(lambda: has_ended() or renewed(), RENEWAL)  # noqa: B023 - called here only
        if has_ended():
            ended.append(f"{name} ended: it takes SIGHUP for a stop")
        elif not renewed():
            unmoved.append(f"{name} had no new process within {RENEWAL:g} s of SIGHUP")
        target.settle()
    return Seen(len(unmoved) < len(target.programs), "; ".join((*ended, *unmoved)))


def chain_reload(target: Target) -> Seen:
    """Touch the file that uWSGI watches, and wait until every worker is another one."""
    renewed, told = target.renewal(), target.spawned()
    target.press()
    target.mark()
    (target.folder / TOUCHED).touch()
    done = target.until(renewed, 2 * RENEWAL)
    target.settle()
    if done:
        return Seen()
    note = f"not every worker was replaced within {2 * RENEWAL:g} s"
    return Seen(effect=target.spawned() != told, note=note)


def recycle(target: Target) -> Seen:
    """Wait until each worker has come to the end of its life, and another one has its place."""
    if target.told() and "spawned uWSGI master" not in target.server.log():
        return Seen(possible=False, note="there is no master, who does it")
    workers, renewed = target.workers(), target.renewal()

    def reached() -> bool:
        """Mark each worker's end when it comes: of a log, the master may write a second later."""
        for _ in range(target.ended(workers) - len(target.planted)):
            target.mark()
        return bool(target.planted)

    if not workers:
        return Seen(effect=False, note="no worker was found that could be replaced")
    if not target.until(reached, LIFETIME + 4.0):
        return Seen(effect=False, note="no worker was replaced")
    if not target.until(lambda: reached() and renewed(), TURNS):
        return Seen(note=f"not every worker was replaced within {TURNS:g} s of the first")
    return Seen()


def kill(target: Target) -> Seen:
    """
    Kill the oldest worker again and again, each time after the last one's place was taken.

    Not the youngest: uWSGI would find that workers die too fast, and let their places be empty for
    two seconds (forkbomb-delay).
    """
    killed = replaced = 0
    for turn in range(KILLS):
        if not (alive := target.workers()):
            break
        victim, told = alive[0], target.spawned()
        began = perf_counter()
        target.press()
        target.mark()
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
            killed += 1
        replaced += target.until(_more_than(target, told), REPLACEMENT)
        target.settle()
        if turn < KILLS - 1:
            time.sleep(max(0.0, began + KILL_EVERY - perf_counter()))
    if not killed:
        return Seen(effect=False, note="no worker was found to kill")
    none = "" if target.workers() else "in the end there was no worker"
    return Seen(note=none, killed=killed, replaced=replaced)


def drain(target: Target) -> Seen:
    """Ask each command, the front first, to finish its requests and end."""
    lasting = []
    target.press()
    target.mark()
    for index, name in enumerate(target.programs):
        if target.server.signal(index, target.stop_signal(index)) and not target.server.wait(
            index, STOP
        ):
            lasting.append(name)
    target.settle()
    if not lasting:
        return Seen()
    return Seen(note=f"{', '.join(lasting)} did not end within {STOP:g} s of being asked to")


def slow_clients(target: Target) -> Seen:
    """Hold connections on which the headers come byte by byte."""
    with _slow(target) as clients:
        target.mark()
        end = perf_counter() + SLOW_SECONDS
        while perf_counter() < end:
            for client in clients:
                # Its buffer is empty, so this takes no time; the server may have closed meanwhile.
                with suppress(OSError):
                    client.send(b"x")
            time.sleep(SLOW_EVERY)
    if len(clients) == SLOW:
        return Seen()
    return Seen(bool(clients), f"only {len(clients)} of {SLOW} slow clients were connected")


def accept_queue(target: Target) -> Seen:
    """Let more clients connect at once than most accept queues hold."""
    stop = SocketProbe().start(Subject(target.server.pid, target.server.endpoint.port))
    target.mark()
    target.press()
    target.settle()
    dropped = stop().get("listener.drops")
    if dropped is None:
        return Seen(note="how many handshakes were dropped cannot be read here")
    return Seen(note=f"{dropped:,.0f} handshakes dropped" if dropped else "")


@contextmanager
def _slow(target: Target) -> Iterator[list[socket.socket]]:
    endpoint = target.server.endpoint
    with ExitStack() as stack:
        clients = []
        for _ in range(SLOW):
            with suppress(OSError):
                address = (endpoint.host, endpoint.port)
                client = stack.enter_context(socket.create_connection(address, timeout=0.1))
                client.setblocking(False)
                client.send(b"GET / HTTP/1.1\r\nX-Slow: ")
                clients.append(client)
        yield clients


def _more_than(target: Target, told: list[int]) -> Callable[[], bool]:
    """Return what tells whether a worker was spawned that is not among *told*."""

    def more() -> bool:
        now = target.spawned()
        return len(now) > len(told) or bool(set(now) - set(told))

    return more
