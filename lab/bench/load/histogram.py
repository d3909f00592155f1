"""
Latencies counted in log-linear buckets of integer microseconds.

A histogram is a mapping from the lower bound of a bucket to a count, so that it goes into JSON, and
the histograms of several processes add up. A bucket is 1 µs wide below 256 µs, and above that at
most 1/128 of its lower bound: what is lost is under 0.8 %, less than any machine's noise.
"""

from __future__ import annotations

PRECISION_BITS = 8
"""Significant bits that a bucket's bound keeps: 2 ** -(8 - 1) is the relative width, 0.78 %."""


def bucket(us: int) -> int:
    """
    Return the lower bound of the bucket that holds *us* microseconds (0 or more).

    >>> bucket(255), bucket(257), bucket(1_000_000)
    (255, 256, 999424)
    """
    shift = us.bit_length() - PRECISION_BITS
    return us >> shift << shift if shift > 0 else us
