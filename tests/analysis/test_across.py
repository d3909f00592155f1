"""Two runs against each other."""

import math
import random
from dataclasses import replace

import pytest

from lab.analysis.across import across, change, combined_floor, welch
from lab.analysis.stats import paired
from lab.analysis.summary import summarise
from lab.model.comparison import Estimate, Verdict
from studies import false_alarms
from tests.kit import builders as make


@pytest.mark.parametrize("sizes", [(10, 10), (5, 12), (2, 30)])
def test_the_interval_agrees_with_scipys_welch_test(sizes):
    """From the two intervals alone, to rounding."""
    from scipy import stats as oracle

    chance = random.Random(sizes[0])
    a, b = ([chance.gauss(0.1, 0.02 * n) for _ in range(n)] for n in sizes)
    estimate, _ = welch(paired(a), paired(b))
    expected = oracle.ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
    assert math.log(estimate.low) == pytest.approx(expected.low)
    assert math.log(estimate.high) == pytest.approx(expected.high)
    assert estimate.n == min(sizes)


def test_an_interval_of_another_level_tells_the_same_error():
    """Comparisons that ended at a look have wider intervals, and no other spread."""
    chance = random.Random(1)
    a, b = ([chance.gauss(0.1, 0.02) for _ in range(8)] for _ in range(2))
    usual, _ = welch(paired(a), paired(b))
    mixed, _ = welch(paired(a, 0.995), paired(b, 0.96))
    assert (mixed.low, mixed.high) == pytest.approx((usual.low, usual.high))


def test_two_runs_without_any_spread_have_a_point_for_an_interval():
    """And no division by zero."""
    estimate, detectable = welch(paired([0.0, 0.0]), paired([0.5, 0.5]))
    assert estimate.low == estimate.value == estimate.high
    assert detectable == 1


@pytest.mark.parametrize(
    ("before", "after", "floor"), [(0.0, 0.0, 0.02), (0.03, 0.04, 0.05), (0.01, 0.01, 0.02)]
)
def test_the_floor_adds_the_noise_of_both_runs_in_quadrature(before, after, floor):
    """And is never below 2 %."""
    assert combined_floor(before, after) == pytest.approx(floor)


def summaries(before, after, **changes):
    """Return the summaries of two runs of other seeds."""
    runs = [make.ladder_run(s, seed=n, **changes) for n, s in enumerate((before, after), 1)]
    return [summarise(replace(run, name=name)) for run, name in zip(runs, "xy", strict=True)]


def test_a_change_is_found_on_a_machine_of_half_the_speed():
    """The reference halves, too, so only the ratio's own fall by 10 % is a change."""
    before = {"a": (4000, 2e-4), "b": (8000, 1e-4), "c": (4000, 2e-4)}
    after = {"a": (2000, 4e-4), "b": (3600, 2e-4), "c": (2000, 4e-4)}
    comparison = across(*summaries(before, after))
    verdicts = {
        (run_difference.profile, run_difference.metric): run_difference
        for run_difference in comparison.changes
    }
    fallen = verdicts["b", "throughput"]
    assert fallen.verdict is Verdict.WORSE
    assert fallen.ratio.value == pytest.approx(0.9, rel=0.02)
    assert verdicts["c", "throughput"].verdict is not Verdict.WORSE
    assert verdicts["b", "cpu"].verdict is Verdict.NO_DIFFERENCE


def test_the_reference_itself_is_never_compared():
    """Its ratio to itself is 1; its absolute figure is the machine's."""
    speeds = {"a": (2000, 4e-4), "b": (2000, 4e-4)}
    comparison = across(*summaries(speeds, speeds, blocks=3))
    assert {run_difference.profile for run_difference in comparison.changes} == {"b"}


def test_only_profiles_of_both_runs_are_compared():
    """A profile of one run has nothing to be compared with."""
    speeds = {"a": (2000, 4e-4), "b": (2000, 4e-4)}
    comparison = across(*summaries(speeds, speeds | {"c": (1, 1)}, blocks=3))
    assert {run_difference.profile for run_difference in comparison.changes} == {"b"}


def test_any_two_profiles_can_be_asked_for():
    """c / b falls by a quarter between the runs, whatever the reference does."""
    before = {"a": (2000, 4e-4), "b": (2000, 4e-4), "c": (4000, 2e-4)}
    after = {"a": (1000, 4e-4), "b": (2000, 4e-4), "c": (3000, 2e-4)}
    run_difference = change(*summaries(before, after), "throughput", "c", "b")
    assert run_difference.ratio.value == pytest.approx(0.75, rel=0.02)


def test_what_cannot_be_paired_in_one_run_is_invalid():
    """One block is no interval; the whole comparison is then status 3."""
    speeds = {"a": (2000, 4e-4), "b": (2000, 4e-4)}
    before, after = summaries(speeds, speeds, blocks=1)
    comparison = across(before, after)
    assert {run_difference.verdict for run_difference in comparison.changes} == {Verdict.INVALID}
    assert comparison.exit_code == 3


@pytest.mark.parametrize("mode", ["within", "margin", "across"])
@pytest.mark.parametrize("noise", ["3 %", "9 %", "drift", "bad trials"])
def test_forty_comparisons_of_a_server_with_itself_give_no_alarm(mode, noise):
    """Neither by the verdict nor by --fail-if; over 2,000 it is at most one in a thousand."""
    assert false_alarms.rates(mode, noise, 1.0, 10, comparisons=40) == (0, 0)


@pytest.mark.parametrize(("mode", "blocks"), [("within", 10), ("margin", 10), ("across", 20)])
def test_eight_percent_less_is_found_on_a_quiet_machine(mode, blocks):
    """With 3 % noise: by 10 blocks of one run, by 20 of each of two, at least 8 times of 10."""
    rate, _ = false_alarms.rates(mode, "3 %", 0.92, blocks, comparisons=60)
    assert rate >= 0.8


def test_an_aa_arm_that_lies_off_1_raises_the_floor_by_its_distance():
    """An A/A ratio of 1.06x, however narrow, hides a change of 5 %."""
    before, after = summaries(*[{"a": (4000, 2e-4), "b": (8000, 1e-4)}] * 2)
    off = replace(before.aa["cpu"], ratio=Estimate(1.06, 1.05, 1.07, 10))
    run_difference = change(replace(before, aa={**before.aa, "cpu": off}), after, "cpu", "b", "a")
    assert run_difference.floor == pytest.approx(0.07, abs=0.005)
