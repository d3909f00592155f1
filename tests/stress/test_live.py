"""Each fault is really planted: of a real server, what cannot be so unless it was."""

import re
from dataclasses import replace

import pytest

from lab import profiles
from lab.experiment.plan import arm_of
from lab.model import Load
from lab.stress import faults
from lab.stress.run import QUICK, WAITING
from lab.stress.trial import Conditions, Pace, measure
from tests.running import read_installed

SHORT = Pace(before=0.3, after=0.1, whole=0.4, stopped=0.5)


@pytest.fixture(autouse=True)
def two_workers(monkeypatch):
    """As `lab stress` has it, on a machine of any size."""
    monkeypatch.setenv("PROCESSES", "2")


def fault(name):
    """Return the fault with this name."""
    (found,) = (each for each in faults.FAULTS if each.name == name)
    return found


def plant(planted, profile):
    """Return what clients felt of a fault."""
    arm = arm_of(profiles.read(profile), WAITING, Load(64, rate=50.0, timeout=10.0))
    found = measure(planted, arm, Conditions(None, quick=QUICK, pace=SHORT))
    assert found.problem is None, found.problem
    return found


def test_clients_wait_while_slow_ones_hold_every_worker(monkeypatch):
    """Of a uWSGI without a front: it reads headers in its workers, as long as they come."""
    monkeypatch.setattr(faults, "SLOW_SECONDS", 1.0)
    found = plant(fault("slow-clients"), "tuned")
    assert found.effect
    assert found.counts.late > 0


def test_a_worker_that_outlives_the_trial_is_no_effect(monkeypatch):
    """Nothing was recycled then, and a row without a loss must not look like a good one."""
    monkeypatch.setattr(faults, "LIFETIME", -3.7)  # it is waited for 4 s longer
    found = plant(replace(fault("recycle"), options=()), "tuned")
    assert not found.effect
    assert found.replaced == 0
    assert "no worker was replaced" in found.note


@pytest.mark.slow
def test_more_clients_come_than_the_accept_queue_holds():
    """The kernel drops the handshakes of some, which come again a second later."""
    found = plant(fault("accept-queue"), "baseline")
    assert found.burst.attempted == faults.QUEUE
    assert re.search(r"[1-9][\d,]* handshakes dropped", found.note) or found.counts.late > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["chain-reload", "recycle-delta"])
def test_each_worker_is_replaced(name):
    """Once: by a touched file, or at the end of its life."""
    found = plant(fault(name), "tuned")
    assert found.effect
    assert found.note == ""
    assert found.replaced == 2


@pytest.mark.slow
def test_every_command_is_drained():
    """Not the front alone: whatever the profile started has ended."""
    read_installed("production")
    ended = []

    def drain(target):
        seen = faults.drain(target)
        ended.extend(target.has_ended(index)() for index in range(len(target.programs)))
        return seen

    found = plant(replace(fault("drain"), plant=drain), "production")
    assert ended == [True, True, True]
    assert found.note == ""
    assert found.counts.turned_away > 0
