"""
One trial out of several turns: its windows and readings as if they had been taken at a stretch.

Between two turns of a server the others of its block have theirs, so what the machine does for
seconds or minutes happens to all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lab.model.measurement import Answers, Window

LAST = frozenset(
    {
        "listener.public.limit",
        "machine.cores",
        "server.busiest_threads",
        "server.log_pipe",
        "server.processes",
        "server.pss",
        "tcp.ports",
        "tcp.time_wait",
        "workers.number",
    }
)
"""Readings of which the last turn's is the trial's."""

MEANS = frozenset(
    {
        "backend.busiest",
        "listener.public.queue",
        "machine.busy",
        "machine.foreign_cpu",
        "machine.idle",
        "machine.steal",
        "requests.in_flight",
        "requests.queued",
        "requests.read",
        "requests.unread",
        "server.busiest",
        "server.idle",
        "server.router",
        "upstream.busiest",
        "workers.elsewhere",
        "workers.most",
    }
)
"""Readings that hold on average, as `pressure.*` do."""

LARGEST = frozenset({"workers.waiting_threads"})
"""Readings of which the largest is the trial's. All others are sums."""

SUMS = (
    *("wall", "ok", "retried", "connections", "received", "latency_sum", "cpu", "wait"),
    *("planned", "late", "partial"),
)
"""Numbers of a window that add up; unfinished and queued are the last one's."""

COUNTS = ("errors", "latency", "service", "tcp")
"""Mappings of a window that add up."""


def joined_windows(turns: Sequence[Sequence[Window]]) -> tuple[Window, ...]:
    """
    Return one window for each generator process.

    Args:
        turns: The windows of each turn, in the order of the processes.
    """
    return tuple(_joined(windows) for windows in zip(*turns, strict=True))


def joined_readings(turns: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the readings of a trial; a mean is over the turns that have it."""
    readings: dict[str, float] = {}
    for name in dict.fromkeys(name for turn in turns for name in turn):
        values = [(turn[name], turn.get("elapsed", 1.0)) for turn in turns if name in turn]
        if name in LAST:
            readings[name] = values[-1][0]
        elif name in MEANS or name.startswith("pressure."):
            seconds = sum(elapsed for _, elapsed in values)
            readings[name] = sum(value * elapsed for value, elapsed in values) / seconds
        elif name in LARGEST:
            readings[name] = max(value for value, _ in values)
        else:
            readings[name] = sum(value for value, _ in values)
    return readings


def _joined(windows: Sequence[Window]) -> Window:
    """Return the sum of one process's windows."""
    sums: dict[str, Any] = {name: sum(getattr(window, name) for window in windows) for name in SUMS}
    sums |= {name: _total(getattr(window, name) for window in windows) for name in COUNTS}
    rtts = [window.rtt for window in windows if window.rtt is not None]
    return replace(
        windows[-1],
        **sums,
        replies=tuple(map(sum, zip(*(window.replies for window in windows), strict=True))),
        sample=next((window.sample for window in windows if window.sample), ""),
        requests=tuple(
            Answers(
                _total(answers.latency for answers in one),
                _total(answers.errors for answers in one),
            )
            for one in zip(*(window.requests for window in windows), strict=True)
        ),
        rtt=min(rtts, default=None),
        skew=max(window.skew for window in windows),
    )


def _total(counts: Iterable[Mapping[Any, float]]) -> dict[Any, Any]:
    """Return the sum of mappings of numbers."""
    total: Counter[Any] = Counter()
    for count in counts:
        total.update(count)
    return dict(total)
