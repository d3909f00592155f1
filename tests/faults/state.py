"""What a running stack takes of the machine: memory and descriptors."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

WARM_UP = 50_000
"""Requests. The first 10,000 give four workers pages of their own, 34 MB in all. Each grows by 1 MB
once more, between its 8,000th and its 10,500th request; then there is 0.1 MB in 10,000 requests."""

GROWTH = 2_000_000
"""Bytes that a stack may grow by, after its warm-up."""

PAUSE = 0.3
"""Seconds between two looks that find a stack at rest."""

SETTLE = 10.0
"""Seconds for it to close what its clients have left."""


@dataclass
class State:
    """What the stack takes, at rest."""

    pss: int
    """Bytes of all its processes."""
    own: int
    """The anonymous and the shared part of them: all but pages of files."""
    descriptors: dict[str, int]
    """Process, by name and id -> open descriptors."""


def read_state(server: int) -> State:
    """Read what all processes below the guard take now, oldest first."""
    members = psutil.Process(server).children(recursive=True)
    members.sort(key=lambda process: process.pid)
    rollups = [Path(f"/proc/{process.pid}/smaps_rollup").read_text() for process in members]
    sizes = [dict(_sizes(text)) for text in rollups]
    return State(
        pss=sum(process_sizes["Pss"] for process_sizes in sizes),
        own=sum(process_sizes["Pss_Anon"] + process_sizes["Pss_Shmem"] for process_sizes in sizes),
        descriptors={f"{process.name()} {process.pid}": process.num_fds() for process in members},
    )


def settled(server: int) -> State:
    """Return the state as soon as two looks find the same descriptors, or after some seconds."""
    deadline = time.monotonic() + SETTLE
    state = read_state(server)
    while time.monotonic() < deadline:
        time.sleep(PAUSE)
        before, state = state, read_state(server)
        if state.descriptors == before.descriptors:
            break
    return state


def _sizes(rollup: str) -> Iterator[tuple[str, int]]:
    for line in rollup.splitlines():
        name, _, value = line.partition(":")
        if value.endswith(" kB"):
            yield name, int(value.split()[0]) * 1024
