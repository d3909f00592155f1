"""From windows to counts: every request that was attempted is in exactly one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate

from lab.generators.histogram import bucket
from lab.model import Window
from lab.stress.result import Counts, Series

LATE = 1.0
"""Seconds after it was due from which a right reply is late: a person notices, a caller's first
timeout has run out. Latencies are known to within 0.8 %."""

WRONG = frozenset({"status", "body", "malformed"})
"""Classes of errors that are replies; any other is the lack of one."""


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


def series(windows: Sequence[Window], stopped: float | None = None) -> Series:
    """Return the windows as slices over time; see `count`."""
    turned_away = _turned_away(windows, stopped)
    return Series(
        at=tuple(round(end, 3) for end in _ends(windows)),
        slowest=tuple(max(each.latency) / 1e6 if each.latency else None for each in windows),
        lost=tuple(
            sum(each.errors.values()) - _wrong(each.errors) - away
            for each, away in zip(windows, turned_away, strict=True)
        ),
        wrong=tuple(_wrong(each.errors) for each in windows),
        turned_away=turned_away,
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
