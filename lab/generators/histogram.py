"""
Latencies counted in log-linear buckets of integer microseconds.

A histogram is a mapping from the lower bound of a bucket to a count, so that it goes into JSON, and
the histograms of several processes add up. A bucket is 1 µs wide below 256 µs, and above that at
most 1/128 of its lower bound: what is lost is under 0.8 %, less than any machine's noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

PRECISION_BITS = 8
"""Significant bits that a bucket's bound keeps: 2 ** -(8 - 1) is the relative width, 0.78 %."""

_TAIL = 10
# Samples that must lie beyond a quantile before it says anything: p99 of 1000, p99.9 of 10,000.


def bucket(us: int) -> int:
    """
    Return the lower bound of the bucket that holds *us* microseconds (0 or more).

    >>> bucket(255), bucket(257), bucket(1_000_000)
    (255, 256, 999424)
    """
    shift = us.bit_length() - PRECISION_BITS
    return us >> shift << shift if shift > 0 else us


def quantile(histogram: Mapping[int, int], q: float, tail: int = _TAIL) -> float | None:
    """
    Return the *q*-quantile in seconds, by nearest rank, as the middle of its bucket.

    Args:
        histogram: Lower bound of each bucket in microseconds -> count.
        q: Between 0 and 1, exclusive.
        tail: Samples that must lie beyond the quantile, on its scarcer side.

    Returns:
        Seconds, within 1 % of the sample's own; None where there are too few samples.

    >>> quantile({250: 30, 9984: 10}, 0.5)
    0.00025
    """
    if not 0 < q < 1:
        raise ValueError(f"a quantile lies between 0 and 1, not at {q}")
    count = sum(histogram.values())
    # Rounded, since 1000 * (1 - 0.99) may come out a hair below 10.
    if count == 0 or round(count * min(q, 1 - q), 6) < tail:
        return None
    rank = q * count
    seen = 0
    for low in sorted(histogram):
        seen += histogram[low]
        if seen >= rank:
            break
    width = 1 << max(0, low.bit_length() - PRECISION_BITS)
    return (low + (width - 1) / 2) / 1e6


def merge(histograms: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """
    Return the sum of *histograms*.

    >>> merge([{100: 1, 256: 2}, {256: 3}])
    {100: 1, 256: 5}
    """
    total: dict[int, int] = {}
    for histogram in histograms:
        for low, count in histogram.items():
            total[low] = total.get(low, 0) + count
    return total
