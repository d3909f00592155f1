"""Reloads and restarts of the instances, one after the other, under load."""

import os
import signal
import threading

import pytest

from tests.kit.lab_process import until

from .parts import Parts
from .prober import Clients, ask
from .stacks import production, waiting

LOAD = waiting(20)
ASKED = LOAD.path, LOAD.expect.body


@pytest.mark.parametrize("rounds", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_reloads_lose_nothing(tmp_path, rounds):
    """SIGHUP twice, to one instance and then to the other: every client gets its reply."""
    with production(tmp_path, LOAD) as stack, Clients(stack.address, *ASKED) as clients:
        for instance in stack.instances * rounds:
            clients.wait_for(20)
            stats, before = instance.stats(), instance.workers()
            os.kill(stats["pid"], signal.SIGHUP)
            instance.wait_for_new(before)
        clients.wait_for(100)
    assert clients.failed == []


@pytest.mark.slow
def test_a_restart_during_a_long_request_loses_nothing(tmp_path):
    """What waits in the queue of an instance that cannot end yet is answered by the other one."""
    long = waiting(7000)
    answers = []
    with Parts(tmp_path, LOAD) as parts:
        parts.wait_until_right()
        request = parts.address, long.path, long.expect.body
        thread = threading.Thread(target=lambda: answers.append(ask(*request)))
        thread.start()
        busy = until(
            lambda: [n for n, instance in parts.instances.items() if instance.busy()], "a request"
        )
        with Clients(parts.address, *ASKED) as clients:
            clients.wait_for(20)
            assert parts.stop(*busy) == 0
            parts.start(*busy)
            clients.wait_for(100)
        thread.join()
    assert [outcome.failure for outcome in answers] == [""]
    assert clients.failed == []


def test_a_rolling_restart_loses_nothing(tmp_path):
    """Each instance is stopped, awaited and started again: every client gets its reply."""
    with Parts(tmp_path, LOAD) as parts:
        parts.wait_until_right()
        with Clients(parts.address, *ASKED) as clients:
            for name, instance in parts.instances.items():
                clients.wait_for(20)
                before = instance.workers()
                assert parts.stop(name) == 0
                clients.wait_for(20)  # the other one serves alone
                parts.start(name)
                instance.wait_for_new(before)
            clients.wait_for(100)
    assert clients.failed == []
