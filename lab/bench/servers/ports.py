"""Addresses of this machine: one where nobody answers, and whether somebody does."""

from __future__ import annotations

import errno
import secrets
import socket
from contextlib import suppress
from pathlib import Path

from lab.model.protocols import Endpoint
from lab.model.runtime import LOOPBACK
from lab.model.workload import Transport, Workload

HOST = LOOPBACK
"""Backing services are reached on the loopback only; servers under test where `--bind` says."""

PORTS = range(20_000, 30_000)
"""Servers listen on these: below the ports that Linux gives to clients (32768 to 60999)."""

_LISTEN = "0A"


def free_endpoint(workload: Workload, folder: Path) -> Endpoint:
    """Return where nobody answers yet to be asked for *workload*; a UNIX socket is in *folder*."""
    host = workload.runtime.bind
    if workload.transport is Transport.UNIX:
        return Endpoint(host, 0, socket=str(folder / "server.sock"), wire=workload.wire)
    return Endpoint(host, free_port(host), wire=workload.wire)


def served(endpoint: Endpoint) -> bool:
    """Return whether any process of this machine accepts connections at *endpoint*."""
    return accepts(endpoint.socket) if endpoint.socket else listens(endpoint.port)


def accepts(name: str) -> bool:
    """Return whether somebody accepts at a UNIX socket: a path, or a zero byte and a name."""
    with socket.socket(socket.AF_UNIX) as client:
        client.setblocking(False)
        try:
            client.connect(name)
        except BlockingIOError:  # its queue is full
            return True
        except OSError as error:
            return error.errno == errno.EPROTOTYPE  # it takes datagrams
        return True


def free_port(host: str = HOST) -> int:
    """
    Return a TCP port of *host*, an address of this machine, that nobody uses at this moment.

    A port of the kernel's range for clients may be in use again before a server binds it.
    Source: Linux, Documentation/networking/ip-sysctl.rst, ip_local_port_range.
    """
    for _ in range(20):
        with suppress(OSError), socket.socket() as probe:
            port = secrets.choice(PORTS)
            probe.bind((host, port))
            return port
    with socket.socket() as probe:  # all in use, or no address of this machine
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    """Return whether any process of this machine listens on TCP *port*."""
    return bool(listeners(port))


def listeners(port: int) -> frozenset[str]:
    """
    Return the sockets that listen on TCP *port*, as /proc/PID/fd names them.

    Source: Linux, net/ipv4/tcp_ipv4.c, tcp_get_idx: the rows of listening sockets come first.
    """
    sockets: set[str] = set()
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        # A kernel without IPv6 has no second one.
        with suppress(FileNotFoundError), table.open(encoding="ascii") as rows:
            next(rows)  # the names of the columns
            for row in rows:
                _, address, _, state, *_, inode = row.split(maxsplit=10)[:10]
                # After a trial tens of thousands of connections follow, 0.1 s to read.
                if state != _LISTEN:
                    break
                if int(address.rpartition(":")[2], 16) == port:
                    sockets.add(f"socket:[{inode}]")
    return frozenset(sockets)
