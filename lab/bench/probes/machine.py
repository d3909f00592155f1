"""
What the machine is, as against what it does: CPU, kernel, limits.

Each item is read by itself and is absent where the kernel does not tell.

Sources: Documentation/ABI/testing/sysfs-devices-system-cpu, proc_sys(5).
"""

from __future__ import annotations

import os
import platform
import re
import resource
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from lab.bench.probes.cgroup import read_quota
from lab.bench.probes.processes import PROC

KERNEL_PARAMETERS = (
    "net.core.somaxconn",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_max_syn_backlog",
    "vm.swappiness",
)

BOOT_PARAMETERS = frozenset(
    {"isolcpus", "mitigations", "nohz", "nohz_full", "nosmt", "preempt", "psi", "rcu_nocbs"}
)

_CPU = Path("/sys/devices/system/cpu")


def read_cpu() -> dict[str, Any]:
    """Read the CPU, how it is driven, and the mitigations that slow it down."""
    info = read_text(PROC / "cpuinfo") or ""
    model = re.search(r"^(?:model name|Model|Hardware)\s*:\s*(.+)$", info, re.MULTILINE)
    flaws = {
        path.name: text
        for path in sorted((_CPU / "vulnerabilities").glob("*"))
        if (text := read_text(path)) is not None
    }
    return present(
        model=model[1] if model else None,
        cores=os.cpu_count(),
        affinity=sorted(os.sched_getaffinity(0)),
        governor=read_text(_CPU / "cpu0/cpufreq/scaling_governor"),
        turbo=read_turbo(),
        threads_per_core=max((len(group) for group in read_siblings({0})), default=None),
        mitigations=flaws or None,
    )


def read_kernel() -> dict[str, Any]:
    """Read the kernel's release and those of its parameters that matter here."""
    parameters = {name: read_parameter(name) for name in KERNEL_PARAMETERS}
    return present(
        release=platform.release() or None,
        boot=parse_boot(read_text(PROC / "cmdline") or "") or None,
        parameters=present(**parameters),
    )


def read_limits() -> dict[str, Any]:
    """Read the CPU quota, in cores, and the soft and hard limits of open files."""
    quota = read_quota()
    return present(
        quota=None if quota is None else quota.cores,
        nofile=list(resource.getrlimit(resource.RLIMIT_NOFILE)),
    )


def read_meminfo(key: str) -> int | None:
    """Read a figure of /proc/meminfo in bytes."""
    row = re.search(rf"^{key}:\s+(\d+) kB", read_text(PROC / "meminfo") or "", re.MULTILINE)
    return int(row[1]) * 1024 if row else None


def read_turbo() -> bool | None:
    """Read whether the CPU may exceed its nominal frequency; None if it does not tell."""
    inverted = read_text(_CPU / "intel_pstate/no_turbo")
    if inverted is not None:
        return inverted == "0"
    boost = read_text(_CPU / "cpufreq/boost")
    return None if boost is None else boost == "1"


def read_siblings(cpus: Iterable[int]) -> list[set[int]]:
    """Return, for each CPU, those on its core; alone where the kernel does not tell."""
    siblings = []
    for cpu in sorted(cpus):
        text = read_text(_CPU / f"cpu{cpu}/topology/thread_siblings_list")
        siblings.append(parse_cpu_list(text) if text else {cpu})
    return siblings


def read_text(path: Path) -> str | None:
    """Read a file of the kernel's, without white space around it; None if it cannot be read."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None


def read_parameter(name: str) -> str | None:
    """Read a kernel parameter by its name for sysctl(8), its numbers one space apart."""
    text = read_text(PROC / "sys" / name.replace(".", "/"))
    return None if text is None else " ".join(text.split())


def divide(cores: Sequence[set[int]]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """
    Divide *cores*, each a set of CPUs that share one, in two; those of one stay beside each other.

    >>> divide([{0, 4}, {1, 5}, {2, 6}, {3, 7}])
    ((0, 4, 1, 5), (2, 6, 3, 7))
    >>> divide([{0, 1}])
    ((0,), (1,))
    """
    groups = sorted({tuple(sorted(core)) for core in cores if core})
    if len(groups) == 1:
        groups = [(cpu,) for cpu in groups[0]]
    if len(groups) < 2:
        return None
    half = (len(groups) + 1) // 2
    server, generator = groups[:half], groups[half:]
    return sum(server, ()), sum(generator, ())


def parse_cpu_list(text: str) -> set[int]:
    """
    Parse the kernel's way to write a set of CPUs.

    Raises:
        ValueError: It is no such text.

    >>> sorted(parse_cpu_list("0-2,5"))
    [0, 1, 2, 5]
    """
    cpus: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        cpus |= set(range(int(first), int(last or first) + 1))
    return cpus


def parse_boot(text: str) -> dict[str, str]:
    """
    Parse those of the kernel's boot parameters that change what a measurement finds.

    The others are left out: they tell more about the machine's owner than about its speed.

    >>> parse_boot("quiet mitigations=off root=/dev/sda1")
    {'mitigations': 'off'}
    """
    parameters = {}
    for word in text.split():
        name, _, value = word.partition("=")
        if name in BOOT_PARAMETERS:
            parameters[name] = value
    return parameters


def present(**values: Any) -> dict[str, Any]:
    """Return those *values* that could be read."""
    return {name: value for name, value in values.items() if value is not None}
