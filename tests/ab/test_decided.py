"""When a run of two versions ends: each limit is crossed beyond doubt, or excluded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.analysis.ending import blocks_to_tell, is_over
from lab.analysis.judging import (
    FAILED,
    UNJUDGED,
    Judgement,
    RatioReading,
    Reach,
    ThresholdOutcome,
    is_excluded,
    judge_run,
)
from lab.analysis.summary import summarise
from lab.analysis.sweep import conclude_run
from lab.analysis.thresholds import parse
from lab.analysis.warning import Noise
from lab.bench.trials.minutes import with_minutes
from lab.model.comparison import Comparison, Estimate, MayBe, Verdict
from studies.judges.own import ending
from tests.kit import builders as make


def ends(run, *limits, metric="cpu"):
    """Return how a run of two versions ends that has these limits."""
    return ending(replace(run, plan=replace(run.plan, thresholds=limits, deciding=metric)))


@pytest.mark.parametrize(
    ("cpu", "limit", "over"),
    [(1.00, 1.10, True), (1.30, 1.10, True), (1.10, 1.10, False)],
    ids=["excluded", "crossed", "open"],
)
def test_a_run_ends_when_its_limit_is_decided(cpu, limit, over):
    """And goes on while the interval holds the limit."""
    run = make.ladder_run({"old": (2000, 1e-4), "new": (2000, cpu * 1e-4)}, noise=0.02)
    judgement = judge_run(parse(f"cpu(new/old) > {limit}"), summarise(run))
    assert is_over([summarise(run)], [judgement]) is over


def test_every_limit_has_to_be_decided():
    """One that is open keeps the run going."""
    run = make.ladder_run({"old": (2000, 1e-4), "new": (2000, 1.1e-4)}, noise=0.02)
    summary = summarise(run)
    limits = [judge_run(parse(f"cpu(new/old) > {limit}"), summary) for limit in (1.5, 1.1)]
    assert is_over([summary], limits[:1])
    assert not is_over([summary], limits)


@pytest.mark.parametrize(
    ("cpu", "limit", "blocks", "status"),
    [(1.00, 1.10, 6, 0), (1.30, 1.10, 6, FAILED), (1.10, 1.10, 10, UNJUDGED)],
    ids=["excluded", "crossed", "open"],
)
def test_recorded_trials_are_judged_as_a_run_is(cpu, limit, blocks, status):
    """They say after which of their blocks it would have ended, and with what."""
    run = make.ladder_run({"old": (2000, 1e-4), "new": (2000, cpu * 1e-4)}, noise=0.01)
    plan = replace(with_minutes(run.plan, 60), against_both=True, deciding="cpu")
    end = ends(replace(run, plan=plan, ended=True), f"cpu(new/old) > {limit}")
    assert (end.blocks, end.status) == (blocks, status)


def recorded(cpu, noise, *, speed=1.0, blocks=10, seed=1):
    """Return trials of both versions, as of a run of minutes; *cpu* and *speed* are new / old."""
    speeds = {"old": (2000, 1e-4), "new": (2000 * speed, cpu * 1e-4)}
    run = make.ladder_run(speeds, noise=noise, blocks=blocks, seed=seed)
    plan = replace(with_minutes(run.plan, 60), against_both=True, deciding="cpu")
    return replace(run, plan=plan, ended=True)


@pytest.mark.parametrize(
    ("metric", "blocks"), [("cpu", 6), ("throughput", 10)], ids=["decided", "open"]
)
def test_without_a_limit_the_metric_ends_the_run(metric, blocks):
    """CPU is worse beyond doubt after six blocks; throughput is 5 % less, and stays open."""
    assert ends(recorded(1.4, 0.03, speed=0.95), metric=metric).blocks == blocks


def test_nothing_above_5_percent_is_an_answer():
    """As it is for `lab run`."""
    end = ends(recorded(1.0, 0.005))
    assert (end.blocks, end.status) == (6, 0)


def test_what_is_decided_needs_no_quieter_machine():
    """The noise check fails for want of blocks: that makes a 3 only of a limit that is open."""
    run = recorded(1.0, 0.06)
    assert summarise(run).exit_code == UNJUDGED
    assert ends(run, "cpu(new/old) > 1.5").status == 0
    assert ends(run, "cpu(new/old) > 1.02").status == UNJUDGED


@pytest.mark.costly
def test_the_same_twice_is_never_red():
    """In 30 runs of 3 % noise, at a limit of 2 %."""
    for seed in range(30):
        run = recorded(1.0, 0.03, seed=seed)
        assert ends(run, "cpu(new/old) > 1.02").status != FAILED


def test_ten_percent_more_cpu_is_found():
    """In 10 of 10 runs of 2 % noise and 13 blocks, at a limit of 5 %."""
    for seed in range(10):
        run = recorded(1.1, 0.02, blocks=13, seed=seed)
        assert ends(run, "cpu(new/old) > 1.05").status == FAILED


def test_a_limit_within_the_noise_is_open():
    """New needs more than the limit, and no more than noise may make of two that are alike."""
    ratio = Estimate(1.03, 1.02, 1.04, 6)
    seen = RatioReading(ratio, Reach.NOISE, 0.05)
    assert not is_excluded(Judgement(parse("cpu(new/old) > 1.01"), ThresholdOutcome.PASSED, seen))


def test_green_says_that_the_limit_is_excluded():
    """Of two versions; of two settings it is that the limit is not crossed."""
    versions = recorded(1.1, 0.02)
    settings = replace(versions, plan=replace(versions.plan, deciding=None))
    limit = parse("cpu(new/old) > 1.1")
    assert judge_run(limit, summarise(versions)).outcome is ThresholdOutcome.OPEN
    assert judge_run(limit, summarise(settings)).outcome is ThresholdOutcome.PASSED


@pytest.mark.parametrize(
    ("cpu", "limits", "status"),
    [
        (1.0, ["cpu(new/old) > 1.5"], 0),
        (1.0, ["cpu(new/old) > 1.02"], UNJUDGED),
        (1.9, ["cpu(new/old) > 1.5"], FAILED),
        (1.9, [], 0),
        (1.0, [], UNJUDGED),
        (1.0, ["errors(new) > 0"], 0),
    ],
)
def test_a_stored_run_ends_as_it_did(cpu, limits, status):
    """Whoever reads it later: with its limits, or by its metric, on a machine that is noisy."""
    run = recorded(cpu, 0.06)
    kept = summarise(replace(run, plan=replace(run.plan, thresholds=tuple(limits))))
    conclusion = conclude_run([kept])
    assert (kept.exit_code, conclusion.status) == (UNJUDGED, status)
    (noise,) = (warning for warning in conclusion.points[0].warnings if isinstance(warning, Noise))
    assert noise.decides is (status == UNJUDGED)


@pytest.mark.costly
def test_what_is_open_says_how_long_it_would_take():
    """By chance half of the runs take longer; at the limit itself nobody knows."""
    limit, decisions = "cpu(new/old) > 1.1", []
    for seed in range(40):
        run = recorded(1.05, 0.06, seed=seed)
        (judgement,) = ends(run, limit).judgements
        blocks = (
            blocks_to_tell(judgement, run) if judgement.outcome is ThresholdOutcome.OPEN else None
        )
        if blocks is not None and blocks <= 40:
            longer = recorded(1.05, 0.06, blocks=blocks, seed=100 + seed)
            decisions.append(ends(longer, limit).status != UNJUDGED)
    assert len(decisions) >= 10
    assert sum(decisions) >= 0.4 * len(decisions)
    (judgement,) = ends(run, limit).judgements
    at_it = parse(f"cpu(new/old) > {judgement.why.ratio.value}")
    assert blocks_to_tell(judge_run(at_it, summarise(run)), run) is None


@pytest.mark.parametrize(
    ("may_be", "is_it"), [(MayBe.LARGER, True), (MayBe.SMALLER, False), (MayBe.EITHER, False)]
)
def test_a_bound_excludes_what_lies_on_its_other_side(may_be, is_it):
    """Where the load kept old from being faster, new may be slower than it looks."""
    ratio = Estimate(1.0, 0.99, 1.01, 6)
    seen = RatioReading(ratio, Reach.SHORT, 0.01)
    bound = Comparison("throughput", "old", "new", Verdict.NO_DIFFERENCE, ratio, may_be=may_be)
    limit = parse("throughput(new/old) < 0.9")
    assert is_excluded(Judgement(limit, ThresholdOutcome.PASSED, seen, bound)) is is_it
