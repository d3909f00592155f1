"""TCP ports of this machine: one that is free, and whether one is served."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path

HOST = "127.0.0.1"
"""Servers under test are reached on the loopback only."""

_LISTEN = "0A"


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 that nobody uses at this moment."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def listens(port: int) -> bool:
    """Return whether any process of this machine listens on TCP *port*."""
    return bool(listeners(port))


def listeners(port: int) -> frozenset[str]:
    """
    Return the sockets that listen on TCP *port*, as /proc/PID/fd names them.

    Source: Linux, net/ipv4/tcp_ipv4.c, tcp_get_idx: the rows of listening sockets come first.
    """
    found: set[str] = set()
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
                    found.add(f"socket:[{inode}]")
    return frozenset(found)
