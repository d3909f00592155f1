"""What one window counts is its own, and its clocks are those of the thread."""

import time

import pytest

from lab.bench.load.histogram import bucket
from lab.bench.load.recorder import Recorder, read_thread_times
from tests.kit.lab_process import until

SPIN = 0.1
"""Seconds of work, and of sleep: many times what the other costs on a busy machine."""


def spin(seconds):
    """Use so much CPU, however long it takes."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def count(recorder, latencies, retried):
    """Count replies as an engine does."""
    for seconds in latencies:
        us = bucket(int(seconds * 1e6))
        recorder.latency[us] = recorder.latency.get(us, 0) + 1
    recorder.add(len(latencies), 100 * len(latencies), sum(latencies))
    recorder.retried += retried
    recorder.connections += retried
    recorder.errors["reset"] = retried
    recorder.late += retried
    recorder.planned += retried
    recorder.abandoned += retried


@pytest.mark.parametrize("continued", [False, True])
def test_a_window_has_nothing_of_the_one_before(continued):
    """Two of one recorder, unequal in everything that is counted."""
    recorder = Recorder()
    windows = []
    for number, retried in ((5, 3), (2, 1)):
        recorder.restart(0, continued=continued and bool(windows))
        count(recorder, [0.012 * step for step in range(1, number + 1)], retried)
        windows.append(recorder.close(0, ()))
    for window, number, retried in zip(windows, (5, 2), (3, 1), strict=True):
        assert (window.ok, window.received) == (number, 100 * number)
        assert sum(window.latency.values()) == number
        total = sum(us * replies for us, replies in window.latency.items()) / 1e6
        assert window.latency_sum == pytest.approx(total, rel=0.01)
        assert window.errors == {"reset": retried}
        assert window.retried == window.connections == window.late == window.planned == retried
        assert window.unfinished == retried


def test_the_first_wrong_reply_of_each_window_is_kept():
    """Not a later one, nor that of the window before, and not what is no reply."""
    recorder = Recorder()
    recorder.fail("timeout")
    recorder.fail("status", "500 'no'")
    recorder.fail("body", "200 'else'")
    window = recorder.close(0, ())
    assert window.sample == "status: 500 'no'"
    assert window.errors == {"timeout": 1, "status": 1, "body": 1}
    recorder.restart(0)
    assert recorder.close(0, ()).sample == ""


def test_a_window_ends_when_it_is_first_told_to():
    """A counted load has its last outcome then; what comes later is not of it."""
    recorder = Recorder()
    recorder.end()
    before = time.perf_counter()
    spin(0.01)
    recorder.end()
    assert recorder.close(0, ()).wall <= before - recorder.opened


def test_a_window_has_the_cpu_time_of_its_thread():
    """And that for which it waited, any on a busy machine: it never does both at once."""
    recorder = Recorder()
    spin(SPIN)
    window = recorder.close(0, ())
    assert window.cpu == pytest.approx(SPIN, rel=0.2)
    assert window.cpu + window.wait < window.wall + SPIN / 5


def test_a_thread_that_sleeps_neither_runs_nor_waits():
    """It is not ready to run; a busy machine may wake it late, and once it is woken at once."""

    def sleep():
        before = read_thread_times()
        time.sleep(SPIN / 5)
        return [b - a for a, b in zip(before, read_thread_times(), strict=True)]

    until(lambda: max(sleep()) < SPIN / 20, "a sleep without CPU and without a wait for one")
