"""
A neighbour on the server's CPU: copies memory by a schedule, and ends with it.

Run as `python -I -S neighbour.py CPU SCHEDULE`, the schedule as JSON: [[begin, end, share], ...] in
seconds from now, and shares of the CPU. It leaves its parent, so that the lab takes it for the
stranger that it is, and ends where the schedule does or its input, whichever is first.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time

PERIOD = 0.05
"""Seconds in which it takes its share once."""

COPIED = 4 << 20
"""Bytes: more than the second cache of a core holds, as other people's work is."""

LONGEST = 120.0
"""Seconds for which it lives at the most, whatever the schedule says."""


def main(cpu: int, schedule: list[tuple[float, float, float]]) -> None:
    """Take the CPU as the schedule says, in a process that is nobody's child."""
    if os.fork():
        os._exit(0)
    os.setsid()  # where the kernel shares the CPU among sessions first (autogroup), one of its own
    os.sched_setaffinity(0, {cpu})
    began = time.monotonic()
    for begin, end, share in schedule:
        if _ended(began + begin) or _takes(share, min(began + end, began + LONGEST)):
            return


def _takes(share: float, until: float) -> bool:
    """Take *share* of the CPU until then, and return whether the input has ended."""
    source, target = bytearray(COPIED), bytearray(COPIED)
    while (turn := time.monotonic()) < until:
        used = time.process_time() + share * PERIOD
        while time.process_time() < used and time.monotonic() < turn + PERIOD:
            target[:] = source
        if _ended(turn + PERIOD):
            return True
    return False


def _ended(until: float) -> bool:
    """Wait until then, and return whether the input has ended."""
    return bool(select.select([0], [], [], max(0.0, until - time.monotonic()))[0])


if __name__ == "__main__":
    main(int(sys.argv[1]), json.loads(sys.argv[2]))
