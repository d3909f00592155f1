"""What the study of the article's ladder says of its trials."""

import pytest

from lab.errors import UsageError
from studies.pages import published_ladder


@pytest.fixture
def _two_rounds(monkeypatch):
    """Two rounds: one ladder falls, and one is as long as the article's."""
    rungs = dict(
        zip(published_ladder.PUBLISHED, ((500, 100), (400, 200), (300, 300)), strict=False)
    )
    rungs |= {"max-worker-lifetime": (200, 400), "cython": (100, 510)}
    trials = [
        {"condition": "queue of 100", "profile": profile, "round": number, "rate": rate}
        for profile, rates in rungs.items()
        for number, rate in enumerate(rates)
    ]
    monkeypatch.setattr(published_ladder, "_stored", lambda: {"trials": trials})


@pytest.mark.usefixtures("_two_rounds")
def test_ladders_are_made_of_one_trial_of_each_configuration():
    """A quarter of them begins with 100 and ends with 510; a few rise at each step."""
    assert published_ladder.by_chance("queue of 100") == "25.0%"
    # Of 32 ladders those of 100, 200, one of two trials of 300, 400 and 510.
    assert published_ladder.rising("queue of 100") == "6.2%"


@pytest.mark.usefixtures("_two_rounds")
def test_a_ratio_is_that_of_the_same_round():
    """Of both rounds the geometric mean; of a condition that is not there, an error."""
    assert published_ladder.ratio("queue of 100", "cython", "baseline").startswith("1.01x [")
    with pytest.raises(UsageError):
        published_ladder.ratio("no such", "cython", "baseline")
