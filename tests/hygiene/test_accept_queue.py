"""A thousand clients at once, before a server that lets a hundred wait: the queue is the cause."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace

import pytest

from lab.analysis.diagnose import causes
from lab.analysis.gates import judge
from lab.analysis.observations import observed
from lab.bench.store import environment
from lab.model.plan import Load
from studies.selftest.cases import CASES
from studies.selftest.run import measure
from studies.selftest.surroundings import own_network

CROWD = Load(connections=1000, keepalive=False, timeout=30.0)
"""Each client connects for each request."""

WINDOW = 1.5
"""Seconds: longer than the kernel waits before it sends a handshake again, which is one."""


@pytest.fixture
def alone():
    """
    Enter a network of this test's own, if that is allowed; return whether it was.

    Other servers of the same network may hide its drops, see `lab.bench.probes.sockets`.
    """
    with ThreadPoolExecutor(1) as thread:  # which may be unable to come back from there
        allowed = thread.submit(_visit).exception() is None
    with own_network() if allowed else nullcontext():
        yield allowed


def _visit():
    with own_network():
        pass


@pytest.mark.costly
@pytest.mark.alone
def test_a_crowd_that_finds_the_queue_full_is_told_as_such(alone):
    """First of all causes, with the handshakes that were dropped, and no percentile is shown."""
    (planted,) = (candidate for candidate in CASES if candidate.name == "accept queue")
    # One CPU would do, too: who drops a handshake is the kernel.
    cores = environment.split_cores()
    case = replace(planted, load=CROWD, window=WINDOW, pin=cores is not None)
    plan = case.plan()
    assert dict(plan.profiles[0].options)["listen"] == "100"
    *_, trial = measure(case, plan, cores)
    # What others took of the CPU would void a trial, and drops no handshake.
    kept = {
        name: reading for name, reading in trial.readings.items() if not name.startswith("machine.")
    }
    trial = replace(trial, readings=kept)
    if not alone and "listener.drops" not in trial.readings:
        pytest.skip("other servers of this network were too busy to tell whose handshakes dropped")
    assert trial.readings["listener.drops"] > 0
    trial_causes = causes(observed(trial))
    assert trial_causes[0].name == "accept queue"
    dropped = f"{trial.readings['listener.drops']:,.0f} handshakes dropped from a full accept queue"
    assert trial_causes[0].evidence.startswith(dropped)
    (finding,) = [candidate for candidate in judge(trial) if candidate.gate.name == "accept queue"]
    assert finding.withholds >= {"throughput", "p50", "p90", "p99"}
