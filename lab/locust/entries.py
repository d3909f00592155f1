"""
Locust's statistics, made to tell the truth about one profile each.

Locust divides an entry's requests by the length of the whole run, and calls current an average over
ten seconds, pauses between trials included. Here a row is filled from the windows of its trials:
its rates are over its own measured time, its percentiles keep hundredths of a millisecond, and
current is the latest trial, whole. Locust's other columns are left as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import time
from typing import Any

from locust import stats as locust_stats
from locust.runners import Runner
from locust.stats import PERCENTILES_TO_REPORT, RequestStats, StatsCSV, StatsEntry, StatsError

from lab.model.measurement import Window


class ProfileEntry(StatsEntry):
    """A row of Locust's tables whose rates and percentiles are those of its trials."""

    response_times: Any  # Locust declares whole milliseconds
    total_response_time: Any
    latest: ProfileEntry | None
    """A row of the latest trial alone; None before it."""

    def __init__(self, stats: RequestStats, name: str, method: str) -> None:
        # Without the cache Locust adds no points to its charts, where `record` does.
        super().__init__(stats, name, method, use_response_times_cache=False)

    def reset(self) -> None:
        """Begin at nothing, as the web UI's button wants it."""
        super().reset()
        self.active, self.latest = 0.0, None

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
        return self.latest.total_rps if self.latest else 0.0

    @property
    def current_fail_per_sec(self) -> float:
        """Failures per second of the latest trial."""
        return self.latest.total_fail_per_sec if self.latest else 0.0

    def get_response_time_percentile(self, percent: float) -> Any:
        """Return a percentile of all trials in milliseconds; 0 without a correct reply."""
        return round(super().get_response_time_percentile(percent), 2)

    def get_current_response_time_percentile(self, percent: float) -> Any:
        """Return a percentile of the latest trial in milliseconds; 0 without a correct reply."""
        return self.latest.get_response_time_percentile(percent) if self.latest else 0

    def percentile(self) -> str:
        """Return the row of the console's table of percentiles, with their decimals."""
        first, *rest = map(self.get_response_time_percentile, PERCENTILES_TO_REPORT)
        times = f"{first:>8.2f} " + " ".join(f"{percentile:>6.2f}" for percentile in rest)
        name = f"{self.method or '':<8} {self.name:<{locust_stats.STATS_NAME_WIDTH}}"
        return f"{name} {times} {self.num_requests:>6}"

    def add(self, windows: Sequence[Window]) -> None:
        """Add the windows of one trial, which were open side by side."""
        self.latest = ProfileEntry(self.stats, self.name, self.method)
        for row in (self, self.latest):
            row._count(windows)  # noqa: SLF001 - of the same class

    def _count(self, windows: Sequence[Window]) -> None:
        ok = sum(window.ok for window in windows)
        failed = sum(sum(window.errors.values()) for window in windows)
        self.last_request_timestamp = time()
        self.active += max(window.wall for window in windows)
        self.num_requests += ok + failed
        self.num_failures += failed
        self.num_none_requests += failed  # a failure has no time that means anything
        self.total_response_time += sum(window.latency_sum for window in windows) * 1e3
        self.total_content_length += sum(window.received for window in windows)
        for window in windows:
            for microseconds, count in window.latency.items():
                self.response_times[microseconds / 1e3] += count
        if self.response_times:
            self.min_response_time = min(self.response_times)
            self.max_response_time = max(self.response_times)


def entry(stats: RequestStats, name: str) -> ProfileEntry:
    """Return the row of *name*, made when it is new; the total row is made truthful on the way."""
    if not isinstance(stats.total, ProfileEntry):
        stats.total = ProfileEntry(stats, "Aggregated", "")
    row = stats.entries.get((name, "GET"))
    if not isinstance(row, ProfileEntry):
        row = stats.entries[name, "GET"] = ProfileEntry(stats, name, "GET")
    return row


def record(runner: Runner, name: str, windows: Sequence[Window]) -> None:
    """
    Add one trial's windows to the row *name*, to the total, and to the table of failures.

    The charts of Locust's report get a point of the trial's own.
    """
    if not windows:
        return
    row, total = entry(runner.stats, name), runner.stats.total
    assert isinstance(total, ProfileEntry)
    row.add(windows)
    total.add(windows)
    for window in windows:
        for kind, count in window.errors.items():
            error = f"{kind}: see the run's report"
            key = StatsError.create_key("GET", name, error)
            stats_error = runner.stats.errors.setdefault(key, StatsError("GET", name, error))
            stats_error.occurrences += count
    locust_stats.update_stats_history(runner)


def keep_decimals() -> None:
    """Let Locust's CSV files keep the decimals of a percentile; it cuts them off (2.47)."""

    def fields(writer: StatsCSV, row: StatsEntry, use_current: bool = False) -> list[Any]:
        of = (
            row.get_current_response_time_percentile
            if use_current
            else row.get_response_time_percentile
        )
        return (
            [*map(of, writer.percentiles_to_report)] if row.num_requests else writer.percentiles_na
        )

    StatsCSV._percentile_fields = fields  # type: ignore[assignment]  # noqa: SLF001 - no other way
