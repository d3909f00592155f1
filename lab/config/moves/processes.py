"""The number of worker processes."""

from __future__ import annotations

from lab.config import servers
from lab.config.moves.move import MOST_WORKERS, Move, told
from lab.model.plan import Arm


def second(arm: Arm) -> Move | None:
    """Add a second worker process."""
    return _exactly(arm, 2)


def instead_of_threads(arm: Arm) -> Move | None:
    """Replace each thread by a process."""
    read = servers.settings(arm.profile)
    if read.processes is None or read.at_once is None or read.at_once < 2:
        return None
    wanted = min(read.processes * read.at_once, MOST_WORKERS)
    steps = told(arm, {"workers": wanted, "threads": 1})
    return Move(f"{wanted}-processes", f"threads = 1 and processes = {wanted}", steps)


def doubled(arm: Arm) -> Move | None:
    """Double the workers."""
    processes = servers.settings(arm.profile).processes
    if processes is None or 2 * processes > MOST_WORKERS:
        return None
    return _exactly(arm, 2 * processes)


def halved(arm: Arm) -> Move | None:
    """Halve the workers."""
    processes = servers.settings(arm.profile).processes
    if processes is None or processes < 2:
        return None
    return _exactly(arm, processes // 2)


def _exactly(arm: Arm, wanted: int) -> Move:
    text = f"processes = {wanted}"
    return Move(f"{wanted}-processes", text, told(arm, {"workers": wanted}))
