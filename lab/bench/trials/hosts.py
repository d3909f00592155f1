"""
The hosts of a load that comes over a network, from Locust's workers.

A host is a network stack: another machine, or a container, a pod or a network namespace of this
one. What a client's end of TCP does is counted in its own stack, and by nobody on the server's
side. Servers, probes and backing services run on the master's host only.
"""

from __future__ import annotations

import os
import platform
import socket
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from ipaddress import IPv4Address, ip_address
from pathlib import Path
from shlex import quote
from typing import Any

from lab.bench.probes.machine import present, read_cpu, read_kernel, read_text
from lab.bench.probes.processes import PROC
from lab.bench.probes.tcp import TcpProbe
from lab.errors import UsageError
from lab.model.measurement import Window
from lab.model.protocols import Stop, Subject

GROWN = (
    "tcp.TCPSynRetrans",
    "tcp.TCPTimeouts",
    "tcp.RetransSegs",
    "tcp.DelayedACKs",
    "tcp.conntrack_drop",
)
"""Counters of the client's end that gates and causes look at: added to those of the server's."""

NOW = ("tcp.time_wait", "tcp.ports")
"""Figures of the client's end that are not added up: those of the most crowded host count."""

LOADS = ("gevent", "greenlet", "locust", "msgspec")
"""Distributions that a worker loads with."""

BROADCAST = IPv4Address("255.255.255.255")
"""Everybody on a link: a socket can be bound to it, and no client can connect."""

IP_MTU = 14
"""Of linux/in.h: the path's, of a socket that is connected; `socket` does not name it."""


@dataclass(frozen=True, slots=True)
class Location:
    """Where a process runs, so that two of them can tell what they share."""

    name: str
    """The host's, for people; several hosts may have the same one."""
    machine: str
    """A kernel, from its start to its end."""
    processes: str
    """Where the process's number means something."""
    network: str
    """A network stack."""

    def encode(self) -> dict[str, str]:
        """Return it as JSON values."""
        return asdict(self)


def location() -> Location:
    """Return where this process runs."""
    name = socket.gethostname()
    # Where the kernel does not tell, hosts of one name are taken for one.
    machine = read_text(PROC / "sys/kernel/random/boot_id") or name
    spaces = (f"{machine} {_space(kind)}" for kind in ("pid", "net"))
    return Location(name, machine, *spaces)


def own_address(text: str) -> str:
    """
    Return *text*, an address of this machine that others can be told.

    Raises:
        UsageError: It is none.
    """
    try:
        ipv4_address = ip_address(text)
    except ValueError:
        ipv4_address = None
    one = isinstance(ipv4_address, IPv4Address) and not (
        ipv4_address.is_unspecified or ipv4_address.is_multicast
    )
    if not one or ipv4_address == BROADCAST:
        problem = "write one IPv4 address of this machine, as `ip -4 address` prints them"
        raise UsageError(f"--bind {quote(text)}: {problem}")
    try:
        with socket.socket() as probe:
            probe.bind((text, 0))
    except OSError as error:
        problem = f"{error.strerror}; `ip -4 address` prints those of this machine"
        raise UsageError(f"--bind {quote(text)}: {problem}") from None
    return text


def describe(address: str) -> dict[str, Any]:
    """
    Read what is to be known of a host that loads servers at *address*.

    Its CPU, kernel, what it loads with, and the largest packet that takes the way there. What
    cannot be read is absent.
    """
    return present(
        cpu=read_cpu(),
        kernel=read_kernel(),
        python={"version": platform.python_version()},
        distributions={name: metadata.version(name) for name in LOADS},
        network=present(mtu=_mtu(address)) or None,
    )


def count_clients_side() -> Stop:
    """Begin to count at the client's end of TCP, for `Window.tcp`."""
    stop = TcpProbe().start(Subject(server=os.getpid(), port=0))

    def stopped() -> dict[str, float]:
        readings = stop()
        return {name: readings[name] for name in (*GROWN, *NOW) if name in readings}

    return stopped


def clients_side(readings: Mapping[str, float], windows: Sequence[Window]) -> dict[str, float]:
    """
    Return the readings `tcp.*` of a trial with what happened at the clients' end.

    Args:
        readings: Those of the server's host, where the clients of windows without a host are.
        windows: The trial's. Those of one host have counted the same.
    """
    hosts: dict[str, dict[str, float]] = {}
    for window in windows:
        if window.host:
            seen = hosts.setdefault(window.host, {})
            seen |= {name: max(value, seen.get(name, 0.0)) for name, value in window.tcp.items()}
    if not hosts:
        return {}
    here = {name: readings[name] for name in (*GROWN, *NOW) if name in readings}
    ends = (here, *hosts.values())
    grown = {
        name: sum(end.get(name, 0.0) for end in ends)
        for name in GROWN
        if any(name in end for end in ends)
    }
    # Where no client is here, nobody wants for the ports of this host.
    clients = ends if any(not window.host for window in windows) else ends[1:]
    crowded = max(clients, key=lambda end: end.get(NOW[0], 0.0) / end.get(NOW[1], 1.0))
    return grown | {name: crowded[name] for name in NOW if name in crowded}


def _space(kind: str) -> str:
    """Return the namespace of this process, of a kind."""
    try:
        return str(Path(PROC, "self/ns", kind).readlink())
    except OSError:
        return socket.gethostname()


def _mtu(address: str) -> int | None:
    """Return the largest packet of the way to *address*, in bytes; nothing is sent."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))
            return probe.getsockopt(socket.IPPROTO_IP, IP_MTU)
    except OSError:
        return None
