"""
What a counter-run changes, for each cause: one setting, or the load, or the application.

A toggle is None where the profile leaves nothing to change. Two causes have no toggle: "generator"
needs another client, and "stalls" are in the application.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lab.analysis.causes.signs import workers
from lab.model import Arm, Load, Profile, Workload
from lab.settings.uwsgi import asks_to_close, is_on
from lab.workloads import workload

MOST_WORKERS = 256
"""Worker processes that a toggle may ask for; more do not start before a server's deadline."""

MOST_KEEPING = 16
"""Worker processes for kept connections, each of which holds one. More would measure their number:
with 32, for 64 clients, throughput of a Flask application fell to less than half."""

SOMAXCONN = Path("/proc/sys/net/core/somaxconn")

DEFAULT_LISTEN = 100
"""uWSGI's own."""

RECYCLING = (
    "evil-reload-on-as",
    "evil-reload-on-rss",
    "max-requests",
    "max-requests-delta",
    "max-worker-lifetime",
    "max-worker-lifetime-delta",
    "min-worker-lifetime",
    "reload-on-as",
    "reload-on-rss",
)

Options = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Toggle:
    """One change of a profile, its load or its workload."""

    name: str
    """Ends the name of its profile: "http-socket" makes baseline~http-socket."""
    text: str
    """For people: "http-socket instead of http"."""
    options: Options
    """All of the changed profile, resolved."""
    load: Load | None = None
    """Where the change is in the load."""
    workload: Workload | None = None
    """Where the change is in what is asked."""


def accept_queue(arm: Arm) -> Toggle | None:
    """Make the accept queue twice as long as the clients are many, as far as the kernel allows."""
    wanted = min(2 * arm.load.connections, _somaxconn())
    now = dict(arm.profile.options).get("listen", str(DEFAULT_LISTEN))
    if now.isdecimal() and int(now) >= wanted:
        return None
    return _set(arm.profile, "listen", f"listen = {wanted}", listen=wanted)


def router(arm: Arm) -> Toggle | None:
    """Let the workers speak HTTP themselves."""
    if not any(key == "http" and "{port}" in value for key, value in arm.profile.options):
        return None
    options = tuple(
        ("http-socket" if key == "http" else key, value)
        for key, value in arm.profile.options
        if key == "http" or not _of_router(key)
    )
    return Toggle("http-socket", "http-socket instead of http", options)


def single_worker(arm: Arm) -> Toggle | None:
    """Add a second worker process."""
    return _set(arm.profile, "2-processes", "processes = 2", processes=2)


def gil(arm: Arm) -> Toggle | None:
    """Replace each thread by a process."""
    processes, at_once = workers(arm.profile)
    if processes is None or at_once is None or at_once < 2:
        return None
    wanted = min(processes * at_once, MOST_WORKERS)
    text = f"threads = 1 and processes = {wanted}"
    return _set(arm.profile, f"{wanted}-processes", text, processes=wanted, threads=1)


def lock_convoy(arm: Arm) -> Toggle | None:
    """Wait for connections without a lock."""
    return _drop(arm.profile, "no-thunder-lock", "thunder-lock off", "thunder-lock")


def logging(arm: Arm) -> Toggle | None:
    """Log no requests."""
    if is_on(dict(arm.profile.options), "disable-logging"):
        return None
    return _set(arm.profile, "disable-logging", "disable-logging", **{"disable-logging": "true"})


def reconnecting(arm: Arm) -> Toggle | None:
    """
    Keep connections open: the client if the server would, else the workers themselves.

    A header that tells clients to close would undo either, so it goes as well.
    """
    asked = tuple(option for option in arm.profile.options if not asks_to_close(*option))
    if not arm.load.keepalive and arm.profile.keepalive:
        load = replace(arm.load, keepalive=True)
        return Toggle("keepalive", "clients that keep connections", asked, load)
    if arm.profile.keepalive or not any(key == "http-socket" for key, _ in arm.profile.options):
        return None
    # A kept connection holds its worker, so each connection needs one.
    processes, at_once = workers(arm.profile)
    if processes is None or at_once is None:
        return None
    wanted = max(processes, -(-arm.load.connections // at_once))
    if wanted > MOST_KEEPING:
        return None
    options = tuple(
        ("http11-socket" if key == "http-socket" else key, value) for key, value in asked
    )
    text = f"http11-socket instead of http-socket, a worker for each connection ({wanted})"
    load = replace(arm.load, keepalive=True)
    return Toggle("http11-socket", text, _with(options, {"processes": wanted}), load)


def workers_asleep(arm: Arm) -> Toggle | None:
    """Double the workers."""
    processes, _ = workers(arm.profile)
    if processes is None or 2 * processes > MOST_WORKERS:
        return None
    wanted = 2 * processes
    return _set(arm.profile, f"{wanted}-processes", f"processes = {wanted}", processes=wanted)


def respawning(arm: Arm) -> Toggle | None:
    """Keep the workers."""
    return _drop(arm.profile, "no-recycling", "no recycling of workers", *RECYCLING)


def memory(arm: Arm) -> Toggle | None:
    """Halve the workers."""
    processes, _ = workers(arm.profile)
    if processes is None or processes < 2:
        return None
    wanted = processes // 2
    return _set(arm.profile, f"{wanted}-processes", f"processes = {wanted}", processes=wanted)


def server_cpu(arm: Arm) -> Toggle | None:
    """Ask for less work: the smallest application that there is."""
    hello = workload("hello")
    if arm.workload.app == hello.app:
        return None
    text = "the smallest WSGI application instead of its own"
    return Toggle("hello", text, arm.profile.options, workload=hello)


TOGGLES: Mapping[str, Callable[[Arm], Toggle | None]] = {
    "accept queue": accept_queue,
    "router": router,
    "single worker": single_worker,
    "GIL": gil,
    "lock convoy": lock_convoy,
    "logging": logging,
    "reconnecting": reconnecting,
    "workers asleep": workers_asleep,
    "respawning": respawning,
    "I/O wait": logging,
    "memory": memory,
    "server CPU": server_cpu,
}
"""By name of the cause: see `lab.analysis.diagnose`."""


def _set(profile: Profile, name: str, text: str, **values: object) -> Toggle:
    return Toggle(name, text, _with(profile.options, values))


def _with(options: Options, values: Mapping[str, object]) -> Options:
    """Return *options* with each value once, at the end; "workers" is another word for one."""
    gone = set(values) | ({"workers"} if "processes" in values else set())
    kept = tuple((key, value) for key, value in options if key not in gone)
    return kept + tuple((key, str(value)) for key, value in values.items())


def _drop(profile: Profile, name: str, text: str, *options: str) -> Toggle | None:
    kept = tuple((key, value) for key, value in profile.options if key not in options)
    return None if kept == profile.options else Toggle(name, text, kept)


def _of_router(option: str) -> bool:
    """Return whether an option is for the HTTP router alone, and means nothing without it."""
    return option.startswith(("http-", "https")) and not option.startswith("http-socket")


def _somaxconn() -> int:
    try:
        return int(SOMAXCONN.read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such file in some sandboxes: uWSGI then checks nothing
        return 4096
