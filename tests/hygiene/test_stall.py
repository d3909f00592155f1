"""A stall is part of every latency that it delayed, also of requests that were not sent in it."""

from __future__ import annotations

import pytest

from lab.analysis.metrics import merged_latency, quantile
from lab.analysis.observations import observe
from lab.bench.store.folder import find_run, read_run
from tests.hygiene.conftest import write_peer
from tests.kit.lab_process import compare

RATE = 600
"""Requests per second."""


@pytest.fixture
def stalled(tmp_path, monkeypatch):
    """Return what runs a server that stalls once, after its first replies, and reads the run."""

    def conduct(stall, window, *, healthy=RATE // 2, rate=RATE, connections=4):
        monkeypatch.setenv("STALL", str(stall))
        monkeypatch.setenv("HEALTHY", str(healthy))
        peer = write_peer(tmp_path, "stalls")
        sizes = ("--blocks", "1", "--window", str(window), "--warmup", "0.1")
        load = ("--workload", "hello", "--rate", str(rate), "--connections", str(connections))
        compare("lab", "run", peer, *load, *sizes, cwd=tmp_path)
        run = read_run(find_run(tmp_path / "results", "latest"))
        assert len(run.trials) >= 2  # the profile's own, and its second run
        return run

    return conduct


@pytest.mark.slow
@pytest.mark.parametrize("stall", [0.5, 3.0])
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
    for observation in observe(stalled(60.0, 3.0, healthy=RATE)):
        assert observation.trial.windows[0].queued > RATE
        # The latter where it began before the window, so that nothing was answered at all.
        assert {finding.gate.name for finding in observation.findings} & {"cut off", "overload"}
        assert not observation.metrics.keys() & {"p50", "p90", "p99"}


@pytest.mark.slow
def test_a_stall_at_the_end_is_seen_while_connections_are_free(stalled):
    """
    What was due in it has been sent, and is queued nowhere; the higher percentiles miss it.

    A warm-up of 10 requests, 80 of the window, and nothing any more for its last 0.7 s.
    """
    for observation in observe(stalled(60.0, 1.5, healthy=90, rate=100, connections=128)):
        (window,) = observation.trial.windows
        assert window.queued == 0
        assert window.unfinished > 0.25 * window.ok > 0
        (finding,) = [
            candidate for candidate in observation.findings if candidate.gate.name == "cut off"
        ]
        assert finding.withholds >= {"p90", "p99"}
        assert not observation.metrics.keys() & finding.withholds
