"""A running server as a fault sees it: its commands, its workers, and a burst to keep them busy."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import psutil

from lab.generators.process import EngineSession
from lab.model import Window
from lab.servers.process import Process
from lab.stress.overlay import program

INTERVAL = 0.02
"""Seconds between two looks at the server."""

HEAD_START = 0.010
"""Seconds from sending a burst until the fault: by then the workers have taken their first."""

_SPAWNED = re.compile(r"spawned uWSGI worker \d+ .*?pid: (\d+)")
"""uWSGI says "spawned" of the first, and "Respawned" of those that take their place."""


class Target:
    """
    What a fault is planted in.

    Args:
        server: Running.
        folder: The trial's own.
        burst: Sends the fault's extra requests; None if it has none.
    """

    def __init__(self, server: Process, folder: Path, burst: EngineSession | None) -> None:
        self.server = server
        self.folder = folder
        self.planted: list[float] = []
        """When, by `time.perf_counter`."""
        self.bursts: list[Window] = []
        self._burst = burst
        self._under_way = False

    # -- the load on top ---------------------------------------------------------------------------

    def press(self) -> None:
        """Send the burst, and return while it is under way."""
        if self._burst is not None:
            self._burst.begin()
            self._under_way = True
            time.sleep(HEAD_START)

    def settle(self) -> None:
        """Wait until each request of the burst has its outcome."""
        if self._burst is not None and self._under_way:
            self._under_way = False
            self.bursts.append(self._burst.end())

    # -- what a fault does and sees ----------------------------------------------------------------

    def mark(self) -> None:
        """Note that the fault is planted now."""
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

    # -- workers -----------------------------------------------------------------------------------

    def spawned(self) -> list[int]:
        """
        Return the process ids of all workers that there have been, in order.

        One that began again as the same process is there twice. Where uWSGI tells of none, those
        are meant that are there now.
        """
        told = [int(pid) for pid in _SPAWNED.findall(self.server.log())]
        return told if "uwsgi" in self.programs else self._leaves()

    def workers(self, index: int | None = None) -> list[int]:
        """Return those that live, the oldest first; with *index* of that command only."""
        tree = self._tree() if index is None else self._below(index)
        return [pid for pid in dict.fromkeys(self.spawned()) if pid in tree]

    def renewal(self, index: int | None = None) -> Callable[[], bool]:
        """
        Return what tells whether every worker that lives now has been replaced since.

        Args:
            index: Of the command that is meant; None for all. Of one that has no workers, such as
                nginx, any new process below it will do.
        """
        old, told = self.workers(index), self.spawned()
        below = set() if index is None else self._below(index)

        def renewed() -> bool:
            if not old:
                return index is not None and bool(self._below(index) - below)
            now, spawned = self.workers(index), self.spawned()
            fresh = [p for p in now if p not in old or spawned.count(p) > told.count(p)]
            return len(fresh) >= len(old)

        return renewed

    def _leaves(self) -> list[int]:
        """Return the processes without children that are not nginx's, the oldest first."""
        found = []
        for process in self._processes():
            try:
                if process.name() != "nginx" and not process.children():
                    found.append((process.create_time(), process.pid))
            except psutil.NoSuchProcess:  # it has ended meanwhile
                continue
        return [pid for _, pid in sorted(found)]

    def _tree(self) -> set[int]:
        return {process.pid for process in self._processes()}

    def _below(self, index: int) -> set[int]:
        """Return the process of a command, and all below it."""
        try:
            command = psutil.Process(self.server.commands[index][0])
            return {command.pid, *(each.pid for each in _living(command))}
        except psutil.NoSuchProcess:
            return set()

    def _processes(self) -> list[psutil.Process]:
        try:
            return _living(psutil.Process(self.server.pid))
        except psutil.NoSuchProcess:
            return []


def _living(root: psutil.Process) -> list[psutil.Process]:
    found = []
    for process in root.children(recursive=True):
        try:
            if process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.NoSuchProcess:  # it has ended meanwhile
            continue
    return found
