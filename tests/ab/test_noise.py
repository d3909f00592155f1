"""`lab check --noise`: what `lab ab` can find on a machine."""

from __future__ import annotations

import json
import math
import random
import statistics
from dataclasses import replace

import pytest

from lab.analysis.judging import FAILED
from lab.analysis.summary import summarise
from lab.bench.trials.minutes import with_minutes
from lab.bench.trials.noise import of_metric, pair_of, sensitivity
from lab.bench.trials.pair import NEW, OLD
from lab.cli.ab.noise import lines
from lab.model.plan import Role
from studies.judges.own import ending
from tests.kit import builders as make
from tests.kit.lab_process import run


def alone(spread, blocks=40):
    """Return a run of one server, twice in every block, whose trials have this spread."""
    chance = random.Random(1)
    profile = make.profile("safety")
    trials = [
        make.paced(
            2000 * chance.lognormvariate(0, spread), 1e-4 * chance.lognormvariate(0, spread),
            block=block, position=position, of=profile, role=role,
            started_at=4.0 * (2 * block + position),
        )
        for block in range(blocks)
        for position, role in enumerate((Role.PROFILE, Role.AA))
    ]  # fmt: skip
    plan = with_minutes(make.plan(profile), 60)
    return make.run(plan, trials, ended=True)


def cpu_of(spread):
    """Return what is said of CPU per request."""
    noise = statistics.NormalDist(0, spread).quantiles(200)
    return of_metric(pair_of(alone(spread).plan), "cpu", noise, 50)


@pytest.fixture(scope="module")
def found():
    """Return what is found on a machine of 3 % noise."""
    return sensitivity(summarise(alone(0.03)))


@pytest.mark.costly
def test_the_spread_is_that_of_a_trial(found):
    """And not that of a pair, which is 1.41 times as large; a trial is as long as it was."""
    assert (found.blocks, found.seconds, found.within) == (40, pytest.approx(4.0), 50)
    spreads = {metric_noise.metric: metric_noise.spread for metric_noise in found.metrics}
    assert spreads["cpu"] == pytest.approx(0.03, rel=0.25)
    assert spreads["throughput"] == pytest.approx(0.03, rel=0.25)


@pytest.mark.slow
def test_a_noisier_machine_finds_less_and_needs_a_wider_limit():
    """The figures are those of the rule itself, so they are held to what it does."""
    quiet, noisy = cpu_of(0.02), cpu_of(0.09)
    assert quiet.smallest < noisy.smallest
    assert quiet.limit < noisy.limit < noisy.crossed + 1


@pytest.mark.slow
def test_what_it_says_of_a_limit_is_what_lab_ab_does():
    """Of 8 runs with the change that crosses it most are red, and none without a change is."""
    noise = cpu_of(0.04)
    limits = (f"cpu({NEW}/{OLD}) > {noise.limit}",)
    red = {0.0: 0, noise.crossed + 0.01: 0}
    for change in red:
        for seed in range(8):
            speeds = {OLD: (2000, 1e-4), NEW: (2000, 1e-4 * (1 + change))}
            made = make.ladder_run(speeds, noise=noise.spread, blocks=50, seed=seed)
            plan = replace(with_minutes(made.plan, 60), against_both=True, deciding="cpu")
            plan = replace(plan, thresholds=limits)
            red[change] += ending(replace(made, plan=plan, ended=True)).status == FAILED
    assert red[0.0] == 0
    assert red[noise.crossed + 0.01] >= 5


@pytest.mark.costly
def test_trials_that_are_slow_now_and_then_are_taken_for_what_they_are():
    """They weigh less in what `lab ab` says, so more is found than among as wide a noise."""
    plan = pair_of(alone(0.03).plan)
    slow = [*statistics.NormalDist(0, 0.02).quantiles(36), *([0.3, -0.3] * 2)]
    metric_noise = of_metric(plan, "cpu", slow, 50)
    assert metric_noise.spread > 0.09
    assert metric_noise.smallest < cpu_of(metric_noise.spread).smallest


def test_it_is_said_in_lines(found):
    """A metric a paragraph, with the limit to write."""
    text = "\n".join(lines(found))
    assert text.startswith("safety, twice in each of 40 blocks, a trial every 4.0 s. In 10 minutes")
    assert "in CI: --fail-if 'cpu > 1.0" in text
    assert "in CI: --fail-if 'throughput < 0.9" in text


def test_too_short_a_time_is_refused_with_the_least(tmp_path):
    """Six blocks."""
    done = run("lab", "check", "--noise", "10s", cwd=tmp_path)
    assert done.returncode == 2
    assert "at least 1m" in done.stderr


@pytest.mark.slow
def test_the_noise_of_this_machine_is_measured(tmp_path):
    """By real trials of a real server."""
    done = run("lab", "check", "--noise", "1m", "--window", "1", "--json", cwd=tmp_path)
    assert done.returncode in {0, 3}, done.stderr
    metrics = json.loads(done.stdout)["metrics"]
    cpu = [metric for metric in metrics if metric["metric"] == "cpu"]
    assert cpu or done.returncode == 3  # beside other work no trial may count
    assert all(0 < metric["spread"] < 1 and math.isfinite(metric["floor"]) for metric in cpu)
