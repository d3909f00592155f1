"""
Locust's statistics, made to tell the truth about one profile each.

Locust divides an entry's requests by the length of the whole run, and rounds times below 100 ms to
whole milliseconds: a server that answers in 0.25 ms has a median of 0, shown as its minimum. Here
a row is filled from the windows of its trials, its rate is over its own measured time, and its
times keep two decimals.

What Locust calls current, in its charts, its history and its columns, is an average over the last
ten seconds or so, pauses between trials included. Here it is the latest trial, whole.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

from locust import stats as locust_stats
from locust.runners import Runner
from locust.stats import (
    PERCENTILES_TO_REPORT,
    RequestStats,
    StatsCSV,
    StatsEntry,
    StatsError,
    calculate_response_time_percentile,
    update_stats_history,
)

from lab.model import Window

DECIMALS = 2
"""Of a time in milliseconds. The histograms behind it are good to 1 %."""


class ProfileEntry(StatsEntry):
    """A row of Locust's table whose rate is requests over its own measured seconds."""

    # Locust declares times as whole milliseconds; fractions of them are the point of this class.
    total_response_time: Any
    response_times: Any

    def __init__(self, stats: RequestStats, name: str, method: str) -> None:
        self.active = 0.0
        """Seconds, summed over windows; parallel windows of one trial count once."""
        self._latest = _Trial(())
        # Without the cache Locust adds no points to its charts, where `record` does.
        super().__init__(stats, name, method, use_response_times_cache=False)

    def reset(self) -> None:
        """Begin at nothing, as the web UI's button wants it."""
        super().reset()
        self.active = 0.0
        self._latest = _Trial(())

    @property
    def total_rps(self) -> float:
        """Requests per second of measured time."""
        return self.num_requests / self.active if self.active else 0.0

    @property
    def total_fail_per_sec(self) -> float:
        """Failures per second of measured time."""
        return self.num_failures / self.active if self.active else 0.0

    @property
    def current_rps(self) -> float:
        """Requests per second of the latest trial."""
        return self._latest.per_second(self._latest.ok + self._latest.failed)

    @property
    def current_fail_per_sec(self) -> float:
        """Failures per second of the latest trial."""
        return self._latest.per_second(self._latest.failed)

    def get_response_time_percentile(self, percent: float) -> Any:
        """Return a percentile of all trials in milliseconds; 0 without a correct reply."""
        return round(super().get_response_time_percentile(percent), DECIMALS)

    def get_current_response_time_percentile(self, percent: float) -> Any:
        """Return a percentile of the latest trial in milliseconds; None without a correct reply."""
        times: Any = self._latest.times
        if not times:
            return None
        found = calculate_response_time_percentile(times, self._latest.ok, percent)
        return round(found, DECIMALS)

    def to_dict(self, escape_string_values: bool = False) -> dict[str, Any]:
        """Return the row of the web UI and of the HTML report."""
        row: dict[str, Any] = super().to_dict(escape_string_values)
        extremes = {
            "min_response_time": round(self.min_response_time or 0, DECIMALS),
            "max_response_time": round(self.max_response_time, DECIMALS),
        }
        return row | extremes

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
        windows = tuple(windows)
        if not windows:
            return
        trial = self._latest = _Trial(windows)
        now = time.time()
        self.last_request_timestamp = now
        self.active += trial.wall
        self.num_requests += trial.ok + trial.failed
        self.num_failures += trial.failed
        self.num_none_requests += trial.failed  # a failure has no time that means anything
        self.total_response_time += sum(window.latency_sum for window in windows) * 1e3
        self.total_content_length += sum(window.received for window in windows)
        for milliseconds, count in trial.times.items():
            self.response_times[milliseconds] += count
        _spread(self.num_reqs_per_sec, trial.ok + trial.failed, trial.wall, now)
        _spread(self.num_fail_per_sec, trial.failed, trial.wall, now)
        if self.response_times:
            self.min_response_time = min(self.response_times)
            self.max_response_time = max(self.response_times)


class _Trial:
    """The windows of one trial, added up."""

    def __init__(self, windows: tuple[Window, ...]) -> None:
        self.wall = max((window.wall for window in windows), default=0.0)
        self.ok = sum(window.ok for window in windows)
        self.failed = sum(sum(window.errors.values()) for window in windows)
        self.times: Counter[float] = Counter()
        """Correct replies by milliseconds."""
        for window in windows:
            for low, count in window.latency.items():
                self.times[low / 1e3] += count

    def per_second(self, requests: int) -> float:
        return requests / self.wall if self.wall else 0.0


def entry(stats: RequestStats, name: str) -> ProfileEntry:
    """Return the row of *name*, made when it is new; the total row is made truthful on the way."""
    if not isinstance(stats.total, ProfileEntry):
        stats.total = ProfileEntry(stats, "Aggregated", "")
    key = (name, "GET")
    row = stats.entries.get(key)
    if not isinstance(row, ProfileEntry):
        row = stats.entries[key] = ProfileEntry(stats, name, "GET")
    return row


def record(runner: Runner, name: str, windows: Iterable[Window]) -> None:
    """
    Add one trial's windows to the row *name*, to the total, and to the table of failures.

    The charts of Locust's report get a point of the trial's own.
    """
    stats, windows = runner.stats, tuple(windows)
    entry(stats, name).add(windows)
    total: Any = stats.total
    total.add(windows)
    for window in windows:
        for kind, count in window.errors.items():
            error = f"{kind}: see the run's report"
            key = StatsError.create_key("GET", name, error)
            found = stats.errors.setdefault(key, StatsError("GET", name, error))
            found.occurrences += count
    if windows:
        update_stats_history(runner)


def keep_decimals() -> None:
    """Let Locust's CSV files keep the decimals of a percentile; it cuts them off (2.47)."""

    def fields(writer: StatsCSV, row: StatsEntry, use_current: bool = False) -> list[Any]:
        if not row.num_requests:
            return list(writer.percentiles_na)
        if use_current:
            wanted = writer.percentiles_to_report
            return [row.get_current_response_time_percentile(each) for each in wanted]
        return [row.get_response_time_percentile(each) for each in writer.percentiles_to_report]

    StatsCSV._percentile_fields = fields  # type: ignore[assignment]  # noqa: SLF001 - no other way


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
