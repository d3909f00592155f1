"""
CPU quota of a control group, version 1 and 2: how many cores, and how long it was held back.

A quota may be set on any group above the process's own, and inside a container the path that
/proc shows may not exist; so every group from there up to the mount point is looked at.

Source: cgroups(7), Documentation/admin-guide/cgroup-v2.rst, scheduler/sched-bwc.rst.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lab.bench.probes.processes import PROC

MOUNT = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Quota:
    """The tightest quota that holds for a process."""

    cores: float
    throttled: float | None
    """Seconds that it held tasks back since the group exists; None if unreadable."""


def read_quota(pid: int | str = "self", mount: Path = MOUNT) -> Quota | None:
    """Read the tightest CPU quota on *pid*; None without one, or where none can be read."""
    quotas = [quota for folder in _folders(pid, mount) if (quota := _read(folder)) is not None]
    return min(quotas, key=lambda quota: quota.cores, default=None)


def parse_max(text: str) -> float | None:
    """
    Parse the cores that a cpu.max of version 2 allows; None for no limit.

    Raises:
        ValueError: It is no such text.
    """
    quota, period = text.split()
    return None if quota == "max" else int(quota) / int(period)


def parse_throttled(text: str) -> float | None:
    """Parse the seconds throttled from a cpu.stat of either version; None if not told."""
    for line in text.splitlines():
        match line.split():
            case ["throttled_usec", value]:
                return int(value) / 1e6
            case ["throttled_time", value]:
                return int(value) / 1e9
    return None


def _folders(pid: int | str, mount: Path) -> Iterator[Path]:
    """Yield the folders of the groups of *pid* that may hold a quota, innermost first."""
    try:
        lines = (PROC / str(pid) / "cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            base = mount
        elif "cpu" in controllers.split(","):
            base = mount / controllers
            if not base.is_dir():
                base = mount / "cpu"
        else:
            continue
        inner = base / path.lstrip("/")
        yield from (folder for folder in (inner, *inner.parents) if folder.is_relative_to(base))


def _read(folder: Path) -> Quota | None:
    try:
        cores = _cores(folder)
    except (OSError, ValueError):
        return None
    if cores is None:
        return None
    try:
        return Quota(cores, parse_throttled((folder / "cpu.stat").read_text()))
    except (OSError, ValueError):
        return Quota(cores, None)


def _cores(folder: Path) -> float | None:
    """Return the quota set on one group; None for no limit."""
    if (folder / "cpu.max").exists():
        return parse_max((folder / "cpu.max").read_text())
    quota = int((folder / "cpu.cfs_quota_us").read_text())
    period = int((folder / "cpu.cfs_period_us").read_text())
    return quota / period if quota > 0 else None
