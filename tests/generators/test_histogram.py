"""Latency histograms."""

import random

import pytest

from lab.generators.histogram import bucket, merge, quantile


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


@pytest.mark.parametrize("q", [0.01, 0.5, 0.9, 0.99])
def test_quantile_is_within_one_percent_of_the_sample(q):
    """A quantile agrees with the nearest rank of the raw sample."""
    generator = random.Random(2)
    sample = sorted(int(generator.lognormvariate(7, 1.5)) for _ in range(5_000))
    histogram: dict[int, int] = {}
    for us in sample:
        histogram[bucket(us)] = histogram.get(bucket(us), 0) + 1
    exact = sample[round(q * len(sample)) - 1] / 1e6
    assert quantile(histogram, q) == pytest.approx(exact, rel=0.01)


def test_quantile_needs_ten_samples_beyond_it():
    """p99 is given for 1000 samples and withheld for 999."""
    assert quantile({100: 1000}, 0.99) == 0.0001
    assert quantile({100: 999}, 0.99) is None
    assert quantile({}, 0.5) is None


def test_quantile_rejects_what_is_no_quantile():
    """A percentage given for a fraction is an error and not the maximum."""
    with pytest.raises(ValueError, match="99"):
        quantile({100: 1000}, 99)


def test_merge_adds_counts():
    """Histograms of several processes add up and are left as they were."""
    first = {100: 1, 256: 2}
    assert merge([first, {256: 3, 512: 1}]) == {100: 1, 256: 5, 512: 1}
    assert first == {100: 1, 256: 2}
