"""
Sockets of a port or a path, as the kernel's socket diagnosis describes them to any user.

One request returns all connections of a port with their counters (struct tcp_info). It needs no
rights, sends nothing to the server and takes no copy of its descriptors. The kernel walks its whole
table of connections for it: 1 ms for 262,144 buckets, and 0.006 ms for each connection returned.

pyroute2 speaks the protocol, too: its DiagSocket takes 0.16 ms for each connection, passes over
errors such as a missing module, and announces another signature (0.9.7).

Sources: sock_diag(7), include/uapi/linux/inet_diag.h, unix_diag.h and tcp.h,
net/ipv4/inet_diag.c.
"""

from __future__ import annotations

import ctypes
import errno
import ipaddress
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Self

from lab.bench.probes.processes import PROC
from lab.errors import LabError
from lab.model.connection import CLOSE_WAIT, TcpConnection, UnixConnection

NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
NLMSG_ERROR, NLMSG_DONE = 2, 3
REQUEST_AND_DUMP = 0x301
"""NLM_F_REQUEST, NLM_F_ROOT and NLM_F_MATCH."""

ESTABLISHED, CLOSED_BY_CLIENT, LISTEN = 1 << 1, 1 << CLOSE_WAIT, 1 << 10
"""States to return. The server may still work for a client that has closed."""

WITH_PEER = 0xFFE & ~(1 << 6 | 1 << 7 | LISTEN)
"""States of a socket that a process has and that has a peer: not TIME_WAIT, CLOSE, LISTEN."""

FAMILIES = (socket.AF_INET, socket.AF_INET6)[: 1 + socket.has_ipv6]

INFO, MEMORY = 2, 7
"""Extensions: struct tcp_info, and the nine numbers of which the last is sk_drops."""

_HEADER = struct.Struct("=IHHII")
_QUESTION = struct.Struct("=BBBxI2s2x16x16x4x8x")
"""struct inet_diag_req_v2: family, protocol, extensions, states, local port."""

_SOCKET = struct.Struct("=xBxx4x16s16x4x8s4xIIII")
"""struct inet_diag_msg: state, local address, cookie, queues, user, inode."""

_IDENTITY = struct.Struct("!xBxxHH16x16s")
"""The begin of the same message: state, local port, port and address of the peer."""

_TCP = struct.Struct("=24xI16xI4xII68xQI4xI4xII40xQQ")
"""Of struct tcp_info what `TcpConnection` has, up to tcpi_bytes_retrans of Linux 4.19."""

_UNIX_QUESTION = struct.Struct("=BBxxIII8x")
"""struct unix_diag_req: family, protocol, states, inode, what to show."""

_UNIX_SOCKET = struct.Struct("=xxBxI8x")
"""struct unix_diag_msg: state, inode."""

UNIX_NAME, UNIX_LENGTHS, UNIX_SHUTDOWN, UNIX_USER = 0, 4, 6, 7
"""Attributes of struct unix_diag_msg."""

SENDING_ENDED = 2
"""Bit of UNIX_SHUTDOWN: the server has sent all, and only waits for the client to close."""

UNIX_SHOWN = 1 << 0 | 1 << 4 | 1 << 6
"""UDIAG_SHOW_NAME, UDIAG_SHOW_RQLEN and UDIAG_SHOW_UID."""

_PORT = struct.Struct("!H")
_ATTRIBUTE = struct.Struct("=HH")

CLONE_NEWNET = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)

BUFFER = 1 << 18


class SocketDiagnosisError(LabError):
    """The kernel does not describe its sockets."""


@dataclass(frozen=True, slots=True)
class ListeningSocket:
    """A listening socket."""

    family: int
    address: bytes
    """16 bytes; of IPv4 the first four. All 0: every address. Of a UNIX socket its path."""
    port: int
    """0 of a UNIX socket."""
    uid: int
    inode: int
    queue: int
    """Connections that wait to be accepted."""
    limit: int
    """Above so many, handshakes are dropped."""
    discarded: int
    """Segments discarded since it listens; see `lab.bench.probes.sockets`."""

    def takes(self, connection: TcpConnection) -> bool:
        """Return whether a connection of its port may have come through it."""
        return self.address in {bytes(16), connection.address}

    @property
    def name(self) -> str:
        """How people write it: "port 8000", or the path."""
        if self.family != socket.AF_UNIX:
            return f"port {self.port}"
        return os.fsdecode(self.address).replace("\0", "@")


class SocketDiagnosis:
    """Asks the kernel of one network namespace for sockets; a context manager."""

    def __init__(self, pid: int | None = None) -> None:
        """
        Open a netlink socket.

        Args:
            pid: A process of the network namespace to ask; None: that of this process.

        Raises:
            SocketDiagnosisError: The kernel has no socket diagnosis, or may not be asked there.
        """
        self._socket = _netlink() if pid is None or _is_here(pid) else _netlink_of(pid)
        self._buffer = bytearray(BUFFER)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the netlink socket."""
        self._socket.close()

    def listeners(self, port: int = 0) -> list[ListeningSocket]:
        """Return the listeners of a port, or of all."""
        return [listener for family in FAMILIES for listener in self._listeners(family, port)]

    def connections(self, port: int, family: int) -> list[TcpConnection]:
        """Return the connections of a local port; an IPv6 listener has its IPv4 clients, too."""
        connections = []
        unpack_socket, unpack_tcp, make = _SOCKET.unpack_from, _TCP.unpack_from, TcpConnection._make
        for at, end in self._dump(family, INFO, ESTABLISHED | CLOSED_BY_CLIENT, port):
            info = _attribute(self._buffer, at + _SOCKET.size, end, INFO)
            if info is None:
                continue  # it has ended in this moment
            if info[1] < _TCP.size:
                raise SocketDiagnosisError(
                    "the kernel is older than Linux 4.19, which counts bytes sent"
                )
            connections.append(
                make(unpack_socket(self._buffer, at) + unpack_tcp(self._buffer, info[0]))
            )
        return connections

    def peer(self, inode: int) -> tuple[int, str] | None:
        """Return the local port and the peer of a TCP socket; None: no socket with a peer."""
        peer = None
        for family in FAMILIES:
            for at, _ in self._dump(family, MEMORY, WITH_PEER, 0):
                if _SOCKET.unpack_from(self._buffer, at)[-1] == inode:
                    _, local, port, address = _IDENTITY.unpack_from(self._buffer, at)
                    peer = local, f"{_address(family, address)}:{port}"
        return peer

    def _listeners(self, family: int, port: int) -> Iterator[ListeningSocket]:
        for at, end in self._dump(family, MEMORY, LISTEN, port):
            _, address, _, queue, limit, uid, inode = _SOCKET.unpack_from(self._buffer, at)
            memory = _attribute(self._buffer, at + _SOCKET.size, end, MEMORY)
            drops = (
                0 if memory is None else struct.unpack_from("=I", self._buffer, memory[0] + 32)[0]
            )
            (local,) = _PORT.unpack_from(self._buffer, at + 4)
            yield ListeningSocket(family, address, local, uid, inode, queue, limit, drops)

    def unix(self, path: bytes | None = None) -> tuple[list[ListeningSocket], list[UnixConnection]]:
        """
        Return the listening UNIX sockets of a path, or of all, and its accepted connections.

        Without those on which the server has ended sending: gunicorn's sync workers wait up to 2 s
        for such a client to close.

        Args:
            path: As it was bound, which may be relative; with a zero byte before an abstract name.
        """
        listeners, connections = [], []
        question = _UNIX_QUESTION.pack(socket.AF_UNIX, 0, ESTABLISHED | LISTEN, 0, UNIX_SHOWN)
        for begin, end in self._answers(question):
            state, inode = _UNIX_SOCKET.unpack_from(self._buffer, begin)
            at = begin + _UNIX_SOCKET.size
            named = _attribute(self._buffer, at, end, UNIX_NAME)
            if named is None:
                continue  # a client's
            name = bytes(self._buffer[named[0] : sum(named)])
            name = name if name[:1] == b"\0" else name.rstrip(b"\0")
            if path not in {None, name}:
                continue
            queue, limit = self._numbers(at, end, UNIX_LENGTHS, 2)
            if 1 << state == LISTEN:
                (uid,) = self._numbers(at, end, UNIX_USER, 1)
                listeners.append(
                    ListeningSocket(socket.AF_UNIX, name, 0, uid, inode, queue, limit, 0)
                )
            elif path is not None and not self._byte(at, end, UNIX_SHUTDOWN) & SENDING_ENDED:
                connections.append(UnixConnection(inode, queue))
        return listeners, connections

    def _numbers(self, at: int, end: int, kind: int, count: int) -> tuple[int, ...]:
        """Return the numbers of an attribute; zeros where it is not there."""
        place = _attribute(self._buffer, at, end, kind)
        form = struct.Struct(f"={count}I")
        return form.unpack_from(self._buffer, place[0]) if place else (0,) * count

    def _byte(self, at: int, end: int, kind: int) -> int:
        """Return the byte of an attribute; 0 where it is not there."""
        place = _attribute(self._buffer, at, end, kind)
        return self._buffer[place[0]] if place else 0

    def _dump(
        self, family: int, extension: int, states: int, port: int
    ) -> Iterator[tuple[int, int]]:
        """Yield where the buffer has each TCP socket: the message's begin and end."""
        try:
            yield from self._answers(
                _QUESTION.pack(
                    family, socket.IPPROTO_TCP, 1 << extension - 1, states, _PORT.pack(port)
                )
            )
        except SocketDiagnosisError as error:
            without_ipv6 = (
                isinstance(error.__cause__, OSError) and error.__cause__.errno == errno.ENOENT
            )
            if not (without_ipv6 and family == socket.AF_INET6):
                raise

    def _answers(self, question: bytes) -> Iterator[tuple[int, int]]:
        """
        Yield where the buffer has each answer: the message's begin and end.

        Raises:
            SocketDiagnosisError: The kernel does not answer.
        """
        size = _HEADER.size + len(question)
        try:
            self._socket.send(
                _HEADER.pack(size, SOCK_DIAG_BY_FAMILY, REQUEST_AND_DUMP, 1, 0) + question
            )
            yield from self._messages()
        except OSError as error:
            raise _unavailable(error) from error

    def _messages(self) -> Iterator[tuple[int, int]]:
        while True:
            size, at = self._socket.recv_into(self._buffer), 0
            while at < size:
                length, kind, *_ = _HEADER.unpack_from(self._buffer, at)
                if kind == NLMSG_DONE:
                    return
                if kind == NLMSG_ERROR:
                    (number,) = struct.unpack_from("=i", self._buffer, at + _HEADER.size)
                    raise OSError(-number, os.strerror(-number))
                yield at + _HEADER.size, at + length
                at += length + 3 & ~3


def _address(family: int, raw: bytes) -> str:
    """Return an address as people write it before a port; IPv4 also inside of IPv6."""
    if family == socket.AF_INET:
        return str(ipaddress.IPv4Address(raw[:4]))
    address = ipaddress.IPv6Address(raw)
    return str(address.ipv4_mapped or f"[{address}]")


def _attribute(buffer: bytearray, at: int, end: int, kind: int) -> tuple[int, int] | None:
    """Return where the attribute of a kind begins, and its size; None: it is not there."""
    while at + _ATTRIBUTE.size <= end:
        length, this = _ATTRIBUTE.unpack_from(buffer, at)
        if this == kind:
            return at + _ATTRIBUTE.size, length - _ATTRIBUTE.size
        at += max(length, _ATTRIBUTE.size) + 3 & ~3
    return None


def _netlink() -> socket.socket:
    try:
        return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG)
    except (OSError, AttributeError) as error:  # no Linux has no AF_NETLINK
        raise _unavailable(error) from error


def _is_here(pid: int) -> bool:
    """Return whether a process is in our network namespace, as far as we may know."""
    try:
        return (PROC / str(pid) / "ns/net").readlink() == (PROC / "self/ns/net").readlink()
    except OSError:
        return True


def _netlink_of(pid: int) -> socket.socket:
    """Return a netlink socket of another namespace: this thread enters it for a moment."""
    with ExitStack() as opened:
        home, there = (
            opened.enter_context((PROC / name / "ns/net").open("rb"))
            for name in ("thread-self", str(pid))
        )
        if _LIBC.setns(there.fileno(), CLONE_NEWNET):
            number = ctypes.get_errno()
            raise SocketDiagnosisError(
                f"process {pid} is in another network namespace, such as a container's "
                f"({os.strerror(number)}): run `lab watch` as root, or in that container"
            )
        try:
            return _netlink()
        finally:
            _LIBC.setns(home.fileno(), CLONE_NEWNET)


def _unavailable(error: Any) -> SocketDiagnosisError:
    if isinstance(error, OSError) and error.errno == errno.ENOENT:
        return SocketDiagnosisError(
            "the kernel has no socket diagnosis: `modprobe -a tcp_diag unix_diag` as root loads it"
        )
    return SocketDiagnosisError(f"the kernel does not describe its sockets (sock_diag): {error}")
