"""
Listening TCP sockets of a process tree, as the kernel describes them to us or to `ss`.

The server's own sockets are asked: a copy of each descriptor is taken with pidfd_getfd(2), which
is allowed for one's own descendants, and closed within microseconds. For three processes that costs
0.7 ms, and it also tells whether the socket defers its accept, which no listing does. Where it is
forbidden, as in many containers, `ss` is asked; it walks the kernel's tables for 10 ms.

Sources: pidfd_getfd(2), tcp(7), include/uapi/linux/sock_diag.h and tcp.h, ss(8).
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import shutil
import socket
import struct
import subprocess
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from lab.bench.probes.processes import PROC

SYS_PIDFD_GETFD = 438
"""Its number on every architecture but Alpha, since Linux 5.6; `os` has no function for it."""

SO_MEMINFO = 55
"""Nine numbers of 32 bits, the last of them sk_drops: what `ss -m` prints as `d`."""

TCP_INFO_QUEUE = (24, "=II")
"""Where struct tcp_info has tcpi_unacked and tcpi_sacked: of a listener, queue and limit."""

SS_TIMEOUT = 5.0
"""Seconds."""

_SOCKET = re.compile(r"socket:\[(\d+)\]")
_INODE = re.compile(r"\bino:(\d+)")
_DROPS = re.compile(r"\bskmem:\([^)]*\bd(\d+)\)")
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Listener:
    """A listening socket."""

    inode: int
    port: int
    queue: int
    """Connections that wait to be accepted."""
    limit: int
    """Above so many, handshakes are dropped."""
    discarded: int
    """Segments discarded since it listens: dropped handshakes; see `lab.bench.probes.sockets`."""
    defers: bool | None
    """Whether it wakes the server at the first byte of a request only; None if unknown."""
    holders: frozenset[int] = frozenset()
    """Those of the processes asked about that have it open."""


def read_listeners(pids: Iterable[int]) -> list[Listener] | None:
    """Read the listeners that any of *pids* holds; None where none of the two ways is open."""
    sockets: dict[int, dict[int, int]] = {}
    """Inode -> process -> its descriptor."""
    for pid in pids:
        for inode, descriptor in _read_sockets(pid).items():
            sockets.setdefault(inode, {})[pid] = descriptor
    listening: list[Listener] | None
    try:
        # Any of its holders will do.
        listeners = [_ask(inode, *next(iter(at.items()))) for inode, at in sockets.items()]
        listening = [listener for listener in listeners if listener is not None]
    except PermissionError:
        listening = list_listeners(sockets)
    if listening is None:
        return None
    return [replace(listener, holders=frozenset(sockets[listener.inode])) for listener in listening]


def list_listeners(inodes: Collection[int]) -> list[Listener] | None:
    """Let `ss` list the listeners among *inodes*; None where it is missing or fails."""
    command = ss_path()
    if command is None:
        return None
    try:
        done = subprocess.run(
            [command, "-H", "-ltnme"],
            capture_output=True,
            text=True,
            timeout=SS_TIMEOUT,
            check=True,
        )
        return [listener for listener in parse_ss(done.stdout) if listener.inode in inodes]
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def parse_ss(text: str) -> list[Listener]:
    """
    Parse the output of `ss -H -ltnme`.

    Raises:
        ValueError: A socket lacks its queue, its inode or its memory.
    """
    listeners = []
    # Where a line begins with white space it goes on about the socket above.
    for entry in re.sub(r"\n[ \t]+", " ", text).splitlines():
        if not entry.strip():
            continue
        fields = entry.split()
        inode, drops = _INODE.search(entry), _DROPS.search(entry)
        if len(fields) < 5 or fields[0] != "LISTEN" or inode is None or drops is None:
            raise ValueError(f"not a listening socket of ss: {entry[:120]!r}")
        listeners.append(
            Listener(
                inode=int(inode[1]),
                port=int(fields[3].rpartition(":")[2]),
                queue=int(fields[1]),
                limit=int(fields[2]),
                discarded=int(drops[1]),
                defers=None,
            )
        )
    return listeners


def ss_path() -> str | None:
    """Return where `ss` is; some distributions keep it off a user's PATH."""
    return shutil.which("ss") or shutil.which("ss", path="/usr/sbin:/sbin:/usr/bin:/bin")


def _read_sockets(pid: int) -> dict[int, int]:
    """Return inode -> descriptor of a process's sockets; none if it ended."""
    sockets = {}
    try:
        descriptors = list((PROC / str(pid) / "fd").iterdir())
    except OSError:
        return {}
    for descriptor in descriptors:
        try:
            target = _SOCKET.fullmatch(str(descriptor.readlink()))
        except OSError:
            continue
        if target:
            sockets[int(target[1])] = int(descriptor.name)
    return sockets


def _ask(inode: int, pid: int, descriptor: int) -> Listener | None:
    """
    Return what a socket says of itself; None if it is no TCP listener, or was closed meanwhile.

    Raises:
        PermissionError: Copies of descriptors are not allowed here, or not known to the kernel.
    """
    copy = _copy(pid, descriptor)
    if copy is None:
        return None
    try:
        with socket.socket(fileno=copy) as it:
            inet = it.family in (socket.AF_INET, socket.AF_INET6)
            if not inet or not it.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                return None
            offset, form = TCP_INFO_QUEUE
            info = it.getsockopt(
                socket.IPPROTO_TCP, socket.TCP_INFO, offset + struct.calcsize(form)
            )
            queue, limit = struct.unpack_from(form, info, offset)
            *_, drops = struct.unpack("=9I", it.getsockopt(socket.SOL_SOCKET, SO_MEMINFO, 36))
            return Listener(
                inode=inode,
                port=it.getsockname()[1],
                queue=queue,
                limit=limit,
                discarded=drops,
                defers=it.getsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT) > 0,
            )
    except (OSError, struct.error):
        return None


def _copy(pid: int, descriptor: int) -> int | None:
    """Copy another process's descriptor; None if one of the two is gone."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    except OSError as error:
        raise PermissionError(error.errno, error.strerror) from error
    try:
        copy: int = _LIBC.syscall(SYS_PIDFD_GETFD, process, descriptor, 0)
        number = ctypes.get_errno()
    finally:
        os.close(process)
    if copy >= 0:
        return copy  # closed on exec by itself
    if number in (errno.ESRCH, errno.EBADF):
        return None
    raise PermissionError(number, os.strerror(number))
