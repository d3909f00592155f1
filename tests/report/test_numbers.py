"""Numbers as they are printed."""

import pytest

from lab.model.comparison import Estimate
from lab.model.numbers import figure, quantity, ratio, share


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.012345, "0.0123"),
        (0.3, "0.300"),
        (0.9996, "1.00"),
        (1.4249, "1.42"),
        (99.96, "100"),
        (347.28, "347"),
        (5366.0, "5,370"),
        (1234567.0, "1,230,000"),
    ],
)
def test_three_significant_figures(value, text):
    """Never more precision than a benchmark has, zeros kept, thousands separated."""
    assert figure(value) == text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("throughput", 5366.0, "5,370"),
        ("cpu", 121.4e-6, "121"),
        ("p99", 0.0324, "32.4"),
        ("memory", 40e6, "40.0"),
        ("drops", 935.0, "935"),
        ("drops", 12345.0, "12,345"),
        ("errors", 2.5, "2.5"),
        ("p99", None, "-"),
    ],
)
def test_a_quantity_is_scaled_to_its_headers_unit(name, value, text):
    """Seconds become us or ms and bytes MB where they are printed; counts are in full."""
    assert quantity(name, value) == text


def test_a_ratio_whose_interval_holds_1_is_marked():
    """The mark says that it may be no change at all."""
    assert ratio(Estimate(1.42, 1.31, 1.55, 10)) == "1.42x [1.31, 1.55]"
    assert ratio(Estimate(1.42, 1.0, 1.99, 10)) == "~1.42x [1.00, 1.99]"


def test_shares_are_percents():
    """One decimal below 10 %."""
    assert (share(0.0312), share(0.5)) == ("3.1%", "50%")
