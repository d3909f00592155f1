"""
CPU, context switches and time spent waiting for a CPU, of the server's whole tree.

CPU comes from the processes' own accounts and those of their reaped children: a sum over live
threads loses a worker that was recycled in the window. Switches and waiting exist for live threads
only: those that ended in the window are missing, those that began in it are counted from zero.

Sources: proc_pid_stat(5), proc_pid_status(5), Documentation/scheduler/sched-stats.rst.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from lab.bench.probes.processes import PROC, ProcessState, Snapshot, cpu, read_snapshot
from lab.model.protocols import Stop, Subject

_Thread = tuple[int, int, str]
"""Process, its start, thread."""


class CpuProbe:
    """CPU of the tree without its root; also `elapsed`, the interval that belongs to it."""

    def start(self, subject: Subject) -> Stop:
        """
        Read the processes' times and the threads' counts; `stop` returns `elapsed` and `server.*`.

        `server.busiest` is the share of a core that the busiest process used, and
        `server.busiest_threads` its threads. `server.respawned` counts the live processes that
        began in the window: a worker that was replaced, or added. There is no reading at all if the
        tree's root is gone.
        """
        snapshot = read_snapshot(subject.server)
        threads = _read_threads(_members(snapshot, subject.server))
        return partial(_readings, subject.server, snapshot, threads)


def parse_switches(status: str) -> dict[str, float]:
    """Parse the context switches in a /proc/PID/task/TID/status; what is not there is absent."""
    switches = {}
    for line in status.splitlines():
        key, _, value = line.partition(":")
        kind, _, rest = key.partition("_")
        if rest == "ctxt_switches" and kind in ("voluntary", "nonvoluntary"):
            name = "switches_voluntary" if kind == "voluntary" else "switches_involuntary"
            switches[name] = float(value)
    return switches


def parse_wait(schedstat: str) -> dict[str, float]:
    """
    Parse the seconds that a thread was ready to run and had no CPU, from its schedstat.

    A thread that has run has had a time slice, so three zeros mean that the kernel does not count.
    """
    fields = schedstat.split()
    if len(fields) != 3 or fields == ["0", "0", "0"]:
        return {}
    return {"run_wait": int(fields[1]) / 1e9}


def _readings(
    root: int, before: Snapshot, threads_before: Mapping[_Thread, Mapping[str, float]]
) -> Mapping[str, float]:
    now = read_snapshot(root)
    if root not in now.processes or root not in before.processes:
        return {}
    elapsed = now.at - before.at
    user, system = cpu(now.tree(root), root)
    user_before, system_before = cpu(before.tree(root), root)
    members = _members(now, root)
    threads = _read_threads(members)
    earlier = {process.key: process.cpu_seconds for process in before.processes.values()}
    readings = {
        "elapsed": elapsed,
        "server.cpu_user": user - user_before,
        "server.cpu_system": system - system_before,
        "server.processes": float(len(members)),
        "server.respawned": float(sum(process.key not in earlier for process in members)),
    }
    used = {process.key: process.cpu_seconds - earlier.get(process.key, 0.0) for process in members}
    if used and elapsed > 0:
        busiest = max(used, key=lambda key: used[key])
        readings["server.busiest"] = used[busiest] / elapsed
        if count := sum((pid, started) == busiest for pid, started, _ in threads):
            readings["server.busiest_threads"] = float(count)
    return readings | _thread_readings(threads_before, threads)


def _members(snapshot: Snapshot, root: int) -> list[ProcessState]:
    """Return the server's live processes."""
    return [p for p in snapshot.tree(root) if p.pid != root and not p.zombie]


def _read_threads(members: Iterable[ProcessState]) -> dict[_Thread, Mapping[str, float]]:
    return {
        (*process.key, thread): counts
        for process in members
        for thread, counts in _threads(process.pid)
    }


def _threads(pid: int) -> Iterator[tuple[str, Mapping[str, float]]]:
    try:
        folders = list((PROC / str(pid) / "task").iterdir())
    except OSError:
        return
    for folder in folders:
        counts: dict[str, float] = {}
        for file, parse in (("status", parse_switches), ("schedstat", parse_wait)):
            try:
                counts |= parse((folder / file).read_text(errors="replace"))
            except (OSError, ValueError):
                continue
        yield folder.name, counts


def _thread_readings(
    before: Mapping[_Thread, Mapping[str, float]], now: Mapping[_Thread, Mapping[str, float]]
) -> dict[str, float]:
    """Sum what grew; a thread that was not there before began at zero."""
    readings: dict[str, float] = {}
    for thread, counts in now.items():
        earlier = before.get(thread, {})
        for name, value in counts.items():
            reading = f"server.{name}"
            readings[reading] = readings.get(reading, 0.0) + value - earlier.get(name, 0.0)
    return readings
