"""The gates on a load from other hosts, each with a trial that fires it, and one just below."""

import pytest

from lab.analysis.gates import judge
from tests.kit import builders as make

TIME_BASED = {"p50", "p90", "p99", "service_p99", "throughput"}


def far(**changes):
    """Return a window of a worker on another host."""
    return make.window(**({"host": "load-1", "rtt": 0.0002} | changes))


def found(*windows, **readings):
    """Return gate -> withheld metrics."""
    trial = make.trial(*windows, readings=make.READINGS | readings)
    return {
        finding.gate.name: set(finding.withholds) for finding in judge(trial) if finding.withholds
    }


@pytest.mark.parametrize(("skew", "fires"), [(0.040, False), (0.041, True)])
def test_windows_that_may_not_overlap_have_no_throughput(skew, fires):
    """Above 2 % of a window their rates do not add up; all else stays."""
    windows = far(), far(host="load-2", skew=skew)
    assert found(*windows) == ({"window skew": {"throughput"}} if fires else {})


def test_the_host_that_was_told_late_is_named():
    """With how long it took, and what to do."""
    trial = make.trial(far(), far(host="load-2", skew=0.31))
    (finding,) = judge(trial)
    assert "an order to load-2 and its answer took 0.31 s, of a window of 2 s" in finding.reason
    assert "--window" in finding.advice


def test_one_window_overlaps_with_itself():
    """Whatever it took to order it."""
    assert found(far(skew=1.0)) == {}


LOST = {"latency": {31_000: 3990, 2_000_000: 10}}


@pytest.mark.parametrize(
    ("window", "readings", "fires"),
    [
        (far(**LOST), {"tcp.RetransSegs": 5.0}, True),
        (far(**LOST), {"tcp.RetransSegs": 4.0}, False),
        (far(**LOST), {"tcp.RetransSegs": 5.0, "listener.drops": 1.0}, False),
        (far(latency={31_000: 3999, 2_000_000: 1}), {"tcp.RetransSegs": 5.0}, False),
        (make.window(**LOST), {"tcp.RetransSegs": 5.0}, False),
    ],
    ids=["lost", "an application that waits", "drops", "1.6 % of the time", "over loopback"],
)
def test_packets_that_were_lost_on_the_way(window, readings, fires):
    """Late replies and as many segments sent again: the time is a timer's."""
    gates = found(window, **readings)
    assert gates.get("link") == (TIME_BASED | {"cpu_vs_generator"} if fires else None)


@pytest.mark.parametrize(
    ("rtt", "fires"), [(0.0002, True), (0.0101, False), (0.0205, False), (0.030, True)]
)
def test_what_takes_a_few_round_trips_waits_for_no_timer(rtt, fires):
    """Replies of 41 ms are two round trips of 20.5 ms; at 30 ms they are none."""
    window = far(rtt=rtt, latency={41_000: 3950, 45_000: 50})
    calm = {"server.cpu_user": 0.5, "server.cpu_system": 0.1, "server.busiest": 0.3}
    delayed = {"tcp.DelayedACKs": 4000.0}
    assert ("quantised" in found(window, **calm, **delayed)) is fires
