"""A stall is part of every latency that it delayed, also of requests that were not sent in it."""

from __future__ import annotations

import pytest

from lab.analysis.metrics import merged_latency, quantile
from lab.analysis.observations import observe
from lab.results import find_run, read_run
from tests.hygiene.conftest import write_peer
from tests.lab_process import run

RATE = 600
"""Requests a second."""


@pytest.fixture
def stalled(tmp_path, monkeypatch):
    """Return what runs a server that stalls once, after its first replies, and reads the run."""

    def conduct(stall, window, healthy=RATE // 2):
        monkeypatch.setenv("STALL", str(stall))
        monkeypatch.setenv("HEALTHY", str(healthy))
        peer = write_peer(tmp_path, "stalls")
        sizes = ("--blocks", "1", "--window", str(window), "--warmup", "0.1", "--connections", "4")
        load = ("--workload", "hello", "--rate", str(RATE))
        done = run("lab", "run", peer, *load, *sizes, cwd=tmp_path)
        assert done.returncode in {0, 3}, done.stderr
        return read_run(find_run(tmp_path / "results", "latest"))

    return conduct


@pytest.mark.parametrize("stall", [1.0, pytest.param(3.0, marks=pytest.mark.slow)])
def test_a_stall_is_in_the_p99_of_the_plan(stalled, stall):
    """
    The p99 of an open loop is most of the stall.

    Only four requests were under way in it, so that the p99 of what was sent does not show it.
    """
    for trial in stalled(stall, stall + 1).trials:
        (window,) = trial.windows
        assert window.ok > 0.5 * RATE * (stall + 1)
        assert quantile(merged_latency(trial.windows), 0.99) > 0.7 * stall
        assert quantile(window.service, 0.99) < 0.5 * stall


@pytest.mark.slow
def test_a_stall_that_does_not_end_leaves_no_percentile(stalled):
    """All replies came before it, at once; what was due since is in none of them."""
    for found in observe(stalled(60.0, 3.0, healthy=RATE)):
        assert found.trial.windows[0].queued > RATE
        # The latter where it began before the window, so that nothing was answered at all.
        assert {each.gate for each in found.findings} & {"cut off", "overload"}
        assert not found.metrics.keys() & {"p50", "p90", "p99"}
