"""Thresholds: the grammar, and what fails."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.analysis.across import across
from lab.analysis.health import gravest
from lab.analysis.judging import (
    PlannedThroughput,
    ThresholdOutcome,
    exit_code,
    judge_across,
    judge_ratio,
    judge_run,
)
from lab.analysis.summary import summarise
from lab.analysis.thresholds import check, parse
from lab.errors import UsageError
from lab.model.comparison import Estimate
from lab.model.plan import Load, Role
from lab.report.thresholds import why
from tests.kit import builders as make

SPEEDS = {"a": (2000, 4e-4), "b": (2000, 4e-4)}


def test_a_threshold_is_a_metric_two_profiles_and_a_limit():
    """Blanks are free."""
    threshold = parse(" cpu( tuned /max-worker-lifetime)>=1.05 ")
    assert (threshold.metric, threshold.profile, threshold.against) == (
        "cpu",
        "tuned",
        "max-worker-lifetime",
    )
    assert (threshold.op, threshold.limit, threshold.text) == (">=", 1.05, threshold.text.strip())


def test_rps_is_throughput():
    """The field's short form."""
    assert parse("rps(a/b) < 1").metric == "throughput"


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("", 0, "expected a metric"),
        ("cpu tuned", 4, "expected ( and a profile"),
        ("cpu()", 4, "expected a profile's name"),
        ("cpu(tuned", 9, "expected / and the profile to divide by, or )"),
        ("cpu(tuned/) > 1", 9, "expected / and the profile"),
        ("cpu(tuned/a) = 1", 13, "expected one of > >= < <="),
        ("cpu(tuned/a) >", 14, "expected a number"),
        ("cpu(tuned/a) >=", 15, "expected a number"),
        ("cpu(tuned/a) > 1 2", 17, "expected nothing more"),
        ("cpus(tuned/a) > 1", 0, "there is no metric cpus; did you mean cpu?"),
        ("cpu(tuned) > 1", 9, "an absolute value depends on the machine"),
        ("drops(tuned/a) > 1", 12, "drops is a count, usually 0, and has no ratio"),
        ("cpu(tuned/a) > 5%", 15, "5% is no number"),
        ("cpu(tuned/a) > 0", 15, "a ratio is above 0"),
        ("drops(a) > nan", 11, "a count is 0 or more"),
    ],
)
def test_an_error_points_at_the_place(text, place, problem):
    """With what is expected there."""
    with pytest.raises(UsageError) as caught:
        parse(text)
    message, shown, caret = str(caught.value).split("\n")
    assert problem in message
    assert (shown, caret) == (f"    {text}", f"    {' ' * place}^")


def test_a_profile_that_does_not_run_is_refused_before_the_run():
    """With those that do."""
    check(parse("cpu(a/b) > 1"), ["a", "b"])
    with pytest.raises(UsageError, match=r"z is not in this run; write one of: a, b\n.*\n {10}\^"):
        check(parse("cpu(a/z) > 1"), ["a", "b"])


@pytest.mark.parametrize(
    ("text", "low", "high", "outcome"),
    [
        ("cpu(b/a) > 1.05", 1.06, 1.10, "failed"),
        ("cpu(b/a) > 1.05", 1.04, 1.10, "passed"),
        ("cpu(b/a) > 1.05", 0.90, 0.95, "passed"),
        ("cpu(b/a) > 1.01", 1.015, 1.02, "passed"),
        ("cpu(b/a) > 0.80", 0.85, 0.90, "failed"),
        ("rps(b/a) < 0.95", 0.90, 0.94, "failed"),
        ("rps(b/a) < 0.95", 0.90, 0.96, "passed"),
        ("rps(b/a) < 0.99", 0.975, 0.98, "passed"),
        ("rps(b/a) < 1.50", 1.20, 1.30, "failed"),
        ("rps(b/a) < 1.50", 1.20, 1.60, "passed"),
    ],
)
def test_only_a_whole_interval_beyond_limit_and_noise_fails(text, low, high, outcome):
    """With a floor of 3 %; a limit beyond 1 asks for a gain, which noise does not make."""
    ratio = Estimate((low * high) ** 0.5, low, high, 10)
    assert judge_ratio(parse(text), ratio, 0.03, 1.02).outcome == outcome


def test_a_pass_says_how_far_the_limit_is():
    """[0.98, 1.00] ends 5 % from 1.05, which is more than its own width."""
    judged = judge_ratio(parse("cpu(b/a) > 1.05"), Estimate(0.99, 0.98, 1.0, 10), 0.02, 1.02)
    assert why(judged).endswith("over 10 blocks: the interval ends 5.0% from 1.05")


def test_a_pass_says_what_it_could_not_have_seen():
    """An interval that holds the limit finds 1.05 x 1.15 4 times out of 5, and less seldom."""
    judged = judge_ratio(parse("cpu(b/a) > 1.05"), Estimate(1.0, 0.9, 1.11, 10), 0.02, 1.15)
    assert "the interval contains 1.05. A true ratio below 1.21 would usually" in why(judged)


def test_throughput_is_not_judged_in_an_open_loop():
    """It is the plan's for every server; CPU per request is judged."""
    speeds = {"a": (500, 2e-4), "b": (500, 4e-4)}
    summary = summarise(make.ladder_run(speeds, load=Load(connections=64, rate=500.0)))
    across_itself = across(summary, summary)
    for judged in (
        judge_run(parse("rps(b/a) < 0.95"), summary),
        judge_across(parse("rps(b/a) < 0.95"), across_itself),
    ):
        assert judged.outcome is ThresholdOutcome.UNJUDGED
        assert judged.why == PlannedThroughput()
        assert "in an open loop the plan sets the throughput" in why(judged)
    assert judge_run(parse("cpu(b/a) > 1.05"), summary).outcome is ThresholdOutcome.FAILED


def test_a_ratio_is_judged_within_a_run():
    """Twice the CPU is beyond 1.05."""
    run = make.ladder_run({"a": (2000, 2e-4), "b": (2000, 4e-4)})
    assert judge_run(parse("cpu(b/a) > 1.05"), summarise(run)).outcome is ThresholdOutcome.FAILED
    assert judge_run(parse("cpu(a/b) > 1.05"), summarise(run)).outcome is ThresholdOutcome.PASSED


def test_what_was_withheld_cannot_be_judged_and_says_why():
    """Dropped handshakes in all trials of b: no throughput, and the gate is named."""
    run = make.ladder_run(SPEEDS)
    dropped = {"listener.drops": 9.0, "tcp.TCPSynRetrans": 9.0}
    trials = tuple(
        replace(trial, readings=trial.readings | dropped) if trial.slot.arm.name == "b" else trial
        for trial in run.trials
    )
    judged = judge_run(parse("rps(b/a) < 0.5"), summarise(replace(run, trials=trials)))
    assert judged.outcome is ThresholdOutcome.UNJUDGED
    assert "b has requests/s in 0/10 trials (accept queue: 9 handshakes" in why(judged)


def counted(drops):
    """Return a run in which one trial of b, its last, has so many drops; None for no reading."""
    run = make.ladder_run(SPEEDS)
    *rest, last = (trial for trial in run.trials if trial.slot.arm.name == "b")
    readings = {key: value for key, value in last.readings.items() if key != "listener.drops"}
    if drops is not None:
        readings["listener.drops"] = drops
    others = (trial for trial in run.trials if trial.slot.arm.name != "b")
    return summarise(replace(run, trials=(*others, *rest, replace(last, readings=readings))))


@pytest.mark.parametrize(
    ("drops", "text", "outcome"),
    [
        (3.0, "drops(b) > 0", "failed"),
        (3.0, "drops(b) > 3", "passed"),
        (3.0, "drops(b) >= 3", "failed"),
        (0.0, "drops(b) > 0", "passed"),
        (None, "drops(b) > 0", "cannot be judged"),
    ],
)
def test_the_largest_count_of_any_trial_is_judged(drops, text, outcome):
    """One trial of ten with drops is drops; one without a reading leaves it open."""
    assert judge_run(parse(text), counted(drops)).outcome == outcome


def test_across_two_runs_the_change_of_the_ratio_is_judged():
    """b costs twice what a does in both runs: no change; then three times: 1.5x."""
    runs = [
        summarise(make.ladder_run({"a": (2000, 2e-4), "b": (2000, cost)}, seed=seed))
        for seed, cost in enumerate((4e-4, 4e-4, 6e-4))
    ]
    threshold = parse("cpu(b/a) > 1.1")
    assert judge_across(threshold, across(runs[0], runs[1])).outcome is ThresholdOutcome.PASSED
    assert judge_across(threshold, across(runs[0], runs[2])).outcome is ThresholdOutcome.FAILED


def test_across_two_runs_a_count_is_the_second_runs():
    """The drops that were there before are no failure now."""
    threshold = parse("drops(b) > 0")
    fixed = across(counted(3.0), counted(0.0))
    broken = across(counted(0.0), counted(3.0))
    assert judge_across(threshold, fixed).outcome is ThresholdOutcome.PASSED
    assert judge_across(threshold, broken).outcome is ThresholdOutcome.FAILED


def test_the_aa_trials_count_as_the_references_own():
    """A drop in the reference's second run is a drop of the reference."""
    run = make.ladder_run(SPEEDS)
    trials = tuple(
        replace(trial, readings=trial.readings | {"listener.drops": 1.0})
        if trial.slot.arm.role is Role.AA
        else trial
        for trial in run.trials
    )
    summary = summarise(replace(run, trials=trials))
    assert judge_run(parse("drops(a) > 0"), summary).outcome is ThresholdOutcome.FAILED


def test_a_broken_server_is_no_noise():
    """A limit that it leaves without a figure does not make its status 1 a neutral 3."""
    summary = summarise(make.ladder_run(SPEEDS))
    unjudged = [judge_run(parse("service_p99(b/a) > 9"), summary)]
    failed = [judge_run(parse("cpu(b/a) > 0.5"), summary)]
    assert exit_code(unjudged, 1) == 1
    assert exit_code(unjudged + failed, 1) == 99
    assert [gravest(*statuses) for statuses in ((0, 3), (3, 1), (1, 99), (0, 0))] == [3, 1, 99, 0]


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        (["cpu(b/a) > 3"], 0),
        (["cpu(b/a) > 0.5"], 99),
        (["p99(b/a) > 9", "cpu(b/a) > 0.5"], 99),
        (["cpu(b/a) > 3", "service_p99(b/a) > 9"], 3),
    ],
)
def test_the_exit_status_is_99_for_a_failure_and_3_for_none_to_tell(outcomes, status):
    """A failure is the gravest; a closed loop has no service time of its own."""
    summary = summarise(make.ladder_run(SPEEDS))
    assert exit_code([judge_run(parse(text), summary) for text in outcomes], 0) == status
