"""
Locust's statistics, made to tell the truth about one profile each.

Locust divides an entry's requests by the length of the whole run, and rounds times below 100 ms to
whole milliseconds: a server that answers in 0.25 ms has a median of 0, shown as its minimum. Here
a row is filled from the windows of its trials, its rate is over its own measured time, and its
times keep two decimals.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from locust import stats as locust_stats
from locust.stats import PERCENTILES_TO_REPORT, RequestStats, StatsEntry, StatsError

from lab.model import Window


class ProfileEntry(StatsEntry):
    """A row of Locust's table whose rate is requests over its own measured seconds."""

    # Locust declares times as whole milliseconds; fractions of them are the point of this class.
    total_response_time: Any
    response_times: Any

    def __init__(self, stats: RequestStats, name: str, method: str) -> None:
        self.active = 0.0
        """Seconds, summed over windows; parallel windows of one trial count once."""
        super().__init__(stats, name, method, use_response_times_cache=True)

    def reset(self) -> None:
        """Begin at nothing, as the web UI's button wants it."""
        super().reset()
        self.active = 0.0

    @property
    def total_rps(self) -> float:
        """Requests per second of measured time."""
        return self.num_requests / self.active if self.active else 0.0

    @property
    def total_fail_per_sec(self) -> float:
        """Failures per second of measured time."""
        return self.num_failures / self.active if self.active else 0.0

    def to_string(self, current: bool = True) -> str:
        """Return the row of Locust's console table, with times in hundredths of milliseconds."""
        rate, failures = (
            (self.current_rps, self.current_fail_per_sec)
            if current
            else (self.total_rps, self.total_fail_per_sec)
        )
        share = f"{self.num_failures}({self.fail_ratio:.2%})"
        name = f"{self.method or '':<8} {self.name:<{_name_width() - 4}}"
        return (
            f"{name} {self.num_requests:>7} {share:>12} |"
            f"{self.avg_response_time:>7.2f} {self.min_response_time or 0:>7.2f} "
            f"{self.max_response_time:>7.2f}{self.median_response_time:>7.2f} | "
            f"{rate:>7.2f} {failures:>11.2f}"
        )

    def percentile(self) -> str:
        """Return the row of Locust's percentile table, with times in hundredths of milliseconds."""
        first, *rest = (self.get_response_time_percentile(each) for each in PERCENTILES_TO_REPORT)
        times = f"{first:>8.2f} " + " ".join(f"{each:>6.2f}" for each in rest)
        name = f"{self.method or '':<8} {self.name:<{_name_width()}}"
        return f"{name} {times} {self.num_requests:>6}"

    def add(self, windows: Iterable[Window]) -> None:
        """Add the windows of one trial, taken side by side."""
        windows = list(windows)
        if not windows:
            return
        now = time.time()
        self.active += max(window.wall for window in windows)
        self.last_request_timestamp = now
        for window in windows:
            failed = sum(window.errors.values())
            self.num_requests += window.ok + failed
            self.num_failures += failed
            self.num_none_requests += failed  # a failure has no time that means anything
            self.total_response_time += window.latency_sum * 1e3
            self.total_content_length += window.received
            for low, count in window.latency.items():
                self.response_times[low / 1e3] += count
            _spread(self.num_reqs_per_sec, window.ok + failed, window.wall, now)
            _spread(self.num_fail_per_sec, failed, window.wall, now)
        if self.response_times:
            self.min_response_time = min(self.response_times)
            self.max_response_time = max(self.response_times)
        self._cache_response_times(int(now))


def entry(stats: RequestStats, name: str) -> ProfileEntry:
    """Return the row of *name*, made when it is new; the total row is made truthful on the way."""
    if not isinstance(stats.total, ProfileEntry):
        stats.total = ProfileEntry(stats, "Aggregated", "")
    key = (name, "GET")
    row = stats.entries.get(key)
    if not isinstance(row, ProfileEntry):
        row = stats.entries[key] = ProfileEntry(stats, name, "GET")
    return row


def record(stats: RequestStats, name: str, windows: Iterable[Window]) -> None:
    """Add one trial's windows to the row *name*, to the total, and to the table of failures."""
    windows = list(windows)
    entry(stats, name).add(windows)
    total: Any = stats.total
    total.add(windows)
    for window in windows:
        for kind, count in window.errors.items():
            error = f"{kind}: see the run's report"
            key = StatsError.create_key("GET", name, error)
            found = stats.errors.setdefault(key, StatsError("GET", name, error))
            found.occurrences += count


def _name_width() -> int:
    """Return the width that Locust gives to names on a console of the present size."""
    width: int = locust_stats.STATS_NAME_WIDTH
    return width


def _spread(per_second: Any, count: int, wall: float, now: float) -> None:
    """Spread *count* over the seconds of a window that has just closed."""
    seconds = max(1, round(wall))
    for second in range(seconds):
        share = count // seconds + (second < count % seconds)
        if share:
            per_second[int(now) - seconds + second] += share
