"""
The machine around the experiment: who else used it, and what was short.

CPU that is neither the server's nor the generator's is found in two ways, and the larger counts:
what the CPUs were busy with, less our own, sees other containers too; the sum over other processes
sees only this one. From the first, interrupt time is left out: whether a process's own time holds
the network interrupts that it caused depends on how the kernel was built
(CONFIG_IRQ_TIME_ACCOUNTING), so that part of our own load would look foreign on some machines.

Sources: proc_stat(5), Documentation/accounting/psi.rst.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lab.bench.probes.cgroup import read_quota
from lab.bench.probes.machine import read_text
from lab.bench.probes.processes import PROC, TICK, ProcessState, Snapshot, read_snapshot
from lab.model.protocols import Stop, Subject

RESOURCES = ("cpu", "io", "memory")

SHORTEST = 0.3
"""Seconds below which strangers are not told: times come in ticks of 10 ms and are cut off for each
process, so 30 ms - the gate's 0.1 core in this time - may be none at all."""

OURS_TOO = "ksoftirqd/"
"""Kernel threads that carry on with the network work of whoever sends: under load, of ours."""


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """What CPUs did, in seconds since boot, summed over *count* of them."""

    count: int
    idle: float
    """Waiting for I/O included."""
    interrupts: float
    steal: float


@dataclass(frozen=True, slots=True)
class _Before:
    subject: Subject
    at: float
    cores: CpuTimes | None
    """Of *usable*."""
    server: CpuTimes | None
    """Of *servers*."""
    snapshot: Snapshot
    usable: frozenset[int]
    """CPUs that the server or the generator may use."""
    servers: frozenset[int]
    """CPUs that the server may use."""
    pressure: Mapping[str, float]
    throttled: float | None

    def stop(self) -> Mapping[str, float]:
        """Read the processes and the CPUs' times together again, and return what grew."""
        (cores, server), at = _read_cores(self.usable, self.servers), time.monotonic()
        snapshot = read_snapshot(*_ours(self.subject))
        pressure, throttled = _read_pressure(), _read_throttled(self.subject)
        elapsed = at - self.at
        if elapsed <= 0:
            return {}
        readings = {
            f"pressure.{name}_some": (total - self.pressure[name]) / elapsed
            for name, total in pressure.items()
            if name in self.pressure
        }
        if throttled is not None and self.throttled is not None:
            readings["machine.throttled"] = throttled - self.throttled
        if cores is not None and self.cores is not None and cores.count == self.cores.count:
            stolen = (cores.steal - self.cores.steal) / elapsed
            busy = cores.count - (cores.idle - self.cores.idle) / elapsed - stolen
            interrupts = (cores.interrupts - self.cores.interrupts) / elapsed
            span = snapshot.at - self.snapshot.at
            used = ours(self.snapshot, snapshot, _ours(self.subject)) / span
            seen = strangers(self.snapshot, snapshot, _ours(self.subject)) / span
            readings["machine.cores"] = float(cores.count)
            readings["machine.idle"] = (cores.idle - self.cores.idle) / elapsed
            readings["machine.busy"] = max(0.0, busy)
            readings["machine.steal"] = stolen / cores.count
            if span >= SHORTEST:
                # A stranger may also have run where the experiment may not: there it took nothing.
                here = min(seen, busy - used)
                readings["machine.foreign_cpu"] = max(0.0, here, busy - interrupts - used)
        if server is not None and self.server is not None and server.count == self.server.count:
            readings["server.idle"] = (server.idle - self.server.idle) / elapsed
        return readings


class PressureProbe:
    """CPU of the machine and of strangers, theft by the hypervisor, quota, and pressure."""

    def start(self, subject: Subject) -> Stop:
        """
        Read all but the processes first, so that theirs and the CPUs' times lie together.

        `stop` returns `machine.*`, `pressure.*` and `server.idle`. `machine.cores` is how many the
        server or the generator may use; of those `machine.busy`, `machine.idle` and
        `machine.foreign_cpu` are numbers of cores, and `machine.steal` is a share. `server.idle` is
        idle cores among those that the server may use. `machine.throttled` is seconds, and absent
        without a quota; `machine.foreign_cpu` is absent below SHORTEST; `pressure.*_some` is the
        share of time in which some task waited.
        """
        pressure, throttled = _read_pressure(), _read_throttled(subject)
        snapshot = read_snapshot(*_ours(subject))
        usable = _read_affinity(snapshot.tree(*_ours(subject)))
        # Its root stands guard, and may run wherever the lab does.
        tree = [
            process_state
            for process_state in snapshot.tree(subject.server)
            if process_state.pid != subject.server
        ]
        servers = _read_affinity(tree)
        at, (cores, server) = time.monotonic(), _read_cores(usable, servers)
        before = _Before(subject, at, cores, server, snapshot, usable, servers, pressure, throttled)
        return before.stop


def ours(before: Snapshot, now: Snapshot, roots: Iterable[int]) -> float:
    """Return CPU seconds of the trees under *roots*, their reaped dead included."""
    roots = tuple(roots)
    return _with_reaped(now.tree(*roots)) - _with_reaped(before.tree(*roots))


def strangers(before: Snapshot, now: Snapshot, roots: Iterable[int]) -> float:
    """
    Return CPU seconds of all other processes that are alive now.

    Those that ended are left out: their whole life's CPU is added to their parent at once, and a
    job of ten hours that ends in the window would look like ten hours in it.
    """
    tree_keys = {process.key for process in now.tree(*roots)}
    earlier = {process.key: process.cpu_seconds for process in before.processes.values()}
    return sum(
        process.cpu_seconds - earlier.get(process.key, 0.0)
        for process in now.processes.values()
        if process.key not in tree_keys and not process.name.startswith(OURS_TOO)
    )


def parse_cores(text: str, usable: Iterable[int]) -> CpuTimes:
    """
    Parse a /proc/stat.

    Args:
        text: Its content.
        usable: Numbers of the CPUs that count; none for all.

    Raises:
        ValueError: No such CPU is in it, or a line is cut short.
    """
    wanted = {f"cpu{number}" for number in usable}
    rows = []
    for line in text.splitlines():
        name, *values = line.split() or [""]
        if name[3:].isdecimal() and name.startswith("cpu") and (not wanted or name in wanted):
            rows.append([int(value) * TICK for value in values[:8]])
    if not rows or any(len(row) < 8 for row in rows):
        raise ValueError("no complete line of a CPU in /proc/stat")
    _user, _nice, _system, idle, waiting, hard, soft, steal = map(sum, zip(*rows, strict=True))
    return CpuTimes(len(rows), idle + waiting, hard + soft, steal)


def idle_seconds() -> float | None:
    """Return for how many seconds since boot CPUs were idle, summed over all; None: unknown."""
    (times,) = _read_cores(frozenset())
    return None if times is None else times.idle


def parse_pressure(text: str) -> float:
    """
    Parse the seconds in which some task waited, from a file of /proc/pressure.

    Raises:
        ValueError: It is not there.
    """
    for line in text.splitlines():
        kind, *fields = line.split() or [""]
        totals = [field.removeprefix("total=") for field in fields if field.startswith("total=")]
        if kind == "some" and totals:
            return int(totals[0]) / 1e6
    raise ValueError("no line `some ... total=`")


def _ours(subject: Subject) -> tuple[int, ...]:
    return subject.server, *subject.generators, *(pid for pid, _role in subject.backing)


def _with_reaped(members: Iterable[ProcessState]) -> float:
    return sum(member.cpu_seconds + member.reaped_user + member.reaped_system for member in members)


def _read_cores(*sets: frozenset[int]) -> list[CpuTimes | None]:
    """Return what the CPUs of each of the *sets* did, all at one moment."""
    times: list[CpuTimes | None] = []
    text = read_text(PROC / "stat") or ""
    for usable in sets:
        try:
            times.append(parse_cores(text, usable))
        except ValueError:
            times.append(None)
    return times


def _read_affinity(members: Iterable[ProcessState]) -> frozenset[int]:
    """Return the CPUs that any of them may use; the empty set if none could be asked."""
    usable: set[int] = set()
    for member in members:
        try:
            usable |= os.sched_getaffinity(member.pid)
        except OSError:
            continue
    return frozenset(usable)


def _read_pressure() -> dict[str, float]:
    """Read what the kernel tells; built without it, or booted with psi=0, it tells nothing."""
    shares = {}
    for name in RESOURCES:
        try:
            shares[name] = parse_pressure((PROC / "pressure" / name).read_text())
        except (OSError, ValueError):
            continue
    return shares


def _read_throttled(subject: Subject) -> float | None:
    quota = read_quota(subject.server)
    return None if quota is None else quota.throttled
