"""
Whether the wall clock was stepped while a window was open.

The lab's own durations come from monotonic clocks, but the server's may not: a step of the wall
clock makes uWSGI's harakiri kill requests that have just begun, and recycle every worker at once.
Slewing, as NTP does it, moves both clocks alike and is none; a machine that was suspended is one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from lab.model import Subject

CLOSE = 0.001
"""Seconds between the readings of the two clocks that are close enough to be called one moment."""

ATTEMPTS = 20
"""A busy machine may take the CPU away between the two; not so often in a row."""

USABLE = 0.02
"""Seconds between them up to which the best of all attempts is used: with two such readings the
step may be wrong by that much, which is well below the gate's limit."""


@dataclass(frozen=True, slots=True)
class _Offset:
    seconds: float | None


class ClockProbe:
    """The wall clock's lead over the monotonic one."""

    def start(self, _subject: Subject) -> object:
        """Return the lead before."""
        return _read_offset()

    def stop(self, _subject: Subject, before: object) -> Mapping[str, float]:
        """
        Return `machine.clock_step`: seconds by which the lead grew, negative for a step back.

        Nothing where the clocks could not be read at one moment, before or now.
        """
        if not isinstance(before, _Offset):
            raise TypeError(f"not what start() returned: {before!r}")
        after = _read_offset()
        if before.seconds is None or after.seconds is None:
            return {}
        return {"machine.clock_step": after.seconds - before.seconds}


def _read_offset() -> _Offset:
    best, seconds = float("inf"), 0.0
    for _ in range(ATTEMPTS):
        before, wall, after = time.monotonic(), time.time(), time.monotonic()
        if after - before < best:
            best, seconds = after - before, wall - (before + after) / 2
        if best <= CLOSE:
            break
    return _Offset(seconds if best <= USABLE else None)
