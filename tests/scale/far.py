"""
A long way between two network namespaces: `far.py PID PID SECONDS`.

It makes a TUN device `far` in the namespace of each process, and hands every packet of one to the
other so many seconds later. Few kernels of containers have netem, which would do the same.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import struct
import sys
from collections import deque
from contextlib import suppress
from time import monotonic

CLONE_NEWNET, TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x40000000, 0x400454CA, 0x0001, 0x1000


def device(pid: int) -> int:
    """Return a TUN device in the network namespace of a process."""
    space = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).setns(space, CLONE_NEWNET):
        sys.exit(f"setns: {os.strerror(ctypes.get_errno())}")
    os.close(space)
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", b"far", IFF_TUN | IFF_NO_PI))
    return tun


def main(one: int, other: int, seconds: float) -> None:
    """Carry packets until killed."""
    ends = (device(one), device(other))
    across = dict(zip(ends, reversed(ends), strict=True))
    way: deque[tuple[float, int, bytes]] = deque()
    while True:
        wait = max(0.0, way[0][0] - monotonic()) if way else None
        for end in select.select(ends, [], [], wait)[0]:
            way.append((monotonic() + seconds, across[end], os.read(end, 65536)))
        while way and way[0][0] <= monotonic():
            _, end, packet = way.popleft()
            with suppress(OSError):  # of a device that is not up yet
                os.write(end, packet)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
