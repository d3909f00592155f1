"""Workers that are killed while they answer."""

import os
import re
import signal

import pytest

from tests.kit.lab_process import until

from .prober import Clients
from .stacks import production, waiting

KILLS = 6

WORKERS, THREADS = 3, 12
"""Two clients for each worker of both instances, so that none is idle."""

AT_ONCE = (" buffer=4k flush=1s;", ";")
"""nginx's access log is to be read while it is written."""

TWICE = re.compile(r'"upstream_status":"\d{3}, 200"')
"""Two statuses: the first instance's, which was lost, and that of the other one."""

ONCE = ("uwsgi_next_upstream error timeout invalid_header;", "uwsgi_next_upstream off;")


def kill_a_busy_worker(server):
    """Kill a worker that has a request under way, and return its process id."""
    victim = until(server.busy, "a worker with a request under way")[0]
    os.kill(victim, signal.SIGKILL)
    return victim


@pytest.mark.parametrize("keepalive", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_killed_workers_lose_nothing(tmp_path, keepalive):
    """Six workers die, each with a request under way, and every client gets its reply."""
    load = waiting(25)
    request = load.path, load.expect.body

    def second_tries():
        return len(TWICE.findall((tmp_path / "access.log").read_text()))

    with (
        production(tmp_path, load, replace=[AT_ONCE], workers=WORKERS) as stack,
        Clients(stack.address, *request, threads=THREADS, keepalive=keepalive) as clients,
    ):
        before = stack.workers()
        killed = set()
        clients.wait_for(50)
        # More than six, if a request ended between the look and the kill.
        while second_tries() < KILLS and len(killed) < 2 * KILLS:
            for instance in stack.instances:
                killed.add(kill_a_busy_worker(instance))
                # Whoever lost a reply has another one; a second loss would be one too many.
                clients.wait_for(2 * THREADS)
            until(
                lambda: len(now := stack.workers()) == len(before) and not now & killed,
                "successors of the killed",
            )
        clients.wait_for(max(50, 500 - len(clients.outcomes)))
        spawned = stack.spawned()
    assert clients.failed == []
    assert len(clients.outcomes) >= 500
    assert second_tries() >= KILLS
    assert len(spawned) == len(before) + len(killed)


def test_without_a_second_try_a_kill_is_felt(tmp_path):
    """The same kill loses a request where nginx is told not to ask the other instance."""
    load = waiting(200)
    with (
        production(tmp_path, load, replace=[ONCE]) as stack,
        Clients(stack.address, load.path, load.expect.body, threads=4) as clients,
    ):
        # Not always: a request may end between the look and the kill.
        for _ in range(20):
            kill_a_busy_worker(stack)
            clients.wait_for(4)
            if clients.failed:
                break
    assert {outcome.failure[:3] for outcome in clients.failed} == {"502"}


@pytest.mark.slow
def test_a_kill_loses_nothing_while_one_instance_is_down(tmp_path):
    """With only one instance left, its other workers answer what a killed one was at."""
    load = waiting(100)
    with production(tmp_path, load, workers=WORKERS) as stack:
        gone, left = stack.instances
        os.kill(gone.stats()["pid"], signal.SIGINT)
        until(lambda: not gone.socket.exists(), "the end of an instance")
        with Clients(stack.address, load.path, load.expect.body, threads=WORKERS) as clients:
            clients.wait_for(WORKERS)
            for _ in range(2):
                before = left.workers()
                victim = until(left.busy, "a worker with a request under way")[0]
                os.kill(victim, signal.SIGKILL)
                clients.wait_for(2 * WORKERS)
                until(lambda before=before: len(left.workers()) == len(before), "its successor")
        assert clients.failed == []
