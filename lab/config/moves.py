"""
Moves: one setting of a profile, or its load, or its workload, changed.

A counter-run puts a cause to the test by a move. It is said in meanings, and the vocabulary knows
how a server is told them, as for `lab tune`. A move is a function of an arm; it returns None where
the arm leaves nothing to change. To add one, write its function, and name it where it is used: in
its cause (`lab.analysis.causes`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from lab.config import servers
from lab.config.configuration import somaxconn
from lab.config.steps import Drop, Put, Rename, Step
from lab.config.uwsgi import asks_to_close, steps
from lab.config.vocabulary.steps_for_meaning import NO
from lab.model.plan import Arm, Load
from lab.model.profile import Profile

MOST_WORKERS = 256
"""Worker processes that a move may ask for; more do not start before a server's deadline."""

MOST_KEEPING = 16
"""Worker processes for kept connections, each of which holds one. More would measure their number:
with 32, for 64 clients, throughput of a Flask application fell to less than half."""

DEFAULT_LISTEN = 100
"""uWSGI's own."""

SMALLEST = "hello"
"""Name of the workload of the smallest application."""

RECYCLING = (
    *("evil-reload-on-as", "evil-reload-on-rss", "max-requests", "max-requests-delta"),
    *("max-worker-lifetime", "max-worker-lifetime-delta", "min-worker-lifetime"),
    *("reload-on-as", "reload-on-rss"),
)
"""Options that replace workers by age, requests or memory."""


@dataclass(frozen=True, slots=True)
class Move:
    """One change of a profile, its load or its workload."""

    name: str
    """Ends the name of its profile: "http-socket" makes baseline~http-socket."""
    text: str
    """For people: "http-socket instead of http"."""
    steps: tuple[Step, ...] = ()
    """Where the change is in the profile's options."""
    load: Load | None = None
    """Where the change is in the load."""
    workload: str | None = None
    """Where the change is in what is asked: its name in `lab.bench.workloads`."""
    workers: int = 1
    """How many times the workers that the trials had, whichever server's command it is."""
    pool: int = 1
    """How many times the threads that AnyIO has for `def` handlers."""
    pinned: bool = False
    """Whether the server is kept to one CPU."""


TWICE_THE_WORKERS = Move("twice-the-workers", "twice the workers", workers=2)
ON_ONE_CPU = Move("one-cpu", "the server on one CPU", pinned=True)
LARGER_POOL = Move("larger-pool", "five times the threads for `def` handlers", pool=5)


def longer_queue(arm: Arm) -> Move | None:
    """Make the accept queue twice as long as the clients are many, as far as the kernel allows."""
    # Without such a file, as in some sandboxes, uWSGI checks nothing.
    length = min(2 * arm.load.connections, somaxconn() or 4096)
    before = dict(arm.profile.options).get("listen", str(DEFAULT_LISTEN))
    if before.isdecimal() and int(before) >= length:
        return None
    return Move("listen", f"listen = {length}", _steps(arm, {"backlog": length}))


def without_router(arm: Arm) -> Move | None:
    """Let the workers speak HTTP themselves."""
    if not any(key == "http" and "{port}" in value for key, value in arm.profile.options):
        return None
    written = (key for key, _ in arm.profile.options)
    return Move("http-socket", "http-socket instead of http", tuple(steps.without_router(written)))


def second_process(arm: Arm) -> Move | None:
    """Add a second worker process."""
    return _exactly(arm, 2)


def processes_for_threads(arm: Arm) -> Move | None:
    """Replace each thread by a process."""
    settings = servers.settings(arm.profile)
    if settings.processes is None or settings.at_once is None or settings.at_once < 2:
        return None
    processes = min(settings.processes * settings.at_once, MOST_WORKERS)
    changes = _steps(arm, {"workers": processes, "threads": 1})
    return Move(f"{processes}-processes", f"threads = 1 and processes = {processes}", changes)


def twice_the_processes(arm: Arm) -> Move | None:
    """Double the workers."""
    processes = servers.settings(arm.profile).processes
    if processes is None or 2 * processes > MOST_WORKERS:
        return None
    return _exactly(arm, 2 * processes)


def half_the_processes(arm: Arm) -> Move | None:
    """Halve the workers."""
    processes = servers.settings(arm.profile).processes
    if processes is None or processes < 2:
        return None
    return _exactly(arm, processes // 2)


def _exactly(arm: Arm, processes: int) -> Move:
    text = f"processes = {processes}"
    return Move(f"{processes}-processes", text, _steps(arm, {"workers": processes}))


def without_lock(arm: Arm) -> Move | None:
    """Wait for connections without the lock under which worker processes do it."""
    if not servers.settings(arm.profile).accept_lock:
        return None
    return Move("no-thunder-lock", "thunder-lock off", _steps(arm, {"turns": NO}))


def without_request_log(arm: Arm) -> Move | None:
    """Log no requests."""
    if not servers.settings(arm.profile).logs:
        return None
    return Move("disable-logging", "disable-logging", _steps(arm, {"access-log": NO}))


def kept_connections(arm: Arm) -> Move | None:
    """
    Keep connections open: the client if the server would, else the workers themselves.

    A header that tells clients to close would undo either, so it goes as well.
    """
    headers = tuple(_not_closing(arm.profile))
    load = replace(arm.load, keepalive=True)
    if not arm.load.keepalive and arm.profile.keepalive:
        return Move("keepalive", "clients that keep connections", headers, load)
    if arm.profile.keepalive or not any(key == "http-socket" for key, _ in arm.profile.options):
        return None
    # A kept connection holds its worker, so each connection needs one.
    settings = servers.settings(arm.profile)
    if settings.processes is None or settings.at_once is None:
        return None
    workers = max(settings.processes, -(-arm.load.connections // settings.at_once))
    if workers > MOST_KEEPING:
        return None
    socket = Rename("http-socket", "http11-socket")
    text = f"http11-socket instead of http-socket, a worker for each connection ({workers})"
    changes = (*headers, socket, *_steps(arm, {"workers": workers}))
    return Move("http11-socket", text, changes, load)


def _not_closing(profile: Profile) -> Iterator[Step]:
    """Yield how the header goes, and the others stay."""
    headers = [pair for pair in profile.options if pair[0] == "add-header"]
    if any(asks_to_close(*pair) for pair in headers):
        yield Drop("add-header")
        yield from (Put(*pair) for pair in headers if not asks_to_close(*pair))


def without_recycling(arm: Arm) -> Move | None:
    """Keep the workers."""
    written = dict(arm.profile.options)
    dropped = tuple(Drop(option) for option in RECYCLING if option in written)
    return Move("no-recycling", "no recycling of workers", dropped) if dropped else None


def smallest_application(arm: Arm) -> Move | None:  # noqa: ARG001 - one shape for all
    """Ask for less work: the smallest application that there is."""
    text = "the smallest application instead of its own"
    return Move(SMALLEST, text, workload=SMALLEST)


def _steps(arm: Arm, meanings: dict[str, object]) -> tuple[Step, ...]:
    """Return the steps that set meanings for an arm's server, and nothing that goes with them."""
    server = servers.of(arm.profile)
    return tuple(step for key, value in meanings.items() for step in server.plain_steps(key, value))
