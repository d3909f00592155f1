"""Statistics against independent oracles and textbook values."""

import math
import random

import pytest

from lab.analysis import stats
from lab.errors import TooFewSamplesError
from lab.model.comparison import Estimate

DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Differences in height of Darwin's 15 pairs of maize, in eighths of an inch (Fisher, 1935)."""


def test_the_interval_of_darwins_maize_is_fishers():
    """Mean 20.93, 95 % interval from -0.03 to 41.9 eighths of an inch."""
    estimate = stats.paired([value / 100 for value in DARWIN])
    bounds = [100 * math.log(x) for x in (estimate.value, estimate.low, estimate.high)]
    assert bounds == pytest.approx([20.93, 0.00, 41.86], abs=0.05)
    assert estimate.n == 15


@pytest.mark.parametrize("level", [0.95, 0.96, 0.995])
@pytest.mark.parametrize("n", [2, 5, 10, 30])
def test_the_interval_agrees_with_scipys_t_test(n, level):
    """Our t-interval is scipy.stats' one, to rounding; it knows its level."""
    from scipy import stats as oracle

    chance = random.Random(n)
    values = [chance.gauss(0.1, 0.05) for _ in range(n)]
    expected = oracle.ttest_1samp(values, 0).confidence_interval(level)
    estimate = stats.paired(values, level)
    assert estimate.level == level
    assert stats.error_of(estimate) == pytest.approx(stats.standard_error(values))
    assert math.log(estimate.low) == pytest.approx(expected.low)
    assert math.log(estimate.high) == pytest.approx(expected.high)


@pytest.mark.parametrize("n", [2, 7, 13, 40])
def test_a_trimmed_mean_and_its_error_are_yuens(n):
    """Scipy has his test for two samples: of one and its mirror image it is 1.41 times ours."""
    from scipy import stats as oracle

    chance = random.Random(n)
    values = [chance.gauss(0.1, 0.05) for _ in range(n)]
    mirrored = [-value for value in values]
    expected = oracle.ttest_ind(values, mirrored, equal_var=False, trim=1 / stats.TRIM)
    centre = stats.trimmed([[value] for value in values])
    assert centre.value == pytest.approx(oracle.trim_mean(values, 1 / stats.TRIM))
    assert centre.value / centre.error == pytest.approx(expected.statistic / math.sqrt(2))
    assert (2 * centre.degrees, centre.n) == (pytest.approx(expected.df), n)


def test_a_trimmed_mean_of_two_ratios_a_block_takes_the_blocks_for_its_error():
    """Twice the same tells no more than once; of few, nothing is left out."""
    values = [0.1, 0.2, 0.4]
    assert stats.trimmed([[value, value] for value in values]) == pytest.approx(stats.mean(values))
    with_one_void = stats.trimmed([[0.1, 0.3], [0.2], [0.5, 0.3]])
    assert with_one_void == pytest.approx(stats.mean([0.2, 0.2, 0.4]))


def test_a_trimmed_mean_hardly_moves_with_an_outlier():
    """Nor does its error; the mean's is ten times as large."""
    values = [0.01, -0.01, 0.02, -0.02, 0.0, 0.01, -0.01, 0.02]
    ratios = [[value, value + 0.005] for value in values]
    slowed = [*ratios[:-1], [1.0, 1.0]]
    before, after = stats.trimmed(ratios), stats.trimmed(slowed)
    assert after.value == pytest.approx(before.value, abs=0.005)
    assert after.error < 2 * before.error < 0.2 * stats.mean([sum(it) / 2 for it in slowed]).error


@pytest.mark.parametrize("values", [[], [0.1]])
def test_one_value_has_no_interval(values):
    """The error says how many there are and how many are needed."""
    match = f"{len(values)} valid blocks, at least 2"
    with pytest.raises(TooFewSamplesError, match=match):
        stats.paired(values)
    with pytest.raises(TooFewSamplesError, match=match):
        stats.trimmed([[value] for value in values])


def test_the_rank_estimate_hardly_moves_with_an_outlier():
    """The median of the pairwise means of 1, 2, 3, 100 is 2.75; their mean is 26.5."""
    assert stats.hodges_lehmann([1, 2, 3, 100]) == 2.75


def test_the_rank_interval_uses_the_tables_critical_values():
    """For n = 6 it is the whole range; for n = 10 the table's 8 leaves the 9th and 47th of 55."""
    assert stats.rank_interval([1.0] * 5) is None
    assert stats.rank_interval([1, 2, 3, 4, 5, 6]) == (1, 6)
    assert stats.rank_interval([1.0] * 8, 0.995) is None
    assert stats.rank_interval([1, 2, 3, 4, 5, 6, 7, 8, 9], 0.995) == (1, 9)
    values = [2.0**k for k in range(10)]
    means = sorted((a + b) / 2 for i, a in enumerate(values) for b in values[i:])
    assert stats.rank_interval(values) == (means[8], means[46])


def test_the_detectable_change_is_the_tables():
    """With a spread of 3 % and 10 blocks it is 3 %: (2.262 + 0.883) * 0.03 / sqrt(10)."""
    values = [0.03 * math.sqrt(0.9) * sign for sign in (1, -1) * 5]
    assert math.log(stats.detectable(stats.mean(values))) == pytest.approx(
        3.145 * 0.03 / math.sqrt(10), rel=1e-3
    )


def test_an_undecided_change_needs_interval_and_noise_to_shrink():
    """1.10x within 8 %, noise 8 %: both must shrink to under 5 %, by 2.6 times the blocks."""
    estimate = Estimate(1.10, 1.10 / 1.08, 1.10 * 1.08, 10)
    assert stats.blocks_to_decide(estimate, 0.08, 0.02, 0.05, 10) == pytest.approx(27, abs=1)
    assert stats.blocks_to_decide(estimate, 0.08, 0.02, 0.05, 20) == pytest.approx(54, abs=2)


def test_a_change_as_large_as_the_floor_stays_open():
    """Exactly 1.02x is on neither side of 2 %, whatever the number of blocks."""
    estimate = Estimate(1.02, 1.00, 1.04, 10)
    assert stats.blocks_to_decide(estimate, 0.02, 0.02, 0.05, 10) is None


def test_the_blocks_for_a_narrower_interval_grow_with_its_square():
    """From 10 % at 10 blocks to 5 % takes about 4 times as many, fewer by the better t quantile."""
    wide = Estimate(1.0, 1 / 1.10, 1.10, 10)
    assert stats.half_width(wide) == pytest.approx(0.10)
    assert 28 <= stats.blocks_for_half_width(wide, 0.05, 10) <= 38
    assert 56 <= stats.blocks_for_half_width(wide, 0.05, 20) <= 76


def test_more_blocks_than_a_run_takes_are_no_advice():
    """From a factor of 3 to 5 % would be thousands."""
    assert stats.blocks_for_half_width(Estimate(1.0, 1 / 3, 3.0, 10), 0.05, 10) is None


def test_the_interval_covers_the_truth_nineteen_times_of_twenty():
    """Of 1,000 samples of 5 with a true mean of 0.1, 95 % within chance hold it."""
    chance = random.Random(5)
    held = 0
    for _ in range(1000):
        estimate = stats.paired([chance.gauss(0.1, 0.05) for _ in range(5)])
        held += estimate.low <= math.exp(0.1) <= estimate.high
    assert 930 <= held <= 970
