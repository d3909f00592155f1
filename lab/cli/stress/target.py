"""A running server as a fault sees it: its commands, its workers, and a burst to keep them busy."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter

import psutil

from lab.bench.load.process import EngineSession
from lab.bench.probes.cpu import CpuProbe
from lab.bench.probes.listeners import read_listeners
from lab.bench.servers.process import Process
from lab.cli.stress.counting import Burst
from lab.model.protocols import Subject

INTERVAL = 0.02
"""Seconds between two looks at the server."""

HEAD_START = 0.010
"""Seconds from sending a burst until the fault: by then the workers have taken their first."""

END = 5.0
"""Seconds for SIGKILL to take effect."""

LOOK = 0.5
"""Seconds in which a server that is asked is told from one that is not: some ten requests."""

HELPERS = ("resource_tracker", "forkserver")
"""In the command line of a process of `multiprocessing` that serves nobody."""

_SPAWNED = re.compile(r"spawned uWSGI worker \d+ .*?pid: (\d+)")
"""uWSGI says "spawned" of the first, and "Respawned" of those that take their place."""


def program(words: Sequence[str]) -> str:
    """
    Return the name of the program that a command runs.

    >>> program(("env", "SOCKET=/a.sock", "/opt/bin/uwsgi", "production.ini"))
    'uwsgi'
    """
    if Path(words[0]).name == "env":
        words = [word for word in words[1:] if "=" not in word] or words
    return Path(words[0]).name


class Target:
    """
    What a fault is planted in.

    Args:
        server: Running.
        folder: The trial's own.
    """

    def __init__(self, server: Process, folder: Path) -> None:
        self.server = server
        self.folder = folder
        self.burst: EngineSession | None = None
        """Sends the fault's extra requests; None if it has none."""
        self.planted: list[float] = []
        """When, by `time.perf_counter`."""
        self.bursts: list[Burst] = []
        """When they ended, by `time.perf_counter`."""
        self.idle = 0
        """Bursts that were over before the fault was planted."""
        self._begun: float | None = None

    # -- the load on top ---------------------------------------------------------------------------

    def press(self) -> None:
        """Send the burst, and return while it is under way."""
        if self.burst is not None:
            self._begun = self.burst.begin()
            time.sleep(HEAD_START)

    def settle(self) -> None:
        """Wait until each request of the burst has its outcome."""
        if self.burst is not None and self._begun is not None:
            window = self.burst.end()
            ended = self._begun + window.wall
            self._begun = None
            self.bursts.append(Burst(window, ended))
            self.idle += bool(self.planted) and ended < self.planted[-1]

    # -- what a fault does and sees ----------------------------------------------------------------

    def mark(self) -> None:
        """Note that the fault now."""
        self.planted.append(perf_counter())

    def until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait at most *seconds* for *condition*; return whether it came."""
        deadline = perf_counter() + seconds
        while not condition():
            if perf_counter() > deadline:
                return False
            time.sleep(INTERVAL)
        return True

    def has_ended(self, index: int) -> Callable[[], bool]:
        """Return what tells whether a command has ended."""
        return lambda: self.server.wait(index, 0.0)

    @property
    def programs(self) -> tuple[str, ...]:
        """What each command runs, in start order."""
        return tuple(program(words) for _, words in self.server.commands)

    def stop_signal(self, index: int) -> signal.Signals:
        """Return what asks a command to finish its requests and end."""
        return signal.SIGQUIT if self.programs[index] == "nginx" else self.server.stop_signal

    # -- servers behind a balancer -----------------------------------------------------------------

    def backends(self) -> list[int]:
        """Return the places of all commands but the first that listens where clients ask."""
        places = range(len(self.programs))
        front = next((place for place in places if self._listens(place)), None)
        return [place for place in places if front is not None and place != front]

    def kill(self, index: int) -> None:
        """Kill a command with all below it, as the end of its machine would; wait for its end."""
        pid = self.server.commands[index][0]
        # The command itself first: it would replace what is killed below it.
        for victim in sorted(self._below(index), key=pid.__ne__):
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        self.server.wait(index, END)

    def pace(self, index: int) -> float:
        """
        Return how often per second the processes below a command go to sleep.

        A worker sleeps when it waits for a request, or for what its answer needs: while nobody asks
        it, it does not wake. It takes LOOK seconds to know.
        """
        stop = CpuProbe().start(Subject(self.server.commands[index][0], None))
        time.sleep(LOOK)
        readings = stop()
        return readings.get("server.switches_voluntary", 0.0) / readings.get("elapsed", LOOK)

    def _listens(self, index: int) -> bool:
        port = self.server.endpoint.port
        return any(listener.port == port for listener in read_listeners(self._below(index)) or ())

    # -- workers -----------------------------------------------------------------------------------

    def spawned(self) -> list[int]:
        """
        Return the process ids of all workers that there have been, in order.

        One that began again as the same process is there twice. Where no log names them, as that of
        uWSGI with `logto2`, those are meant that are there now.
        """
        return self.logged() or self._children()

    def logged(self) -> list[int]:
        """Return the process ids of all workers that uWSGI's log names, in order."""
        if "uwsgi" not in self.programs:
            return []
        return [int(pid) for pid in _SPAWNED.findall(self.server.log())]

    def workers(self, index: int | None = None) -> list[int]:
        """Return those that live, the oldest first; with *index* of that command only."""
        tree = self._below(index)
        return [pid for pid in dict.fromkeys(self.spawned()) if pid in tree]

    def ended(self, pids: Sequence[int]) -> int:
        """Return how many of some processes have ended."""
        return len(pids) - len(_alive(pids))

    def renewal(self, index: int | None = None) -> Callable[[], bool]:
        """
        Return what tells whether every worker that lives now has been replaced since.

        Args:
            index: Of the command that is meant; None for all. Of one that has no workers, such as
                nginx, any new process below it will do.
        """
        old, spawned_before = self.workers(index), self.spawned()
        below = self._below(index)

        def renewed() -> bool:
            if not old:
                return index is not None and bool(self._below(index) - below)
            now, spawned = self.workers(index), self.spawned()
            fresh = [p for p in now if p not in old or spawned.count(p) > spawned_before.count(p)]
            return len(fresh) >= len(old)

        return renewed

    def _children(self) -> list[int]:
        """
        Return the children of each command but nginx, the oldest first.

        A command without any serves by itself.
        """
        processes = []
        pids = [pid for pid, words in self.server.commands if program(words) != "nginx"]
        for command in _alive(pids):
            with suppress(psutil.NoSuchProcess):  # it has ended meanwhile
                children = [
                    process for process in _living(command, deep=False) if not _helps(process)
                ]
                processes += children or [command]
        return [
            pid for _, pid in sorted((process.create_time(), process.pid) for process in processes)
        ]

    def _below(self, index: int | None) -> set[int]:
        """Return the process of a command, or of the whole server, and all below it."""
        pid = self.server.pid if index is None else self.server.commands[index][0]
        try:
            root = psutil.Process(pid)
            return {pid, *(process.pid for process in _living(root))}
        except psutil.NoSuchProcess:
            return set()


def _living(root: psutil.Process, *, deep: bool = True) -> list[psutil.Process]:
    return _alive([process.pid for process in root.children(recursive=deep)])


def _alive(pids: Sequence[int]) -> list[psutil.Process]:
    processes = []
    for pid in pids:
        with suppress(psutil.NoSuchProcess):  # it has ended
            process = psutil.Process(pid)
            if process.status() != psutil.STATUS_ZOMBIE:
                processes.append(process)
    return processes


def _helps(process: psutil.Process) -> bool:
    """Return whether it is none of those that serve."""
    try:
        words = " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return True
    return any(helper in words for helper in HELPERS)
