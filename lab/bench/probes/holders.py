"""
Which process has a socket open: the links in /proc/PID/fd.

They can be read by root, and by the user of a process; not if the process changed its user itself,
as gunicorn does with `--user` and uWSGI with `uid`: then only root can.

Source: proc_pid_fd(5).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from lab.bench.probes.processes import PROC

PREFIX = "socket:["


@dataclass(frozen=True, slots=True)
class Holding:
    """The processes that have sockets open, as far as they can be read."""

    pids: frozenset[int]
    refused: frozenset[int]
    """Processes whose files this user may not see."""


def holders(inodes: Collection[int]) -> Holding:
    """Return the processes that hold any socket of *inodes*; all of /proc is read."""
    pids, refused = set(), set()
    for name in os.listdir(PROC):  # noqa: PTH208 - names are enough
        if not name.isdecimal():
            continue
        try:
            if any(inode in inodes for inode in read_sockets(int(name)).values()):
                pids.add(int(name))
        except PermissionError:
            refused.add(int(name))
    return Holding(frozenset(pids), frozenset(refused))


def read_sockets(pid: int, known: Collection[str] = ()) -> dict[str, int]:
    """
    Return descriptor -> inode of a process's sockets; empty if it has ended.

    Args:
        pid: The process.
        known: Descriptors to pass over.

    Raises:
        PermissionError: This user may not see them.
    """
    folder, sockets = f"{PROC}/{pid}/fd", {}
    try:
        descriptors = os.listdir(folder)  # noqa: PTH208 - a thousand of them
    except PermissionError:
        raise
    except OSError:
        return {}
    for descriptor in descriptors:
        if descriptor in known:
            continue
        try:
            target = os.readlink(f"{folder}/{descriptor}")  # noqa: PTH115 - as above
        except OSError:
            continue
        if target.startswith(PREFIX):
            sockets[descriptor] = int(target[len(PREFIX) : -1])
    return sockets


@dataclass(slots=True)
class Owners:
    """Keeps which worker owns which connection, and reads only what is new."""

    _sockets: dict[int, dict[str, int]] = field(default_factory=dict)
    """Process -> descriptor -> inode, of connections that were there at the last look."""

    def of(self, inodes: Collection[int], pids: Iterable[int]) -> dict[int, int]:
        """
        Return inode -> process for the accepted connections of *inodes*.

        Raises:
            PermissionError: This user may not see the files of *pids*.
        """
        kept: dict[int, dict[str, int]] = {}
        owners: dict[int, int] = {}
        for pid in pids:
            sockets = self._sockets.get(pid, {})
            kept[pid] = {fd: inode for fd, inode in sockets.items() if inode in inodes}
            owners |= dict.fromkeys(kept[pid].values(), pid)
        if len(owners) < len(inodes):
            for pid, sockets in kept.items():
                new = read_sockets(pid, sockets)
                sockets |= {fd: inode for fd, inode in new.items() if inode in inodes}
                owners |= dict.fromkeys(sockets.values(), pid)
        self._sockets = kept
        return owners
