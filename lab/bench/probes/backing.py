"""
Backing services: the CPU that they used, and how busy the busiest of their processes was.

Source: Documentation/scheduler/sched-stats.rst.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from lab.bench.probes.processes import PROC, cpu, read_snapshot
from lab.model.backing import BackingRole
from lab.model.protocols import Stop, Subject


class BackingProbe:
    """CPU of their trees, and the share of the time that their busiest process needed."""

    def start(self, subject: Subject) -> Stop:
        """
        Read the times; `stop` returns `.cpu` and `.busiest` of each role that a service has.

        `upstream.cpu` and `backend.cpu` are seconds, their dead included. `.busiest` is the share
        of the window for which the busiest process ran or waited for a CPU, all of its threads
        together and at most 1; absent where the kernel does not count that.
        """
        began = time.monotonic()
        before = {role: _read(subject, role) for _pid, role in subject.backing}

        def stop() -> Mapping[str, float]:
            readings: dict[str, float] = {}
            elapsed = time.monotonic() - began
            for role, (used, busy) in before.items():
                used_now, busy_now = _read(subject, role)
                readings[f"{role}.cpu"] = used_now - used
                grown = [seconds - busy.get(key, 0.0) for key, seconds in busy_now.items()]
                if any(busy_now.values()):
                    readings[f"{role}.busiest"] = min(1.0, max(grown) / elapsed)
            return readings

        return stop


def _read(subject: Subject, role: BackingRole) -> tuple[float, dict[tuple[int, int], float]]:
    """Return the CPU seconds of all trees of *role*, and for how long each process was busy."""
    roots = [pid for pid, its in subject.backing if its is role]
    snapshot = read_snapshot(*roots)
    members = [member for member in snapshot.tree(*roots) if member.pid not in roots]
    used = sum(sum(cpu(snapshot.tree(root), root)) for root in roots)
    return used, {member.key: _busy(member.pid) for member in members}


def _busy(pid: int) -> float:
    """Return the seconds for which the live threads of a process ran or waited for a CPU."""
    try:
        schedstats = [(task / "schedstat").read_text() for task in (PROC / f"{pid}/task").iterdir()]
        return sum(int(number) for times in schedstats for number in times.split()[:2]) / 1e9
    except (OSError, ValueError):  # it has ended meanwhile, or the kernel does not count
        return 0.0
