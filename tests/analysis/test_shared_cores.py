"""Server and load on the same cores: what they served and what CPU allows bound what is said."""

import json
from dataclasses import replace

import pytest

from lab.analysis.comparable import MismatchError, require_comparable
from lab.analysis.conclude import conclude
from lab.analysis.gates import judge
from lab.analysis.gates.common import at_limit, server_cores
from lab.analysis.judging import ThresholdOutcome, judge_run
from lab.analysis.observations import observed
from lab.analysis.summary import summarise
from lab.analysis.sweep import conclude_run
from lab.analysis.thresholds import parse
from lab.model.comparison import Verdict
from lab.model.plan import Load
from lab.report import html_page, markdown, summary_json, terminal
from lab.report.thresholds import why
from tests.kit import builders as make

SHARED = {"server.cores": 2.0, "machine.cores": 2.0, "cores.shared": 1.0, "server.idle": 0.1}
TIME = {"throughput", "p50", "p90", "p99", "service_p99"}
ARMS = {"a": (10_600, 142e-6), "b": (7_730, 203e-6)}
"""Requests/s that were served, and seconds of the server's CPU for each."""


def shared(speeds=ARMS, readings=SHARED, blocks=4, noise=0.0):
    """Return a run of *speeds* whose load ran on the server's cores."""
    run = make.ladder_run(speeds, blocks=blocks, noise=noise)
    trials = (replace(trial, readings=trial.readings | readings) for trial in run.trials)
    return replace(run, trials=tuple(trials))


def withheld(trial):
    """Return gate -> what it withholds."""
    return {finding.gate.name: finding.withholds for finding in judge(trial)}


def test_a_ratio_lies_between_what_was_served_and_what_the_cores_have_cpu_for():
    """7,730 / (2 / 142 us) = 0.549 at the least, (2 / 203 us) / 10,600 = 0.929 at the most."""
    comparison = summarise(shared()).steps[0].step["throughput"]
    assert comparison.ratio is None
    assert comparison.between.low == pytest.approx(7_730 * 142e-6 / 2, rel=1e-3)
    assert comparison.between.high == pytest.approx(2 / 203e-6 / 10_600, rel=1e-3)
    assert (comparison.between.n, comparison.verdict) == (4, Verdict.WORSE)


def test_the_ends_are_those_of_the_intervals():
    """Noise moves them apart, never towards each other."""
    calm, noisy = (
        summarise(shared(noise=noise)).steps[0].step["throughput"].between for noise in (0, 0.05)
    )
    assert noisy.low < calm.low < calm.high < noisy.high


def test_no_verdict_beyond_what_both_ends_allow():
    """2,000 / (2 / 800 us) = 0.8 and (2 / 800 us) / 2,000 = 1.25: better, worse or the same."""
    comparisons = summarise(shared({"a": (2000, 800e-6), "b": (2000, 800e-6)})).steps[0].step
    between = comparisons["throughput"].between
    assert (between.low, between.high) == pytest.approx((0.8, 1.25), rel=1e-3)
    assert comparisons["throughput"].verdict is Verdict.INCONCLUSIVE
    assert comparisons["cpu"].ratio.value == pytest.approx(1)


def test_every_form_of_the_report_says_the_ends_and_no_ratio():
    """In the tables of changes; what was served stands as the least in that of measurements."""
    summary = summarise(shared())
    for text in (
        markdown.render(conclude_run([summary])),
        terminal.render(conclude(summary)),
        html_page.render(conclude(summary)),
    ):
        assert "between 0.549x and 0.929x, worse" in text
        assert "at least 10,600" in text
        assert "shared cores" in text
    step = json.loads(summary_json.render(conclude_run([summary])))["steps"][0]["step"][
        "throughput"
    ]
    assert "ratio" not in step
    assert step["between"]["high"] == pytest.approx(0.929, abs=1e-3)


def test_the_arrangement_is_in_the_plan_of_the_report():
    """Which CPUs each had."""
    run = shared()
    plan = replace(run.plan, server_cores="0-1", generator_cores="1")
    text = markdown.render(conclude_run([summarise(replace(run, plan=plan))]))
    assert "generator: engine; server on 0-1, load on 1, shared cores" in text


@pytest.mark.parametrize(
    ("load", "cpu", "expected"),
    [
        (Load(64), 0.2, TIME),
        (Load(64, rate=2000.0), 0.4, None),
        (Load(64, rate=2000.0), 0.6, TIME - {"throughput"}),
        (Load(64, rate=9000.0), 0.2, TIME),
    ],
    ids=["closed loop", "small load", "a quarter of a core", "rate not kept"],
)
def test_a_load_on_the_servers_cores_withholds_time(load, cpu, expected):
    """Not of an open loop that keeps its rate with little CPU: 0.4 s of 2 are 0.2 cores."""
    planned = {} if load.rate is None else {"planned": round(load.rate * 2), "unfinished": 0}
    window = make.window(cpu=cpu, service={31_000: 4000}, latency={31_000: 4000}, **planned)
    if load.rate == 9000:
        window = replace(window, queued=9000, latency={900_000: 4000})
    trial = make.trial(window, load=load, readings=make.READINGS | SHARED)
    assert withheld(trial).get("shared cores") == expected


@pytest.mark.parametrize(
    ("readings", "is_shared"),
    [
        ({"server.cores": 1.0, "machine.cores": 2.0}, False),
        ({"server.cores": 1.0, "machine.cores": 2.0, "cores.shared": 0.0}, False),
        ({"server.cores": 2.0, "machine.cores": 2.0, "cores.shared": 1.0}, True),
        ({"machine.cores": 2.0}, True),
        ({}, False),
    ],
    ids=["before", "apart", "named for both", "not pinned", "not read"],
)
def test_who_shares_cores(readings, is_shared):
    """Both were given one, or neither was pinned; earlier runs say so by what they lack."""
    assert make.trial(readings=readings).shares_cores is is_shared


def test_idle_cores_are_said():
    """More than a tenth of them: then the server was limited by something else, too."""
    for idle, expected in ((0.2, False), (0.21, True)):
        trial = make.trial(readings=make.READINGS | SHARED | {"server.idle": idle})
        (finding,) = judge(trial)
        assert ("was idle, so CPU alone was not the limit" in finding.reason) is expected


def test_a_server_that_shares_its_cores_had_what_it_used_and_what_stood_idle():
    """0.9 cores used and 0.05 idle: it is at its limit, although two cores are its own."""
    trial = make.trial(readings=make.READINGS | SHARED | {"server.idle": 0.05, "server.busiest": 0})
    assert server_cores(trial) == pytest.approx(1.0)  # half of them at the least
    assert at_limit(trial)
    apart = replace(trial, readings=trial.readings | {"cores.shared": 0.0})
    assert server_cores(apart) == 2.0
    assert not at_limit(apart)


LIMITED = {"cpu": 1.9, "wait": 0.1}
IDLE = {"server.cpu_user": 0.6, "server.cpu_system": 0.2, "server.busiest": 0.3}


@pytest.mark.parametrize(
    ("window", "readings", "gate", "kept"),
    [
        (LIMITED, IDLE, "generator-bound", {"served", "capacity"}),
        ({}, SHARED, "shared cores", {"served", "capacity"}),
        ({}, {"listener.drops": 400.0, "tcp.TCPSynRetrans": 300.0}, "accept queue", {"capacity"}),
    ],
)
def test_what_was_served_stands_where_the_limit_is_somebody_elses(window, readings, gate, kept):
    """Handshakes that the server dropped are its own."""
    trial = make.trial(make.window(**window), readings=make.READINGS | readings)
    seen = observed(trial)
    assert gate in {finding.gate.name for finding in seen.findings}
    assert "throughput" not in seen.metrics
    assert seen.metrics.keys() & {"served", "capacity"} == kept


def test_a_limit_on_throughput_cannot_be_judged():
    """Two ends are no interval of a ratio."""
    judgement = judge_run(parse("rps(b/a) < 0.95"), summarise(shared()))
    assert judgement.outcome is ThresholdOutcome.UNJUDGED
    assert "shared cores" in why(judgement)


def test_runs_with_and_without_shared_cores_are_not_compared():
    """`lab compare` names what differs."""
    before = shared()
    apart = shared(readings=SHARED | {"cores.shared": 0.0})
    with pytest.raises(MismatchError, match=r"cores\.shared"):
        require_comparable(before, apart)
