"""
How many connections wait until a worker accepts them, asked of the kernel.

uWSGI itself knows this of TCP sockets alone, once a second, and says 0 of a UNIX socket. The kernel
tells both at any time, to any user: of a UNIX socket by the same messages as `ss -lx` uses.

Sources: Linux, include/uapi/linux/tcp.h (tcp_info: of a socket that listens, tcpi_unacked is the
queue and tcpi_sacked its limit), unix_diag.h, sock_diag.h; sock_diag(7), netlink(7).
"""

from __future__ import annotations

import os
import socket
import struct
from typing import NamedTuple

_TCP_INFO = struct.Struct("24xII")
_NETLINK_SOCK_DIAG = 4
_BY_FAMILY = 20
_SHOW_QUEUE = 0x10
_QUEUE = 4
_ANY_COOKIE = 0xFFFFFFFF
_REQUEST = struct.Struct("=IHHII" + "BBHIIIII")
"""nlmsghdr, unix_diag_req."""
_ANSWER = struct.calcsize("=IHHII" + "BBBBIII")
"""Bytes of nlmsghdr and unix_diag_msg, after which the attributes stand."""
_TIMEOUT = 1.0


class Backlog(NamedTuple):
    """The connections of a listening socket that nobody has accepted yet."""

    waiting: int
    limit: int


def read_backlog(descriptor: int) -> Backlog | None:
    """
    Return the queue of a listening socket; None of one that is neither TCP nor UNIX.

    Args:
        descriptor: The socket's; it stays open, and in the hands of whoever has it.

    Raises:
        OSError: The kernel does not tell, as where a sandbox forbids netlink.
    """
    with socket.socket(fileno=os.dup(descriptor)) as listening:
        if listening.family == socket.AF_UNIX:
            return _ask(os.fstat(descriptor).st_ino)
        if listening.family in (socket.AF_INET, socket.AF_INET6):
            info = listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size)
            return Backlog(*_TCP_INFO.unpack(info))
    return None


def _ask(inode: int) -> Backlog:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(_TIMEOUT)
        request = 1  # NLM_F_REQUEST: this one socket, not a list
        states = 0xFFFFFFFF
        kernel.send(
            _REQUEST.pack(
                *(_REQUEST.size, _BY_FAMILY, request, 1, 0),
                *(socket.AF_UNIX, 0, 0, states, inode, _SHOW_QUEUE, _ANY_COOKIE, _ANY_COOKIE),
            )
        )
        reply = kernel.recv(4096)
    kind = struct.unpack_from("=H", reply, 4)[0]
    if kind != _BY_FAMILY:  # NLMSG_ERROR: its first word is the negative errno
        number = -struct.unpack_from("=i", reply, 16)[0]
        raise OSError(number, os.strerror(number))
    place = _ANSWER
    while place + 4 <= len(reply):
        size, name = struct.unpack_from("=HH", reply, place)
        if name == _QUEUE:
            return Backlog(*struct.unpack_from("=II", reply, place + 4))
        place += (max(size, 4) + 3) & ~3
    raise OSError("the kernel says nothing of the queue of a UNIX socket")
