"""
A number that several processes change and another one reads: requests in the code, or in flight.

A slot of shared memory for each process, by its number; a lock within the process.
"""

from __future__ import annotations

import mmap
import os
import struct
import threading
from pathlib import Path

SLOTS = 4096
_SLOT = struct.Struct("=q")


class Counter:
    """Counts in a file that is there; a process that was forked takes a slot of its own."""

    def __init__(self, path: Path) -> None:
        """Map the file, which has `SLOTS` slots."""
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), SLOTS * _SLOT.size)
        self._lock = threading.Lock()

    def add(self, number: int) -> None:
        """Add a number, which may be negative."""
        at = os.getpid() % SLOTS * _SLOT.size
        with self._lock:
            (before,) = _SLOT.unpack_from(self._map, at)
            _SLOT.pack_into(self._map, at, before + number)

    def total(self) -> int:
        """Return the sum over all processes."""
        return sum(number for (number,) in _SLOT.iter_unpack(self._map[:]))


def created(path: Path) -> Counter:
    """Return a counter in a new file."""
    path.write_bytes(bytes(SLOTS * _SLOT.size))
    return Counter(path)
