"""Arrival rates as they are written, and the capacity that a share is of."""

from __future__ import annotations

import pytest

from lab.errors import UsageError
from lab.rates import Rate, parse_rates


def test_rates_are_a_number_or_a_share():
    """Several in one option, separated by commas."""
    assert parse_rates("50%, 2000,80.5%") == (
        Rate(0.5, is_share=True),
        Rate(2000, is_share=False),
        Rate(0.805, is_share=True),
    )


def test_a_share_is_of_the_capacity():
    """And a number stays what it is."""
    assert [rate.of(3000) for rate in parse_rates("50%,100")] == [1500, 100]


@pytest.mark.parametrize("text", ["", "fast", "0", "50%%", "-3", "900%", "1000,"])
def test_what_is_no_rate_is_refused_with_an_example(text):
    """The message shows how a rate is written, or what a share may be."""
    with pytest.raises(UsageError, match=r"--rate .*(50%|between 1%)"):
        parse_rates(text)
