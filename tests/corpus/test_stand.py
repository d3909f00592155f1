"""What the other tests of this folder rely on to see that something broke."""

import signal
import time

import psutil

from tests.corpus.stand import stand


def _eventually(condition):
    """Wait until a condition holds; say whether it does within ten seconds."""
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def test_all_instances_have_started(front):
    """Two of them with two workers each are there before anything is sent."""
    assert len(front.workers()) == 4


def test_a_worker_that_dies_is_noticed():
    """It is counted although the master starts another one, and the line in the log is found."""
    with stand("tuned", workers=2) as server:
        assert (server.deaths(), server.complaints()) == (0, [])
        psutil.Process(server.workers()[0]).send_signal(signal.SIGKILL)
        assert _eventually(lambda: server.deaths() == 1 and server.complaints())
        assert _eventually(server.answers)
