"""From windows to counts: every request that was attempted is in exactly one of them."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from lab.generators.histogram import bucket
from lab.model import Window
from lab.stress.result import Counts, Series

LATE = 0.5
"""Seconds after it was due from which a right reply is late. What makes clients wait does so for a
second or more: uWSGI's master looks once a second, and a dropped handshake is sent again after one.
Half of it is far from that and from any answer of a server that is well. Latencies are known to
within 0.8 %."""

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
    errors: Counter[str] = Counter()
    latency: Counter[int] = Counter()
    for window in windows:
        errors.update(window.errors)
        latency.update(window.latency)
    turned_away = sum(_turned_away(windows, stopped))
    unfinished = windows[-1].unfinished if windows else 0
    wrong = _wrong(errors)
    edge = bucket(int(LATE * 1e6))
    return Counts(
        attempted=sum(window.ok for window in windows) + errors.total() + unfinished,
        lost=errors.total() - wrong + unfinished - turned_away,
        late=sum(number for us, number in latency.items() if us >= edge),
        wrong=wrong,
        turned_away=turned_away,
        retried=sum(window.retried for window in windows),
        longest=max(latency) / 1e6 if latency else None,
        errors=dict(errors) | ({"unfinished": unfinished} if unfinished else {}),
        delayed=sum(window.late for window in windows),
    )


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
    turned_away = list(_turned_away(windows, stopped))
    wrong = [_wrong(each.errors) for each in windows]
    lost = [
        sum(each.errors.values()) - bad - away
        for each, bad, away in zip(windows, wrong, turned_away, strict=True)
    ]
    slowest = [max(each.latency) / 1e6 if each.latency else None for each in windows]
    for burst in bursts:
        counts = count_burst(burst, stopped)
        place = min(bisect_left(ends, burst.ended), len(ends) - 1)
        lost[place] += counts.lost
        wrong[place] += counts.wrong
        turned_away[place] += counts.turned_away
        waits = [wait for wait in (slowest[place], counts.longest) if wait is not None]
        slowest[place] = max(waits, default=None)
    return Series(
        at=tuple(round(end, 3) for end in ends),
        slowest=tuple(slowest),
        lost=tuple(lost),
        wrong=tuple(wrong),
        turned_away=tuple(turned_away),
    )


def first(windows: Sequence[Window], seconds: float) -> Sequence[Window]:
    """Return the windows that had ended so many seconds after the first one opened."""
    return [each for each, end in zip(windows, _ends(windows), strict=True) if end <= seconds]


def _wrong(errors: Mapping[str, int]) -> int:
    return sum(number for name, number in errors.items() if name in WRONG)


def _turned_away(windows: Sequence[Window], stopped: float | None) -> tuple[int, ...]:
    return tuple(
        window.errors.get("refused", 0) if stopped is not None and end >= stopped else 0
        for window, end in zip(windows, _ends(windows), strict=True)
    )


def _ends(windows: Sequence[Window]) -> tuple[float, ...]:
    """Return the seconds from the first window's opening to each one's end."""
    return tuple(accumulate(window.wall for window in windows))
