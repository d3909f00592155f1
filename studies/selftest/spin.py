"""
Use up one CPU until standard input ends.

Run as `python -I -S spin.py CPU`. It leaves its parent, so that the lab takes it for a stranger.
"""

from __future__ import annotations

import os
import select
import sys


def main(cpu: int) -> None:
    """Spin on *cpu* in a process that is nobody's child."""
    if os.fork():
        os._exit(0)
    os.setsid()  # where the kernel shares the CPU among sessions first (autogroup), one of its own
    os.sched_setaffinity(0, {cpu})
    while not select.select([0], [], [], 0)[0]:
        for _ in range(100_000):
            pass


if __name__ == "__main__":
    main(int(sys.argv[1]))
