"""From windows and readings to metrics."""

import pytest

from lab.analysis.metrics import derive, quantile
from lab.model.plan import Load
from tests.kit import builders as make

TIMED = Load()
OPEN = Load(rate=2000)
COUNTED = Load(connections=500, keepalive=False, requests=5000)


def test_a_timed_trial_gives_every_metric():
    """Rates are over the clock that counted them: 2 s of window, 2.1 s of readings."""
    assert derive(make.under(make.trial(), load=TIMED)) == pytest.approx(
        {
            "throughput": 2000.0,
            "served": 2000.0,
            "cpu": 1.89 / 2.1 / 2000,
            "capacity": 2000 / 0.9,
            "cpu_vs_generator": (1.89 / 2.1) / (0.6 / 2.0),
            "p50": 0.031,
            "p90": 0.031,
            "p99": 0.040,
            "memory": 40e6,
            "switches": 42 / 2.1 / 2000,
            "drops": 0.0,
            "errors": 0.0,
            "retried": 0.0,
        }
    )


def test_generator_processes_are_added_each_over_its_own_clock():
    """Two processes whose windows differ in length give the sum of their rates."""
    windows = (make.window(wall=2.0, ok=4000, cpu=0.5), make.window(wall=4.0, ok=4000, cpu=2.0))
    metrics = derive(make.under(make.trial(*windows), load=TIMED))
    assert metrics["throughput"] == 3000
    assert metrics["cpu_vs_generator"] == pytest.approx(0.9 / 0.75)


def test_a_counted_load_divides_totals():
    """The silence after the last reply costs a counted load nothing."""
    trial = make.trial(make.window(ok=5000, wall=2.5))
    metrics = derive(make.under(trial, load=COUNTED))
    assert metrics["cpu"] == pytest.approx(1.89 / 5000)
    assert metrics["cpu_vs_generator"] == pytest.approx(1.89 / 0.6)
    assert metrics["switches"] == pytest.approx(42 / 5000)


def test_p99_needs_a_thousand_replies():
    """With 999 replies there is a median and no 99th percentile."""
    few = make.window(ok=999, latency={31_000: 999})
    enough = make.window(ok=1000, latency={31_000: 1000})
    assert derive(make.under(make.trial(few), load=TIMED)).keys() & {"p50", "p99"} == {"p50"}
    assert derive(make.under(make.trial(enough), load=TIMED))["p99"] == 0.031


def test_service_time_is_a_metric_of_the_open_loop_only():
    """Its p99 comes from its own histogram, and needs 1,000 replies in it."""
    few = make.window(service={5_000: 999})
    enough = make.window(service={5_000: 3950, 9_000: 50})
    assert "service_p99" not in derive(make.under(make.trial(), load=TIMED))
    assert "service_p99" not in derive(make.under(make.trial(few), load=OPEN))
    metrics = derive(make.under(make.trial(enough), load=OPEN))
    assert (metrics["service_p99"], metrics["p99"]) == (0.009, 0.040)
    assert metrics["throughput"] == 2000


def test_replaced_workers_are_counted_where_they_were_read():
    """A reading that was not taken is no count of 0."""
    assert "respawns" not in derive(make.under(make.trial(), load=TIMED))
    read = derive(make.under(make.trial(readings={"server.respawned": 3.0}), load=TIMED))
    assert read["respawns"] == 3


def test_what_was_not_read_is_absent_and_not_zero():
    """Without readings only what the generator counted is there."""
    metrics = derive(make.under(make.trial(readings={}), load=TIMED))
    assert metrics.keys() == {
        "throughput", "served", "errors", "retried", "p50", "p90", "p99",
    }  # fmt: skip


def test_a_trial_without_a_window_has_no_metrics():
    """A server that did not start has no throughput, not a throughput of 0."""
    assert derive(make.under(make.trial(windows=()), load=TIMED)) == {}


def test_without_replies_there_is_no_cost_of_a_reply():
    """A window in which every request failed has a throughput of 0 and no CPU per request."""
    dead = make.window(ok=0, errors={"refused": 10}, latency={}, latency_sum=0.0)
    metrics = derive(make.under(make.trial(dead), load=TIMED))
    assert metrics["throughput"] == 0
    assert metrics["errors"] == 10
    assert not metrics.keys() & {"cpu", "p50", "switches", "cpu_vs_generator"}


@pytest.mark.parametrize(
    ("q", "seconds"),
    [(0.01, 1e-6), (0.5, 5e-5), (0.99, 9.9e-5), (1, 1e-4), (0.07, 7e-6), (0.071, 8e-6)],
)
def test_a_quantile_is_the_reply_of_that_rank(q, seconds):
    """Of 100 replies of 1 to 100 us, the quantile q is the one of rank 100 q, rounded up."""
    assert quantile(dict.fromkeys(range(1, 101), 1), q) == seconds


def test_a_backend_is_a_part_of_what_a_request_costs():
    """It runs on the server's cores: `system` is the CPU of both, by which these have capacity."""
    metrics = derive(make.under(make.trial(readings=make.READINGS | {"backend.cpu": 2.1})))
    assert metrics["cpu"] == pytest.approx(0.9 / 2000)
    assert metrics["system"] == pytest.approx(1.9 / 2000)
    assert metrics["capacity"] == pytest.approx(2000 / 1.9)
    assert "system" not in derive(make.under(make.trial()))
