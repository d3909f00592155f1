"""
How requests ended, and how long each took: a counter for each status class and duration.

A request adds 1 to one of them, in memory that all workers share. So whichever worker answers
`/metrics` answers for all. Each worker has counters of its own, and waits for no other worker. A
worker that is started again goes on with those of the one before.

Threads of one worker share its counters. CPython up to 3.13 gives no other thread a turn within
`own[number] += 1`, because that neither calls a function nor jumps back; so none is lost.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, NamedTuple

CLASSES = ("2xx", "3xx", "4xx", "5xx")

FIRST_BOUND = 25_000
"""Nanoseconds. Each further bound is twice the one before: a number's length in bits finds it."""

BOUNDS = tuple(FIRST_BOUND * 2**power / 1e9 for power in range(21))
"""Seconds; the last is 26. `harakiri` ends what takes 30, and that is not counted here."""

SIZE = 64
"""Counters of a class. A duration of 63 bits has fewer bits than that, so none is cut off."""

_WORKER = SIZE * len(CLASSES)


def place(status: int) -> int:
    """Return the place of a status in `CLASSES`; one of no class has the nearest place."""
    return min(max(status // 100 - 2, 0), len(CLASSES) - 1)


class Ended(NamedTuple):
    """The requests that ended with one class of status."""

    status: str
    buckets: tuple[int, ...]
    """How many took no longer than each of `BOUNDS`; at the end, how many there were."""


class Durations:
    """
    The counters of all workers; made before the workers are forked, which share them.

    Args:
        uwsgi: The module that uWSGI lends to its applications. None elsewhere: there the same is
            counted and nobody can read it, so that servers are compared with one application.
    """

    def __init__(self, uwsgi: Any) -> None:
        self._uwsgi = uwsgi
        workers = 1 if uwsgi is None else uwsgi.numproc
        self._all = memoryview(mmap.mmap(-1, workers * _WORKER * 8)).cast("Q")

    def own(self) -> memoryview:
        """
        Return the counters of this worker.

        A request with a status of class 4xx, which is place 2 in `CLASSES`, and of n nanoseconds
        belongs to counter `2 * SIZE + (n // FIRST_BOUND).bit_length()`.
        """
        # The first is 1.
        worker = 0 if self._uwsgi is None else max(self._uwsgi.worker_id() - 1, 0)
        return self._all[worker * _WORKER : (worker + 1) * _WORKER]

    def read(self) -> Iterator[Ended]:
        """Yield what was counted so far by all workers, class by class."""
        for place, status in enumerate(CLASSES):
            counters = [
                sum(self._all[place * SIZE + bits :: _WORKER].tolist()) for bits in range(SIZE)
            ]
            totals = list(accumulate(counters))
            yield Ended(status, (*totals[: len(BOUNDS)], totals[-1]))
