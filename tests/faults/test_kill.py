"""Workers that are killed while they answer."""

import os
import signal

import pytest

from tests.lab_process import until

from .prober import Clients
from .stacks import production, waiting

KILLS = 6
"""Over about five seconds: uWSGI starts one worker a second again."""


def kill_a_busy_worker(stack):
    """Kill a worker that has a request under way, and return its process id."""
    victim = until(stack.busy, "a worker with a request under way")[0]
    os.kill(victim, signal.SIGKILL)
    return victim


@pytest.mark.parametrize("keepalive", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_killed_workers_lose_nothing(tmp_path, keepalive):
    """Six workers die, each with a request under way, and every client gets its reply."""
    load = waiting(25)
    with production(tmp_path, load) as stack:
        before = stack.workers()
        with Clients(stack.address, load.path, load.expect.body, keepalive=keepalive) as clients:
            clients.wait_for(50)
            for _ in range(KILLS):
                victim = kill_a_busy_worker(stack)
                until(lambda gone=victim: gone not in stack.workers(), "the worker's end")
                until(lambda: len(stack.workers()) == len(before), "its successor")
            clients.wait_for(max(50, 500 - len(clients.outcomes)))
        spawned = sum(
            worker["respawn_count"]
            for each in stack.instances
            for worker in each.workers().values()
        )
    assert clients.failed == []
    assert len(clients.outcomes) >= 500
    assert spawned == len(before) + KILLS


def test_without_a_second_try_a_kill_is_felt(tmp_path):
    """The same kill loses a request where nginx is told not to ask the other instance."""
    load = waiting(200)
    once = [("uwsgi_next_upstream error timeout invalid_header;", "uwsgi_next_upstream off;")]
    with (
        production(tmp_path, load, replace=once) as stack,
        Clients(stack.address, load.path, load.expect.body, threads=4) as clients,
    ):
        # Not always: a request may end between the look and the kill.
        for _ in range(3):
            kill_a_busy_worker(stack)
            clients.wait_for(4)
            if clients.failed:
                break
    assert {each.failure[:3] for each in clients.failed} == {"502"}
