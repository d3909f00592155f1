"""TCP ports of this machine: one that is free, and whether one is served."""

from __future__ import annotations

import re
import socket
from pathlib import Path

HOST = "127.0.0.1"
"""Servers under test are reached on the loopback only."""


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
    """Return the sockets that listen on TCP *port*, as /proc/PID/fd names them."""
    found: set[str] = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            text = Path(table).read_text(encoding="ascii")
        except FileNotFoundError:  # no IPv6 in this kernel
            continue
        # Local address, remote address, state 0A (LISTEN); the tenth field is the inode. Found by
        # search, because after a trial the table has tens of thousands of other rows.
        for row in re.finditer(rf"^.*:{port:04X} \S+ 0A .*$", text, re.MULTILINE):
            found.add(f"socket:[{row[0].split()[9]}]")
    return frozenset(found)
