"""What one engine counts while its window is open."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter

from lab.model.measurement import Answers, Window

_SCHEDSTAT = Path("/proc/thread-self/schedstat")

_Reading = tuple[float, float, float]
"""Instant by `perf_counter`, and the thread's seconds on a CPU and waiting for one."""


def read_thread_times() -> tuple[float, float]:
    """
    Return seconds that the calling thread ran, and that it waited for a CPU while ready to run.

    The second is what its CPU share hides: on a shared machine a generator at its limit may show a
    share of 0.4, and 0.99 together with its waiting.

    Source: Linux, Documentation/scheduler/sched-stats.rst.
    """
    on_cpu, waited = _SCHEDSTAT.read_text().split()[:2]
    return int(on_cpu) / 1e9, int(waited) / 1e9


def _read_clocks() -> _Reading:
    return (perf_counter(), *read_thread_times())


class Recorder:
    """
    Counts of one window at a time; written by the engine, and turned into a `Window`.

    It is open from the start, so that there is always something to count into.

    Args:
        names: What several requests are called, by their bytes; empty where there is one.
    """

    __slots__ = (
        "_closed",
        "_end",
        "_latency_sum",
        "_names",
        "_opened",
        "_received",
        "abandoned",
        "carried",
        "connections",
        "errors",
        "errors_of",
        "late",
        "latency",
        "latency_of",
        "ok",
        "partial",
        "planned",
        "retried",
        "sample",
        "service",
    )

    latency: dict[int, int]
    """The same object for good: the engine holds it."""

    service: dict[int, int]
    """Likewise; empty but in an open loop."""

    def __init__(self, names: Mapping[bytes, str] | None = None) -> None:
        self._names = names or {}
        self.latency = {}
        self.service = {}
        self.latency_of: dict[bytes, dict[int, int]] = {name: {} for name in self._names}
        """As *latency*, of each of several requests."""
        self.errors_of: dict[bytes, dict[str, int]] = {name: {} for name in self._names}
        self.restart(carried=0)

    def restart(self, carried: int, continued: bool = False) -> None:
        """
        Open a window with nothing counted.

        Args:
            carried: Requests under way or queued now.
            continued: It opens at the instant at which the last one was closed, not now.
        """
        self.carried = carried
        self.abandoned = 0
        """Requests whose connection was closed by a pause."""
        self.ok = 0
        self.errors: dict[str, int] = {}
        self.retried = 0
        self.connections = 0
        self.planned = 0
        self.late = 0
        self.partial = 0
        self.sample = ""
        self.latency.clear()
        self.service.clear()
        for name in self._names:
            self.latency_of[name].clear()
            self.errors_of[name].clear()
        self._received = 0
        self._latency_sum = 0.0
        self._opened = self._closed if continued else _read_clocks()
        self._end: _Reading | None = None

    @property
    def opened(self) -> float:
        """Instant at which the window opened, by `time.perf_counter`."""
        return self._opened[0]

    def add(self, ok: int, received: int, latency_sum: float) -> None:
        """Add a batch: correct replies, bytes, and the sum of their latencies in seconds."""
        self.ok += ok
        self._received += received
        self._latency_sum += latency_sum

    def fail(self, failure: str, seen: str = "", request: bytes = b"") -> None:
        """
        Count an error.

        Args:
            failure: Its class.
            seen: The wrong reply; the first one is kept.
            request: What was sent; nothing where it had not come to that.
        """
        self.errors[failure] = self.errors.get(failure, 0) + 1
        if (request_errors := self.errors_of.get(request)) is not None:
            request_errors[failure] = request_errors.get(failure, 0) + 1
        if seen and not self.sample:
            name = self._names.get(request)
            self.sample = f"{failure}: {name}: {seen}" if name else f"{failure}: {seen}"

    def end(self) -> None:
        """Fix the end of the window at the first call: a counted load has its last outcome."""
        if self._end is None:
            self._end = _read_clocks()

    def close(self, unfinished: int, replies: tuple[int, ...], queued: int = 0) -> Window:
        """
        Return the window, which ends now unless it has ended.

        Args:
            unfinished: Requests under way or queued now.
            replies: Correct replies of each slot.
            queued: Those of the unfinished requests that were not sent yet.
        """
        self._closed = self._end or _read_clocks()
        wall, cpu, wait = (b - a for a, b in zip(self._opened, self._closed, strict=True))
        return Window(
            process=os.getpid(),
            wall=wall,
            ok=self.ok,
            errors=dict(self.errors),
            unfinished=unfinished + self.abandoned,
            retried=self.retried,
            connections=self.connections,
            replies=replies,
            received=self._received,
            latency=dict(self.latency),
            latency_sum=self._latency_sum,
            cpu=cpu,
            wait=wait,
            planned=self.planned,
            late=self.late,
            queued=queued,
            service=dict(self.service),
            partial=self.partial,
            sample=self.sample,
            requests=tuple(
                Answers(dict(latency), dict(errors))
                for latency, errors in zip(
                    self.latency_of.values(), self.errors_of.values(), strict=True
                )
            ),
        )
