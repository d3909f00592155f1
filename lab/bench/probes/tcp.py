"""
TCP counters of the network namespace: what no single socket tells.

They count for every program in the namespace, so they say that something happened, and
`lab.bench.probes.sockets` says whether it happened to this server.

Sources: proc_net(5), Documentation/networking/snmp_counter.rst, Linux,
net/netfilter/nf_conntrack_core.c and nf_conntrack_standalone.c.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial

from lab.bench.probes.processes import PROC
from lab.model.protocols import Stop, Subject

COUNTERS = (
    "ListenOverflows",
    "ListenDrops",
    "TCPSynRetrans",
    "TCPTimeouts",
    "RetransSegs",
    "DelayedACKs",
    "TCPDeferAcceptDrop",
    "TCPReqQFullDoCookies",
    "conntrack_drop",
)
"""As the kernel names them; `conntrack_drop` is its connection tracking's: `parse_conntrack`."""


class TcpProbe:
    """How much each of COUNTERS grew, connections in TIME_WAIT at the end, and local ports."""

    def start(self, subject: Subject) -> Stop:
        """
        Read the counters; `stop` returns `tcp.*`.

        They are counts, but for `tcp.time_wait`, as it is then, and `tcp.ports`: how many local
        ports there are for outgoing connections, used or free. Nothing is returned of a server on
        a UNIX socket: whatever was counted was somebody else's.
        """
        if subject.port is None:
            return dict
        return partial(_readings, read_counters())


def read_counters(pid: int | str = "self") -> dict[str, int]:
    """Read COUNTERS of a process's network namespace; one that is not there is absent."""
    counters: dict[str, int] = {}
    for file, parse in (
        ("netstat", parse_counters),
        ("snmp", parse_counters),
        ("stat/nf_conntrack", parse_conntrack),
    ):
        try:
            counters |= parse((PROC / str(pid) / "net" / file).read_text())
        except (OSError, ValueError):
            continue
    return {name: counters[name] for name in COUNTERS if name in counters}


def grown_since(before: Mapping[str, int]) -> dict[str, float]:
    """Return how much each counter grew since `read_counters` returned *before*."""
    now = read_counters()
    return {name: float(now[name] - before[name]) for name in now if name in before}


def parse_counters(text: str) -> dict[str, int]:
    """
    Parse a /proc/net/netstat or snmp: pairs of lines, names and numbers.

    Raises:
        ValueError: A line of names is not followed by as many numbers of the same protocol.
    """
    lines = text.splitlines()
    counters: dict[str, int] = {}
    for head, values in zip(lines[::2], lines[1::2], strict=True):
        names, numbers = head.split(), values.split()
        if names[:1] != numbers[:1]:
            raise ValueError(f"{head[:40]!r} is followed by {values[:40]!r}")
        counters.update(zip(names[1:], map(int, numbers[1:]), strict=True))
    return counters


def parse_conntrack(text: str) -> dict[str, int]:
    """
    Parse the packets that connection tracking dropped from a /proc/net/stat/nf_conntrack.

    `drop` counts those that found the table full or collided for good, `chainlength` (from Linux
    5.15 on) those whose hash bucket was full. `early_drop` evicts an entry and loses no packet,
    `insert_failed` counts collisions that were resolved, too.

    Raises:
        ValueError: It has no `drop`, or a line has not as many hexadecimal numbers as names.
    """
    head, *lines = text.splitlines() or [""]
    names = head.split()
    if "drop" not in names:
        raise ValueError("no column drop")
    rows = [dict(zip(names, line.split(), strict=True)) for line in lines]  # one for each CPU
    dropped = (int(row.get(name, "0"), 16) for row in rows for name in ("drop", "chainlength"))
    return {"conntrack_drop": sum(dropped)}


def parse_time_wait(text: str) -> int:
    """
    Parse the number of connections in TIME_WAIT from a /proc/net/sockstat.

    Raises:
        ValueError: It is not there.
    """
    for line in text.splitlines():
        fields = line.split()
        if fields[:1] == ["TCP:"] and "tw" in fields:
            return int(fields[fields.index("tw") + 1])
    raise ValueError("no TCP line with tw")


def parse_port_range(text: str) -> int:
    """
    Parse the number of local ports from an ip_local_port_range.

    Raises:
        ValueError: It is not two numbers.

    >>> parse_port_range("32768 60999")
    28232
    """
    first, last = map(int, text.split())
    return last - first + 1


def _readings(before: Mapping[str, int]) -> Mapping[str, float]:
    readings = {f"tcp.{name}": grown for name, grown in grown_since(before).items()}
    with suppress(OSError, ValueError):
        now = parse_time_wait((PROC / "self/net/sockstat").read_text())
        readings["tcp.time_wait"] = float(now)
    with suppress(OSError, ValueError):
        ports = parse_port_range((PROC / "sys/net/ipv4/ip_local_port_range").read_text())
        readings["tcp.ports"] = float(ports)
    return readings
