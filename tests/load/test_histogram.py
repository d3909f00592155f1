"""Latency histograms."""

import random

from lab.bench.load.histogram import bucket


def test_bucket_is_within_one_percent_below_every_value():
    """A bucket's lower bound is never above its values, and never more than 1 % below."""
    values = [*range(70_000), *(random.Random(1).randrange(60_000_000) for _ in range(10_000))]
    for us in values:
        assert 0.99 * us <= bucket(us) <= us
        assert bucket(bucket(us)) == bucket(us)


def test_bucket_order_is_kept():
    """A longer latency never lies in a lower bucket."""
    buckets = [bucket(us) for us in range(70_000)]
    assert buckets == sorted(buckets)
