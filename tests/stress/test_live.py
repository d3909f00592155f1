"""Each fault is really planted: of a real server, what cannot be so unless it was."""

import re
from dataclasses import replace

import pytest

from lab.cli.stress import faults
from lab.cli.stress.target import Target
from tests.kit.running import read_installed, running

from .planted import NAMED, plant


def test_clients_wait_while_slow_ones_hold_every_worker(monkeypatch):
    """Of a uWSGI without a front: it reads headers in its workers, as long as they come."""
    monkeypatch.setattr(faults, "SLOW_SECONDS", 1.0)
    outcome = plant("slow-clients", "tuned")
    assert outcome.effect
    assert outcome.counts.late > 0


@pytest.mark.slow
def test_a_worker_that_outlives_the_trial_is_no_effect(monkeypatch):
    """Nothing was recycled then, and a row without a loss must not look like a good one."""
    monkeypatch.setattr(faults, "LIFETIME", -3.7)  # it is waited for 4 s longer
    outcome = plant(replace(NAMED["recycle"], options=()), "tuned")
    assert not outcome.effect
    assert outcome.replaced == 0
    assert "no worker was replaced" in outcome.note


@pytest.mark.slow
def test_more_clients_come_than_the_accept_queue_holds():
    """The kernel drops the handshakes of some, which come again a second later."""
    outcome = plant("accept-queue", "baseline")
    assert outcome.burst.attempted == faults.QUEUE
    assert re.search(r"[1-9][\d,]* handshakes dropped", outcome.note) or outcome.counts.late > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["chain-reload", "recycle-delta"])
def test_each_worker_is_replaced(name):
    """Once: by a touched file, or at the end of its life."""
    outcome = plant(name, "tuned")
    assert outcome.effect
    assert outcome.note == ""
    assert outcome.replaced == 2


@pytest.mark.slow
def test_every_command_is_drained():
    """Not the front alone: whatever the profile started has ended."""
    read_installed("production")
    ended = []

    def drain(target):
        seen = faults.drain(target)
        ended.extend(target.has_ended(index)() for index in range(len(target.programs)))
        return seen

    outcome = plant(replace(NAMED["drain"], plant=drain), "production")
    assert ended == [True, True, True]
    assert outcome.note == ""
    assert outcome.counts.turned_away > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["balanced-nginx", "balanced-uwsgi", "production"])
def test_behind_a_balancer_a_killed_server_costs_no_wrong_reply(name):
    """The other one answers, and the killed one is asked again when it is back."""
    read_installed(name)
    outcome = plant("kill-backend", name)
    assert outcome.effect
    assert outcome.counts.wrong == 0
    assert outcome.counts.lost <= faults.BUSY  # what it had taken
    assert re.search(r"it was asked again within [\d.]+ s", outcome.note)


@pytest.mark.parametrize(
    ("name", "backends"), [("nginx-uwsgi", [1]), ("nginx-gunicorn-tcp", [1]), ("tuned", [])]
)
def test_what_stands_behind_the_one_that_clients_ask_is_known(name, backends, tmp_path):
    """By who listens where they ask, whatever it is called."""
    read_installed(name)
    with running(name, folder=tmp_path) as server:
        assert Target(server.server, tmp_path).backends() == backends
