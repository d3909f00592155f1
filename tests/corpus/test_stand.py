"""What the other tests of this folder rely on to see that something broke."""

import signal
from collections import Counter

import psutil
import pytest

from studies.malformed import broken, wrongs
from tests.corpus.doors import FRONT, SOCKET
from tests.corpus.stand import Storm, stand
from tests.kit.lab_process import until


def test_all_instances_have_started(front):
    """Two of them with two workers each are there before anything is sent."""
    assert len(front.spawned()) == 4


def test_a_worker_that_dies_is_noticed():
    """It is counted although another one starts, its line in the log is found, both are told."""
    with stand("tuned", workers=2) as server:
        assert (server.deaths(), server.complaints(), broken(server)) == (0, [], [])
        psutil.Process(server.spawned()[0]).send_signal(signal.SIGKILL)
        until(lambda: server.deaths() == 1 and server.complaints(), "notice of a death")
        until(server.answers, "an answer after it")
        assert broken(server)[0] == "1 processes died"
        assert broken(server)[1].startswith("its log says")


@pytest.mark.costly
@pytest.mark.parametrize("word", ["failed", "malformed", "closed", "timeout"])
def test_what_no_damaged_request_may_have_is_told(word):
    """Behind nginx each of them is; a failure of the server is so at every door."""
    storm = Storm(Counter({"200": 5, word: 2}), [(word, b"GET", "x 500")])
    assert wrongs(storm, FRONT) == [f"2 x {word}", f"{word}: 'x 500' to b'GET'"]
    assert bool(wrongs(storm, SOCKET)) == (word == "failed")
    assert wrongs(Storm(Counter({"200": 5, "unfinished": 2}), []), FRONT) == []
