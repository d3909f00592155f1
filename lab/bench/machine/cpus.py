"""CPUs: dealt out to processes, and written as a list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise


def deal(cpus: Sequence[int] | None, processes: int) -> list[tuple[int, ...] | None]:
    """
    Deal *cpus* out: return the CPUs of each process. Neighbours in *cpus* stay together.

    With fewer CPUs than processes, each process may use all of *cpus*. None means every CPU of the
    machine.

    >>> deal((2, 6, 3, 7), 2), deal((2, 3, 4), 2)
    ([(2, 6), (3, 7)], [(2,), (3, 4)])
    """
    if cpus is None or len(cpus) < processes:
        return [None if cpus is None else tuple(cpus)] * processes
    ends = [len(cpus) * number // processes for number in range(processes + 1)]
    return [tuple(cpus[a:b]) for a, b in pairwise(ends)]


def cpu_list(cpus: Iterable[int]) -> str:
    """
    Return a set of CPUs in the notation of the kernel; `parse_cpu_list` reads it.

    >>> cpu_list([7, 0, 1, 2])
    '0-2,7'
    """
    spans: list[list[int]] = []
    for cpu in sorted(cpus):
        if spans and cpu == spans[-1][1] + 1:
            spans[-1][1] = cpu
        else:
            spans.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
