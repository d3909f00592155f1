"""
Moods of a machine: what else it does while a block is measured, as a function of seed and block.

quiet: nothing. drifting: a neighbour takes a share that grows over 24 blocks, and then leaves.
arriving: it is away for ten blocks of single trials and there for ten, as one that arrives while
the head is measured. bursts: it takes all that it gets, for one to four seconds at a time.
"""

from __future__ import annotations

import enum
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from studies.judges.blocks import singles

NEIGHBOUR = Path(__file__).with_name("neighbour.py")

GROWTH, MOST = 24, 0.45
"""Blocks in which the drifting load grows, and the share of the CPU at their end: below the half
from which on the lab's gate withholds a trial."""

AWAY = 10
"""Blocks of single trials before the neighbour arrives, and as many for which it stays: who takes
ten trials of the base and then ten of the head meets it with the head."""

STAYS = 0.4
"""Share that it takes then."""

BURST, PAUSE = (1.0, 4.0), 12.0
"""Seconds of a burst, and of the pause before it in the mean."""

LASTS = 60.0
"""Seconds of a schedule; a block is over before."""

Schedule = tuple[tuple[float, float, float], ...]
"""Begin and end in seconds from the block's beginning, and share of the CPU."""


class Mood(enum.StrEnum):
    """What else the machine does."""

    QUIET = "quiet"
    DRIFTING = "drifting"
    ARRIVING = "arriving"
    BURSTS = "bursts"


def schedule(mood: Mood, seed: int, block: int) -> Schedule:
    """Return what the neighbour does during a block; the same for the same seed and block."""
    if mood is Mood.DRIFTING:
        return ((0.0, LASTS, round(MOST * (block % GROWTH + 1) / GROWTH, 3)),)
    if mood is Mood.ARRIVING:
        return ((0.0, LASTS, STAYS),) if singles(block) // AWAY % 2 else ()
    if mood is Mood.BURSTS:
        return tuple(_bursts(random.Random(f"{seed}/{mood}/{block}")))
    return ()


def _bursts(chance: random.Random) -> Iterator[tuple[float, float, float]]:
    begin = chance.expovariate(1 / PAUSE)
    while begin < LASTS:
        end = begin + chance.uniform(*BURST)
        yield round(begin, 3), round(end, 3), 1.0
        begin = end + chance.expovariate(1 / PAUSE)


@contextmanager
def neighbour(planned: Schedule, cpu: int) -> Iterator[None]:
    """Let the neighbour run on *cpu* as planned; it is gone on exit, or soon after a SIGKILL."""
    if not planned:
        yield
        return
    command = (sys.executable, "-I", "-S", str(NEIGHBOUR), str(cpu), json.dumps(planned))
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        child.wait()  # what copies is no longer a child
        yield
    finally:
        child.communicate()  # closes its input, and reads until its output is closed
