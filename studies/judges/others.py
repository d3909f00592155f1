"""
Judges of others: each as its own documentation says, with so many trials as it is given.

All take the base first and then the head, as their tools do in one job of CI. They know no gates
and repeat nothing. A cost is CPU or time per request; the time is that of a closed loop, 1 /
(requests/s). What a tool would do for one run of a load generator it does here for ten.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import mannwhitneyu, ttest_ind_from_stats

from studies.judges.change_points import Otava
from studies.judges.cut import Decision, Row, Sample

TRIALS = 10
"""Of each side."""

Verdict = Callable[[Sequence[Sample], Sequence[Sample], str], bool | None]
"""Says of base and head, by a metric, whether the head is slower; None: it cannot tell."""


@dataclass(frozen=True, slots=True)
class BaseThenHead:
    """Takes the base's trials, then the head's, and says whether the head is slower."""

    name: str
    verdict: Verdict
    metric: str
    base: int = TRIALS
    head: int = TRIALS
    duets: bool = False
    in_a_row: int = 2 * TRIALS
    """So that a neighbour that arrives after ten blocks arrives with the head."""

    def judge(self, rows: Sequence[Row]) -> Decision | None:
        """Judge from the first of *rows* on; None where they end before it has decided."""
        base = [row.old for row in rows[: self.base]]
        head: list[Sample] = []
        used = self.base
        while len(head) < self.head and used < len(rows):
            new = rows[used].new
            head += [] if new is None else [new]
            used += 1
        if len(head) < self.head:
            return None
        red = self.verdict(base, head, self.metric)
        return Decision(bool(red), red is not None, used, self.base + self.head)


def bencher(base: Sequence[Sample], head: Sequence[Sample], metric: str) -> bool | None:
    """
    Judge by a percentage of the base, with the boundary of the documentation's example, 0.25.

    Source: Bencher, "How to Track Benchmarks in CI", Relative Continuous Benchmarking; the mean of
    the trials is the metric of a run.
    """
    before, after = _costs(base, metric), _costs(head, metric)
    if not before or not after:
        return None
    return statistics.mean(after) > 1.25 * statistics.mean(before)


def best(base: Sequence[Sample], head: Sequence[Sample], metric: str) -> bool | None:
    """
    Judge by the best of the trials, with the limit of the documentation's example, 5 %.

    Source: pytest-benchmark 5.3, "Comparing past runs", `--benchmark-compare-fail=min:5%`.
    """
    before, after = _costs(base, metric), _costs(head, metric)
    return min(after) > 1.05 * min(before) if before and after else None


def median_beyond(base: Sequence[Sample], head: Sequence[Sample], metric: str) -> bool | None:
    """
    Judge by the medians: they have to differ by more than a side's median from its minimum.

    Median and minimum have to agree about which side is slower, else it is inconclusive.
    Source: mitol-django-benchmark 2026.9.30, README, "inconclusive", and `report.decide`.
    """
    before, after = _costs(base, metric), _costs(head, metric)
    if not before or not after:
        return None
    moved = statistics.median(after) - statistics.median(before)
    noise = max(statistics.median(side) - min(side) for side in (before, after))
    if abs(moved) <= noise or (moved < 0) != (min(after) - min(before) < 0):
        return None
    return moved > 0


def welch(base: Sequence[Sample], head: Sequence[Sample], _metric: str) -> bool | None:
    """
    Judge by Welch's test of requests/s with as many samples as there were requests.

    The spread is that of the seconds of a run, here of its trials. Slower is what the test rejects
    at 10 % and what differs by over 5 %. Source: autocannon-compare 0.4, README and `compare.js`.
    """
    sides = [[sample.throughput for sample in side if sample.throughput] for side in (base, head)]
    if any(len(side) < 2 for side in sides):
        return None
    before, after = sides
    moments = [value for side in (before, after) for value in (np.mean(side), np.std(side))]
    requests = [sum(sum(sample.latency.values()) for sample in side) for side in (base, head)]
    test = ttest_ind_from_stats(
        *moments[:2], requests[0], *moments[2:], requests[1], equal_var=False
    )
    return bool(test.pvalue < 0.10 and np.mean(after) < 0.95 * np.mean(before))


def mann_whitney(base: Sequence[Sample], head: Sequence[Sample], _metric: str) -> bool | None:
    """
    Judge by the latencies of all requests: slower where the test rejects at 5 %.

    No tool of that rule is known to us: it is what a load test's log and `scipy.stats.mannwhitneyu`
    invite to. Source: its documentation, "alternative='greater'".
    """
    before, after = (_latencies(side) for side in (base, head))
    if not before.size or not after.size:
        return None
    return bool(mannwhitneyu(after, before, alternative="greater").pvalue < 0.05)


def change_point(otava: Otava) -> Verdict:
    """Return the judgement by change points: see `studies.judges.change_points`."""

    def verdict(base: Sequence[Sample], head: Sequence[Sample], metric: str) -> bool | None:
        before, after = _costs(base, metric), _costs(head, metric)
        return otava.worse(before, after) if before and after else None

    return verdict


def _costs(side: Sequence[Sample], metric: str) -> list[float]:
    return [cost for sample in side if (cost := sample.cost(metric)) is not None]


def _latencies(side: Sequence[Sample]) -> np.ndarray:
    """Return the latency of each request, in microseconds."""
    latencies: list[np.ndarray] = [
        np.repeat(list(sample.latency), list(sample.latency.values()))
        for sample in side
        if sample.latency
    ]
    return np.concatenate(latencies) if latencies else np.empty(0)
