"""
What the server writes: its system calls for it, and its log.

A request log costs a write a request, and where it goes decides how long that takes. Both are read
from outside, so every server is measured alike.

The kernel adds the counts of a process that ended to those of the one that waited for it, so a
tree's sum is exact across respawns. It counts write(2), writev(2) and their like, to sockets as
well, but not send(2).

Sources: proc_pid_io(5), kernel/exit.c (wait_task_zombie).
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from lab.bench.probes.processes import PROC, ProcessState, read_snapshot
from lab.model.protocols import Stop, Subject

_File = tuple[int, int]
"""Device and inode: what a log is, under however many descriptors and names."""


@dataclass(frozen=True, slots=True)
class _Outputs:
    """Where a tree's standard output and standard error go."""

    sizes: Mapping[_File, int]
    """Bytes of each regular file."""
    piped: bool
    read: bool
    """Whether one could be looked at."""


class OutputProbe:
    """Writes of the tree, and the growth of its log."""

    def start(self, subject: Subject) -> Stop:
        """
        Read what was written so far; `stop` returns `server.writes`, `.logged` and `.log_pipe`.

        `server.writes` counts system calls; absent where one process of the tree cannot be read.
        `server.logged` is the bytes by which the files that are standard output or standard error
        of the tree's processes grew; absent where these are no files. `server.log_pipe` is 1 where
        one of them is a pipe, whose reader can make the server wait, else 0.
        """
        tree = read_snapshot(subject.server).tree(subject.server)
        sizes = _read_outputs(tree, subject.server).sizes
        return partial(_readings, subject.server, _read_writes(tree), sizes)


def parse_writes(io: str) -> int:
    """
    Parse the number of write system calls from a /proc/PID/io.

    Raises:
        ValueError: It is not there.
    """
    for line in io.splitlines():
        key, _, value = line.partition(":")
        if key == "syscw":
            return int(value)
    raise ValueError("no line `syscw`")


def _readings(
    root: int, writes_before: int | None, sizes_before: Mapping[_File, int]
) -> Mapping[str, float]:
    tree = read_snapshot(root).tree(root)
    writes, outputs = _read_writes(tree), _read_outputs(tree, root)
    readings = {}
    if writes is not None and writes_before is not None:
        readings["server.writes"] = float(writes - writes_before)
    if outputs.sizes:
        grown = sum(size - sizes_before.get(file, size) for file, size in outputs.sizes.items())
        readings["server.logged"] = float(max(0, grown))  # a rotated log shrinks
    if outputs.read:
        readings["server.log_pipe"] = float(outputs.piped)
    return readings


def _read_writes(tree: Iterable[ProcessState]) -> int | None:
    """
    Return the writes of the whole tree, its root included, which has those of its dead.

    A process that ends meanwhile may be counted at its parent too, or not at all: nothing is told.
    """
    try:
        return sum(parse_writes((PROC / str(process.pid) / "io").read_text()) for process in tree)
    except (OSError, ValueError):
        return None


def _read_outputs(tree: Iterable[ProcessState], root: int) -> _Outputs:
    sizes: dict[_File, int] = {}
    piped = read = False
    for process in tree:
        for descriptor in () if process.pid == root else (1, 2):
            try:
                status = (PROC / str(process.pid) / "fd" / str(descriptor)).stat()
            except OSError:
                continue  # closed, ended, or another user's
            read = True
            piped |= stat.S_ISFIFO(status.st_mode)
            if stat.S_ISREG(status.st_mode):
                sizes[status.st_dev, status.st_ino] = status.st_size
    return _Outputs(sizes, piped, read)
