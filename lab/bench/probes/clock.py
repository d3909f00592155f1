"""
Whether the wall clock was stepped while a window was open.

The lab's own durations come from monotonic clocks, but the server's may not: a step of the wall
clock makes uWSGI's harakiri kill requests that have just begun, and recycle every worker at once.
Slewing, as NTP does it, moves both clocks alike and is none; a machine that was suspended is one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial

from lab.model.protocols import Stop, Subject

CLOSE = 0.001
"""Seconds between the readings of the two clocks that are close enough to be called one moment."""

ATTEMPTS = 20
"""A busy machine may take the CPU away between the two; not so often in a row."""

USABLE = 0.02
"""Seconds between them up to which the best of all attempts is used: with two such readings the
step may be wrong by that much, which is well below the gate's limit."""


class ClockProbe:
    """The wall clock's lead over the monotonic one."""

    def start(self, _subject: Subject) -> Stop:
        """
        Read the lead; `stop` returns `machine.clock_step`.

        That is the seconds by which the lead grew, negative for a step back. It is absent where the
        clocks could not be read at one moment, before or after.
        """
        return partial(_readings, _read_offset())


def _readings(before: float | None) -> Mapping[str, float]:
    after = _read_offset()
    if before is None or after is None:
        return {}
    return {"machine.clock_step": after - before}


def _read_offset() -> float | None:
    """Return by how many seconds the wall clock leads; None if never read at one moment."""
    best, seconds = float("inf"), 0.0
    for _ in range(ATTEMPTS):
        before, wall, after = time.monotonic(), time.time(), time.monotonic()
        if after - before < best:
            best, seconds = after - before, wall - (before + after) / 2
        if best <= CLOSE:
            break
    return seconds if best <= USABLE else None
