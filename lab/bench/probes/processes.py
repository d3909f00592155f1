"""
Processes as /proc shows them: who descends from whom, and the CPU each has used.

One pass over /proc/PID/stat gives both, so a tree and its times belong together: 2 ms for a hundred
processes. psutil finds the tree in as long, and then reads each member's times at another moment.

Source: proc_pid_stat(5).
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")

TICK = 1 / os.sysconf("SC_CLK_TCK")
"""Seconds of one unit of the times in /proc: 10 ms on Linux, whatever the kernel's own clock."""

ATTEMPTS = 5
"""Passes over /proc until none is torn by a process that ended under way; one nearly always does,
and on a machine that compiles something the fifth is as good as it gets."""


@dataclass(frozen=True, slots=True)
class ProcessState:
    """One process at one moment. Times are seconds since it began."""

    pid: int
    parent: int
    started: int
    """Ticks since boot: with the pid it names a process for good, as pids are used again."""
    name: str
    zombie: bool
    user: float
    system: float
    reaped_user: float
    """Of its children that ended and were waited for, and of theirs."""
    reaped_system: float
    threads: int = 1

    @property
    def key(self) -> tuple[int, int]:
        """What tells it from every other process, earlier ones with its pid included."""
        return self.pid, self.started

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds that it used itself."""
        return self.user + self.system


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All processes at one moment."""

    at: float
    """Seconds, monotonic."""
    processes: Mapping[int, ProcessState]

    def tree(self, *roots: int) -> list[ProcessState]:
        """Return the *roots* that are there and all their descendants, each once."""
        children: defaultdict[int, list[int]] = defaultdict(list)
        for process in self.processes.values():
            children[process.parent].append(process.pid)
        members: dict[int, ProcessState] = {}
        waiting = [pid for pid in roots if pid in self.processes]
        while waiting:
            pid = waiting.pop()
            if pid not in members:
                members[pid] = self.processes[pid]
                waiting += children[pid]
        return list(members.values())


def parse_stat(text: str) -> ProcessState:
    """
    Parse a /proc/PID/stat.

    The name may hold spaces and brackets, so fields are counted from the last closing one.

    Raises:
        ValueError: It is not such a text, or cut short.
    """
    head, bracket, tail = text.rpartition(")")
    pid, _, name = head.partition(" (")
    fields = tail.split()
    if not bracket or len(fields) < 20:
        raise ValueError(f"not a /proc/PID/stat: {text[:80]!r}")
    user, system, reaped_user, reaped_system = (int(field) * TICK for field in fields[11:15])
    return ProcessState(
        pid=int(pid),
        parent=int(fields[1]),
        started=int(fields[19]),
        name=name,
        zombie=fields[0] in "ZX",
        user=user,
        system=system,
        reaped_user=reaped_user,
        reaped_system=reaped_system,
        threads=int(fields[17]),
    )


def read_snapshot(*roots: int) -> Snapshot:
    """
    Read all processes so that the CPU of the trees under *roots* is counted once, and whole.

    A process that ends is taken off its own line and added to its parent's. If the parent was read
    before that and the child after it, its CPU would be missing; the other way round it would count
    twice. So a pass is repeated if a process vanished under way, or if one of the trees' members
    is gone after it. The CPU of a process that is still there is on its own line alone.
    """
    for _ in range(ATTEMPTS):
        at = time.monotonic()
        processes, whole = _pass()
        snapshot = Snapshot(at, processes)
        if whole and _all_there(snapshot.tree(*roots)):
            break
    return snapshot


def cpu(members: Iterable[ProcessState], root: int) -> tuple[float, float]:
    """
    Return user and system seconds of the tree under *root*, its dead included, *root* excluded.

    The difference of two such sums is exact across respawns, as long as nobody in the tree ignores
    SIGCHLD: the kernel then forgets the times of its children.
    """
    user = system = 0.0
    for process in members:
        user += process.reaped_user
        system += process.reaped_system
        if process.pid != root:
            user += process.user
            system += process.system
    return user, system


def read_process(pid: int | str) -> ProcessState | None:
    """Return the state of one process; None if it has ended."""
    try:
        # os.open is a third of the cost of open(), and a hundred of these are read.
        descriptor = os.open(f"{PROC}/{pid}/stat", os.O_RDONLY)
        try:
            return parse_stat(os.read(descriptor, 4096).decode(errors="replace"))
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return None


def _pass() -> tuple[dict[int, ProcessState], bool]:
    """Read every /proc/PID/stat once; tell whether every process was still there."""
    processes: dict[int, ProcessState] = {}
    whole = True
    for name in os.listdir(PROC):  # noqa: PTH208 - names are enough, a hundred times
        if name.isdecimal():
            process = read_process(name)
            if process is None:
                whole = False
            else:
                processes[process.pid] = process
    return processes, whole


def _all_there(members: Iterable[ProcessState]) -> bool:
    for member in members:
        now = read_process(member.pid)
        if now is None or now.started != member.started:
            return False
    return True
