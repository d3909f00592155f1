"""
Fill the connection tracking table of this network namespace, but for some entries.

    tracked.py LEFT

Each entry is one of a UDP stream between addresses that nobody has, and cannot be evicted early.
Sources: Linux, include/uapi/linux/netfilter/nfnetlink_conntrack.h and netlink.h.
"""

from __future__ import annotations

import socket
import struct
import sys
from pathlib import Path

TABLE = Path("/proc/sys/net/netfilter")
NETLINK_NETFILTER = 12
NEW = 0x100  # NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_NEW
CREATE = 0x1 | 0x200 | 0x400  # NLM_F_REQUEST | NLM_F_EXCL | NLM_F_CREATE
ASSURED = 2 | 4 | 8  # IPS_SEEN_REPLY | IPS_ASSURED | IPS_CONFIRMED
SECONDS = 600
BATCH = 1000


def attribute(kind: int, body: bytes, *, nested: bool = False) -> bytes:
    """Return a netlink attribute, padded."""
    head = struct.pack("=HH", 4 + len(body), kind | (0x8000 if nested else 0))
    return head + body + b"\0" * (-len(body) % 4)


def direction(kind: int, source: bytes, target: bytes, ports: tuple[int, int]) -> bytes:
    """Return the addresses and ports of one direction: CTA_TUPLE_ORIG or CTA_TUPLE_REPLY."""
    addresses = attribute(1, source) + attribute(2, target)
    numbers = b"".join(attribute(2 + i, struct.pack(">H", port)) for i, port in enumerate(ports))
    protocol = attribute(1, bytes([socket.IPPROTO_UDP])) + numbers
    return attribute(
        kind,
        attribute(1, addresses, nested=True) + attribute(2, protocol, nested=True),
        nested=True,
    )


def entry(number: int) -> bytes:
    """Return the message that makes the entry of a number."""
    one, other = socket.inet_aton("198.18.0.1"), struct.pack(">I", 0xC6130000 + (number >> 15))
    port = (number & 0x7FFF) + 1
    body = struct.pack("=BBH", socket.AF_INET, 0, 0)
    body += direction(1, one, other, (port, 9)) + direction(2, other, one, (9, port))
    body += attribute(3, struct.pack(">I", ASSURED)) + attribute(7, struct.pack(">I", SECONDS))
    return struct.pack("=IHHII", 16 + len(body), NEW, CREATE, number, 0) + body


def read(name: str) -> int:
    """Return a number of the table: its "count" or its "max"."""
    return int((TABLE / f"nf_conntrack_{name}").read_text())


def fill(left: int) -> None:
    """Fill the table but for *left* entries."""
    wanted = read("max") - left - read("count")
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER) as kernel:
        for first in range(0, wanted, BATCH):
            kernel.send(b"".join(map(entry, range(first, min(wanted, first + BATCH)))))


if __name__ == "__main__":
    fill(int(sys.argv[1]))
