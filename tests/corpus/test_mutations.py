"""Requests damaged at random: nobody knows what is right for each, but what is wrong for all."""

import pytest

from tests.corpus.doors import FIGURES
from tests.corpus.mutations import mutations
from tests.corpus.stand import FAILED

COUNT = 1500
SEED = 20


@pytest.fixture(scope="module")
def damaged(corpus):
    """Return damaged requests, the same ones each time."""
    return list(mutations([request.raw for request in corpus], COUNT, SEED))


def test_a_seed_means_the_same_requests(corpus, damaged):
    """They are those of the seed, and another seed has others."""
    raw = [request.raw for request in corpus]
    assert list(mutations(raw, COUNT, SEED)) == damaged
    assert list(mutations(raw, COUNT, SEED + 1)) != damaged


def test_behind_nginx_each_gets_a_reply_or_is_no_request(front, damaged):
    """Only HTTP comes back, no failure of the server, and silence only to what has no end."""
    # Long enough that a reply which is under way comes first, on a busy machine, too.
    storm = front.storm(damaged, stays=1.5, at_once=200)
    assert sum(storm.words.values()) == COUNT
    assert storm.examples == []
    assert (storm.words[FAILED], storm.words["closed"], storm.words["timeout"]) == (0, 0, 0)
    assert front.answers()
    assert front.deaths() == 0
    assert front.complaints() == []


def test_port_8081_lets_none_of_it_through(front, damaged):
    """Where Prometheus asks, each gets a reply or is no request, and no worker dies of it."""
    aimed = [FIGURES.aim(request) for request in damaged]
    storm = FIGURES.storm(front, aimed)
    assert sum(storm.words.values()) == COUNT
    assert storm.examples == []
    assert (storm.words[FAILED], storm.words["closed"], storm.words["timeout"]) == (0, 0, 0)
    assert storm.words["200"] > 0
    assert front.answers()
    assert front.deaths() == 0
    assert front.complaints() == []


def test_on_http_socket_no_worker_dies(direct, damaged):
    """Much of what comes back is no HTTP, but the workers live, nothing raises, and all go on."""
    storm = direct.storm(damaged)
    assert sum(storm.words.values()) == COUNT
    assert storm.words[FAILED] == 0, storm.examples
    assert direct.answers()
    assert direct.deaths() == 0
    assert direct.complaints() == []
