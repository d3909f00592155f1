"""Behind nginx, whatever is sent: a right answer or a right refusal, and nothing breaks."""

import pytest

from tests.corpus.conftest import CORPUS


@pytest.fixture(scope="module")
def played(front, corpus):
    """Play the corpus to the production stack."""
    return front.play(corpus)


@pytest.mark.parametrize("name", CORPUS)
def test_the_outcome_is_allowed(played, name):
    """Each request gets one of the statuses that requests.toml allows, and its right body."""
    assert CORPUS[name].judge(played[name]) is None, CORPUS[name].raw[:300]


def test_no_process_dies_of_it(played, front):
    """The workers and nginx are the ones that were started, and the next client is answered."""
    assert front.answers()
    assert front.deaths() == 0


def test_it_is_no_event_in_the_log(played, front):
    """Neither uWSGI nor nginx writes of a fault of its own, and the application of no exception."""
    assert front.complaints() == []
