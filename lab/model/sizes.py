"""How much is measured: blocks, windows, minutes, and the load where none is named."""

from __future__ import annotations

from dataclasses import dataclass

from lab.model.plan import Load

SUSTAINED = Load()
"""64 connections that never pause: well under every accept queue, enough to keep 8 workers busy."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Blocks and windows of a run. Why windows last 3 s: `studies/windows.py`."""

    blocks: int
    window: float
    """Seconds."""
    warmup: float = 0.7
    """Seconds."""


DEFAULT = Sizes(blocks=10, window=3.0)
QUICK = Sizes(blocks=9, window=1.5, warmup=0.5)
"""Three profiles in three minutes on a slowed server, which takes 4.7 s a trial; else in two."""

SLOWED_CONNECTIONS = 96
"""Instead of 64, where the lab itself decides to slow the server down: the windows, in which half
of the connections are served, are longer then. Still below an accept queue of 100."""

MINUTES = 15.0
"""Minutes that the whole ladder takes, where nothing else is named."""

MOST_MINUTES = 24 * 60.0
"""A day."""

MOST_BLOCKS = 1000
MOST_CONNECTIONS = 10_000
