"""
The faults: what each is, how it is planted, and how one sees what the server did about it.

To add a fault, write the function that plants it here, under the `Fault` that it is. Nothing else
has to know of it. Its place in this file is its place in the table; where two faults share one
function, the lower one comes first.

What replaces or stops something is planted while a burst keeps every worker busy: it can hurt only
what is under way, and at 50 requests per second there is nothing for most of the time.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from time import perf_counter

from lab.bench.probes.sockets import SocketProbe
from lab.cli.stress.result import CONTROL
from lab.cli.stress.target import Target
from lab.model.protocols import Subject

BUSY = 16
"""Requests of the burst that keeps the workers busy: a few times 12 ms for each of four."""

RENEWAL = 10.0
"""Seconds for new workers to come; a chain reload takes two for each."""

KILLS, KILL_EVERY = 6, 0.9
"""Kills, and seconds from one to the next: all within some 5 s."""
REPLACEMENT = 5.0
"""Seconds for a killed worker's place to be taken: a master needs one, and two more where it finds
that workers die too fast."""

DOWN = 2.0
"""Seconds from a server's end to its next start: RestartSec of deploy/systemd."""
RETURN = 10.0
"""Seconds for it to start, and for its balancer to ask it again."""

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

RECYCLING = (("max-worker-lifetime", str(LIFETIME)), ("min-worker-lifetime", "1"))

TOUCHED = "reload-me"
"""The file of the chain reload, in the trial's folder."""


@dataclass(frozen=True, slots=True)
class FaultResponse:
    """What the server did about a fault."""

    effect: bool = True
    note: str = ""
    possible: bool = True
    """False if the profile has nothing to plant it in; the note says what it lacks."""
    killed: int | None = None
    """Workers that were killed; None of a fault that kills none."""
    replaced: int | None = None
    """Those whose place was taken."""


def nothing(_target: Target) -> FaultResponse:
    """Plant nothing: the control."""
    return FaultResponse()


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong, or is done, while the server is in use; see `FAULTS`."""

    name: str
    summary: str
    """In plain words, for under the table."""
    burst: int = 0
    """Requests sent at once on top of the steady load, each time that it is planted."""
    quick: bool = False
    """Whether those ask for something that takes no time."""
    options: tuple[tuple[str, str], ...] = ()
    """Options added to uWSGI for the trial, after the profile's own; {folder} is the trial's."""
    stops: bool = False
    """Whether the server is gone afterwards, so that who is refused then is not lost."""
    plant: Callable[[Target], FaultResponse] = nothing
    """Do it once, and return when the server has dealt with it, or has had the time to."""

    def sized(self, burst: int) -> Fault:
        """Return the same with another number of requests in its burst."""
        summary = self.summary.replace(f"{self.burst:,}", f"{burst:,}", 1)
        return replace(self, burst=burst, summary=summary)

    def __call__(
        self, plant: Callable[[Target], FaultResponse]
    ) -> Callable[[Target], FaultResponse]:
        """Decorate the function that plants it, and add it to `FAULTS`."""
        FAULTS.append(replace(self, plant=plant))
        return plant


FAULTS = [Fault(CONTROL, "the control: no fault; anything but 0 comes from this machine")]
"""In the order of the table."""


@Fault(
    "reload",
    "SIGHUP to each command of the profile, one after the other",
    burst=BUSY,
)
def reload(target: Target) -> FaultResponse:
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
    return FaultResponse(len(unmoved) < len(target.programs), "; ".join((*ended, *unmoved)))


@Fault(
    "chain-reload",
    "uWSGI replaces its workers one at a time when a file is touched (lazy-apps, "
    "touch-chain-reload, with a master)",
    burst=BUSY,
    options=(("lazy-apps", "true"), ("touch-chain-reload", f"{{folder}}/{TOUCHED}")),
)
def chain_reload(target: Target) -> FaultResponse:
    """Touch the file that uWSGI watches, and wait until every worker is another one."""
    renewed, spawned = target.renewal(), target.spawned()
    target.press()
    target.mark()
    (target.folder / TOUCHED).touch()
    done = target.until(renewed, 2 * RENEWAL)
    target.settle()
    if done:
        return FaultResponse()
    note = f"not every worker was replaced within {2 * RENEWAL:g} s"
    return FaultResponse(effect=target.spawned() != spawned, note=note)


@Fault(
    "recycle-delta",
    "the same with max-worker-lifetime-delta = 1",
    options=(*RECYCLING, ("max-worker-lifetime-delta", "1")),
)
@Fault(
    "recycle",
    f"max-worker-lifetime = {LIFETIME}: all workers reach it at the same time",
    options=(*RECYCLING, ("max-worker-lifetime-delta", "0")),
)
def recycle(target: Target) -> FaultResponse:
    """Wait until each worker has come to the end of its life, and another one has its place."""
    if target.logged() and "spawned uWSGI master" not in target.server.log():
        return FaultResponse(possible=False, note="only a master does it, and there is none")
    workers, renewed = target.workers(), target.renewal()

    def reached() -> bool:
        """Mark each worker's end when it comes: of a log, the master may write a second later."""
        for _ in range(target.ended(workers) - len(target.planted)):
            target.mark()
        return bool(target.planted)

    if not workers:
        return FaultResponse(effect=False, note="no worker can be replaced")
    if not target.until(reached, LIFETIME + 4.0):
        return FaultResponse(effect=False, note="no worker was replaced")
    if not target.until(lambda: reached() and renewed(), TURNS):
        return FaultResponse(note=f"not every worker was replaced within {TURNS:g} s of the first")
    return FaultResponse()


@Fault(
    "kill",
    f"SIGKILL to a worker, {KILLS} times, with {BUSY} requests in flight",
    burst=BUSY,
)
def kill(target: Target) -> FaultResponse:
    """
    Kill the oldest worker again and again, each time after the last one's place was taken.

    Not the youngest: uWSGI would find that workers die too fast, and let their places be empty for
    two seconds (forkbomb-delay).
    """
    killed = replaced = 0
    # Where no worker is left a command counts as one, and takes nobody's place.
    commands = {pid for pid, _ in target.server.commands}
    for turn in range(KILLS):
        if not (alive := target.workers()):
            break
        victim, spawned = alive[0], Counter(target.spawned())
        began = perf_counter()
        target.press()
        target.mark()
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
            killed += 1
        replaced += target.until(
            lambda: bool((Counter(target.spawned()) - spawned).keys() - commands),  # noqa: B023 - called here only
            REPLACEMENT,
        )
        target.settle()
        if turn < KILLS - 1:
            time.sleep(max(0.0, began + KILL_EVERY - perf_counter()))
    if not killed:
        return FaultResponse(effect=False, note="there is no worker to kill")
    none = "" if target.workers() else "no worker was left at the end"
    return FaultResponse(note=none, killed=killed, replaced=replaced)


@Fault(
    "kill-backend",
    f"SIGKILL to all processes of one server behind a balancer, with {BUSY} requests in flight; "
    f"it is started again after {DOWN:g} s",
    burst=BUSY,
)
def kill_backend(target: Target) -> FaultResponse:
    """Kill the first server behind a balancer, start it again, and wait until it is asked again."""
    backends = target.backends()
    if len(backends) < 2:
        note = "it needs two servers behind a balancer, and there is "
        return FaultResponse(possible=False, note=note + ("one" if backends else "none"))
    victim = backends[0]
    usual = target.pace(victim)
    target.press()
    target.mark()
    target.kill(victim)
    target.settle()
    time.sleep(max(0.0, target.planted[-1] + DOWN - perf_counter()))
    target.server.start_again(victim)
    began = perf_counter()
    is_asked = target.until(lambda: target.pace(victim) > usual / 2, RETURN)
    note = f"started again {began - target.planted[-1]:.1f} s after its end, it was "
    if not is_asked:
        return FaultResponse(note=f"{note}not asked again within {RETURN:g} s")
    return FaultResponse(note=f"{note}asked again within {perf_counter() - began:.1f} s")


@Fault(
    "drain",
    "each command gets its stop signal, the front first; a connection that is refused after that "
    "counts as turned away, not lost",
    burst=BUSY,
    stops=True,
)
def drain(target: Target) -> FaultResponse:
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
        return FaultResponse()
    return FaultResponse(
        note=f"{', '.join(lasting)} did not end within {STOP:g} s of the stop signal"
    )


@Fault(
    "slow-clients",
    f"{SLOW} connections that send one byte of their headers every {SLOW_EVERY:g} s for "
    f"{SLOW_SECONDS:g} s",
)
def slow_clients(target: Target) -> FaultResponse:
    """Hold connections on which the headers come byte by byte."""
    if target.server.endpoint.wire.manner.proxied:
        note = "it serves a proxy, which buffers slow clients"
        return FaultResponse(possible=False, note=note)
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
        return FaultResponse()
    return FaultResponse(
        bool(clients), f"only {len(clients)} of {SLOW} slow clients were connected"
    )


@Fault(
    "accept-queue",
    f"{QUEUE:,} clients that connect at once, for a reply that takes no time",
    burst=QUEUE,
    quick=True,
)
def accept_queue(target: Target) -> FaultResponse:
    """Let more clients connect at once than most accept queues hold."""
    stop = SocketProbe().start(Subject(target.server.pid, target.server.endpoint.port or None))
    target.mark()
    target.press()
    target.settle()
    dropped = stop().get("listener.drops")
    if dropped is None:
        return FaultResponse(note="how many handshakes were dropped cannot be read here")
    return FaultResponse(note=f"{dropped:,.0f} handshakes dropped" if dropped else "")


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
