"""From windows to counts: every request that was attempted is in exactly one of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from lab.bench.load.histogram import bucket
from lab.cli.stress.result import Counts, Series
from lab.model.measurement import Window

LATE = 0.5
"""Seconds after it was due from which a right reply is late. What makes clients wait does so for a
second or more: uWSGI's master looks once a second, and a dropped handshake is sent again after one.
A server that is well answers within milliseconds. Latencies are known to within 0.8 %."""

WRONG = frozenset({"status", "body", "malformed"})
"""Classes of errors that are replies; any other is the lack of one."""


@dataclass(frozen=True, slots=True)
class Burst:
    """Requests that were sent at once."""

    window: Window
    ended: float
    """Instant at which the last one had its outcome; seconds."""


def count(windows: Sequence[Window], stopped: float | None = None) -> Counts:
    """
    Return what became of the requests of consecutive windows, or of one.

    Args:
        windows: Without gaps; what one leaves unfinished is the next one's.
        stopped: Seconds from the first window's opening to when the server was told to stop;
            refused from the window on that holds it is not lost. None if it was not.
    """
    decided = sum(_decided(windows, stopped), Counts(0, 0, 0, 0))
    unfinished = windows[-1].unfinished if windows else 0
    return decided + Counts(unfinished, unfinished, 0, 0, errors={"unfinished": unfinished})


def count_burst(burst: Burst, stopped: float | None = None) -> Counts:
    """Return what became of the requests of one burst; see `count`."""
    # Who was refused out of it came after the stop: until then somebody listened.
    return count([burst.window], None if stopped is None else 0.0)


def series(
    windows: Sequence[Window], stopped: float | None = None, bursts: Sequence[Burst] = ()
) -> Series:
    """
    Return the windows as slices over time.

    Args:
        windows: See `count`.
        stopped: See `count`.
        bursts: Each is put into the slice in which it ended, counted from the first window's
            opening.
    """
    ends = _ends(windows)
    slices = _decided(windows, stopped)
    for burst in bursts:
        slices[min(bisect_left(ends, burst.ended), len(ends) - 1)] += count_burst(burst, stopped)
    return Series(
        at=tuple(round(end, 3) for end in ends),
        slowest=tuple(counts.longest for counts in slices),
        lost=tuple(counts.lost for counts in slices),
        wrong=tuple(counts.wrong for counts in slices),
        turned_away=tuple(counts.turned_away for counts in slices),
    )


def first(windows: Sequence[Window], seconds: float) -> Sequence[Window]:
    """Return the windows that had ended so many seconds after the first one opened."""
    return [window for window, end in zip(windows, _ends(windows), strict=True) if end <= seconds]


def _decided(windows: Sequence[Window], stopped: float | None) -> list[Counts]:
    """Return the requests of each window that had their outcome in it."""
    return [
        _count(window, after_stop=stopped is not None and end >= stopped)
        for window, end in zip(windows, _ends(windows), strict=True)
    ]


def _count(window: Window, *, after_stop: bool) -> Counts:
    failed = sum(window.errors.values())
    wrong = sum(number for name, number in window.errors.items() if name in WRONG)
    turned_away = window.errors.get("refused", 0) if after_stop else 0
    edge = bucket(int(LATE * 1e6))
    return Counts(
        attempted=window.ok + failed,
        lost=failed - wrong - turned_away,
        late=sum(number for us, number in window.latency.items() if us >= edge),
        wrong=wrong,
        turned_away=turned_away,
        retried=window.retried,
        longest=max(window.latency) / 1e6 if window.latency else None,
        errors=window.errors,
        delayed=window.late,
    )


def _ends(windows: Sequence[Window]) -> tuple[float, ...]:
    """Return the seconds from the first window's opening to each one's end."""
    return tuple(accumulate(window.wall for window in windows))
