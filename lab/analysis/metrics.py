"""
From a trial's windows and readings to the metrics of `lab.model.metric.METRICS`.

Rates are taken over the clock that counted them: requests over the generator's window, CPU and
switches over `elapsed`, the probes' own interval, which is a little longer than the window.
A counted load falls silent when it is done, so there totals are divided by totals.

Percentiles are of the replies that came. In an open loop, requests without a reply when the window
closes are missing from them; the gates "overload" and "cut off" withhold what is too low then.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from lab.model.measurement import Trial, Window
from lab.model.metric import METRICS
from lab.model.plan import Load

P99_REPLIES = 1000
"""Fewer leave less than ten replies beyond the 99th percentile: too few to place it."""


def derive(trial: Trial) -> dict[str, float]:
    """
    Return the trial's metrics by name, in SI units.

    What cannot be derived is absent: everything without a window, `p99` and `service_p99` below
    1,000 replies, `service_p99` in a closed loop, and whatever needs a reading that was not taken.
    `served` is what was answered, `capacity` what the server's cores have CPU for. A backend runs
    on these, too: `system` is the CPU of both, and absent without one. The percentiles of a server
    that was slowed down are in its own time, which passes at `Trial.share` of the clock's speed.
    """
    windows, load = trial.windows, trial.slot.arm.load
    if not windows or any(window.wall <= 0 for window in windows):
        return {}
    throughput = _throughput(windows, load)
    metrics = {
        "throughput": throughput,
        "served": throughput,
        "errors": float(sum(sum(window.errors.values()) for window in windows)),
        "retried": float(trial.total("retried")),
    }
    metrics |= {name: seconds * trial.share for name, seconds in _percentiles(windows).items()}
    readings = trial.readings
    metrics |= {
        name: readings[metric.reading]
        for name, metric in METRICS.items()
        if metric.reading is not None and metric.reading in readings
    }
    requests = replies_while_probed(trial)
    if requests:
        if (seconds := server_cpu(readings)) is not None:
            metrics["cpu"] = seconds / requests
            whole = seconds + readings.get("backend.cpu", 0.0)
            if "backend.cpu" in readings:
                metrics["system"] = whole / requests
            if whole and (cores := usable_cores(readings)) is not None:
                metrics["capacity"] = cores * trial.share * requests / whole
            if ratio := _cpu_vs_generator(trial, load, seconds):
                metrics["cpu_vs_generator"] = ratio
        if "server.switches_voluntary" in readings:
            metrics["switches"] = readings["server.switches_voluntary"] / requests
    return metrics


def _percentiles(windows: Sequence[Window]) -> dict[str, float]:
    """Return those that so many replies can place."""
    percentiles = {}
    latency = merged_latency(windows)
    replies = latency.total()
    if replies:
        percentiles["p50"], percentiles["p90"], p99 = quantiles(latency, (0.50, 0.90, 0.99))
        if replies >= P99_REPLIES:
            percentiles["p99"] = p99
    service = merged_service(windows)
    if service.total() >= P99_REPLIES:
        percentiles["service_p99"] = quantile(service, 0.99)
    return percentiles


def _throughput(windows: Sequence[Window], load: Load) -> float:
    """Add up rates; but a counted load lasts until the last process has its last reply."""
    if load.requests is None:
        return sum(window.ok / window.wall for window in windows)
    return sum(window.ok for window in windows) / max(window.wall for window in windows)


def usable_cores(readings: Mapping[str, float]) -> float | None:
    """Return the cores that the server may use: all, where it is not pinned; None if not read."""
    return readings.get("server.cores", readings.get("machine.cores"))


def server_cpu(readings: Mapping[str, float]) -> float | None:
    """Return the CPU seconds of the server's whole tree; None where they were not read."""
    if "server.cpu_user" not in readings or "server.cpu_system" not in readings:
        return None
    return readings["server.cpu_user"] + readings["server.cpu_system"]


def merged_latency(windows: Iterable[Window]) -> Counter[int]:
    """Return the latencies of all generator processes: microseconds -> count."""
    return merged(window.latency for window in windows)


def merged_service(windows: Iterable[Window]) -> Counter[int]:
    """Return the service times of an open loop, as `merged_latency` does."""
    return merged(window.service for window in windows)


def merged(histograms: Iterable[Mapping[int, int]]) -> Counter[int]:
    """Return the sum of histograms: microseconds -> count."""
    total: Counter[int] = Counter()
    for histogram in histograms:
        total.update(histogram)
    return total


def quantile(latency: Mapping[int, int], q: float) -> float:
    """
    Return the latency, in seconds, that the share *q* of the replies did not exceed.

    >>> quantile({1000: 98, 2000: 1, 5000: 1}, 0.99)
    0.002
    """
    return quantiles(latency, (q,))[0]


def quantiles(latency: Mapping[int, int], shares: Iterable[float]) -> list[float]:
    """
    Return the latency, in seconds, that each share of the replies did not exceed.

    It is the lower bound of the bucket that holds the reply of that rank (nearest rank), so it is
    low by at most a bucket's width, and by the same share in every trial.

    Args:
        latency: Lower bound of a bucket in microseconds -> count; at least one reply.
        shares: Above 0, at most 1.
    """
    buckets = sorted(latency)
    seen = list(itertools.accumulate(latency[bucket] for bucket in buckets))
    # 0.07 * 100 is a hair above 7 in binary; a rank is not to be missed for that.
    ranks = (math.ceil(share * seen[-1] - 1e-9) for share in shares)
    return [buckets[bisect.bisect_left(seen, rank)] / 1e6 for rank in ranks]


def replies_while_probed(trial: Trial) -> float | None:
    """Return correct replies over the probes' interval; None where that was not read."""
    load = trial.slot.arm.load
    if load.requests is not None:
        return float(trial.total("ok"))
    if "elapsed" not in trial.readings or any(window.wall <= 0 for window in trial.windows):
        return None
    return _throughput(trial.windows, load) * trial.readings["elapsed"]


def _cpu_vs_generator(trial: Trial, load: Load, seconds: float) -> float | None:
    """Return server CPU over generator CPU in the same time; None for an idle generator."""
    if load.requests is not None:
        generator = trial.total("cpu")
        return seconds / generator if generator > 0 else None
    cores = sum(window.cpu / window.wall for window in trial.windows)
    return seconds / trial.readings["elapsed"] / cores if cores > 0 else None
