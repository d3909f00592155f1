"""One load, divided among several processes of the engine."""

from __future__ import annotations

from dataclasses import replace

from lab.model.plan import Load


def shares(total: int, processes: int) -> list[int]:
    """
    Return *total* in whole parts that differ by 1 at the most, the larger ones first.

    >>> shares(64, 3)
    [22, 21, 21]
    """
    quotient, rest = divmod(total, processes)
    return [quotient + (number < rest) for number in range(processes)]


def divide_load(load: Load, processes: int) -> list[Load]:
    """
    Return the load of each process: connections and counted requests add up to those of *load*.

    An open loop's rate is the same for each. Their grids interlock by `phases`, so together they
    are the grid of one process.

    Args:
        load: What all of them make together.
        processes: As many as *load* has connections at the most.
    """
    requests = [None] * processes if load.requests is None else shares(load.requests, processes)
    rate = None if load.rate is None else load.rate / processes
    connections = shares(load.connections, processes)
    return [
        replace(load, connections=connection_count, requests=count, rate=rate)
        for connection_count, count in zip(connections, requests, strict=True)
    ]


def phases(processes: int) -> list[float | None]:
    """
    Return where each process's grid of an open loop lies, as a share of its period.

    None for a process alone, whose grid may begin at any instant.
    """
    return [None] if processes == 1 else [number / processes for number in range(processes)]
