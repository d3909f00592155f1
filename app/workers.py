"""
How many worker processes this machine's, or this container's, CPUs are worth.

Run by a profile as `ini = exec://python3 app/workers.py`, which sets `%(cpus)`, because uWSGI's
own `%k` counts the CPUs of the host: in a container with half a CPU of 64 it would start 64
workers, which then wait for one another. It imports nothing of this project, so any Python can run
it.

Sources: Linux, Documentation/admin-guide/cgroup-v2.rst (cpu.max) and scheduler/sched-bwc.rst
(cpu.cfs_quota_us); sched_getaffinity(2).
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

LEAST = 2
"""One worker that is busy, or is being replaced, must not stop the service."""


def workers(root: Path = Path("/")) -> int:
    """
    Return one worker for each CPU that may be used, and at least `LEAST`.

    Args:
        root: Where proc and sys are mounted.
    """
    cpus = float(len(os.sched_getaffinity(0)))
    return max(LEAST, math.ceil(min([cpus, *_limits(root)])))


def _limits(root: Path) -> Iterator[float]:
    """Yield the limits in CPUs of this process's cgroup and of all above it; any may bind."""
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not path.startswith("/"):
            continue
        names = controllers.split(",")
        if names == [""]:  # cgroup v2, by itself or beside v1
            mounts = [root / "sys/fs/cgroup", root / "sys/fs/cgroup/unified"]
        elif "cpu" in names:
            mounts = [root / "sys/fs/cgroup" / controllers, root / "sys/fs/cgroup/cpu"]
        else:
            continue
        # In a container the path may be the host's, of which only the mount's root can be seen.
        for folder in (PurePosixPath(path), *PurePosixPath(path).parents):
            for mount in mounts:
                yield from _limit(mount / folder.relative_to("/"))


def _limit(folder: Path) -> Iterator[float]:
    words = _read(folder / "cpu.max").split() or [
        _read(folder / "cpu.cfs_quota_us").strip(),
        _read(folder / "cpu.cfs_period_us").strip(),
    ]
    # "max", or -1 in version 1, is no limit.
    if words[0].isdigit() and words[1].isdigit() and int(words[1]) > 0:
        yield int(words[0]) / int(words[1])


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:  # another version of cgroups, or none
        return ""


if __name__ == "__main__":
    print(f"[uwsgi]\nset-ph = cpus={workers()}")  # noqa: T201 - its output is its purpose
