"""Pairs, floors and verdicts."""

import json
import math
import random
from dataclasses import replace

import pytest

from lab.analysis.compare import (
    LEAST_FLOOR,
    aa_side,
    below,
    compare,
    floor,
    profile_side,
    verdict_of,
)
from lab.analysis.observations import Observation, observe
from lab.analysis.stats import error_of
from lab.analysis.summary import summarise
from lab.analysis.sweep import conclude_run
from lab.model.comparison import Between, Comparison, Estimate, MayBe, Verdict, verdict_text
from lab.model.measurement import Trial
from lab.model.plan import Better, Role, Slot
from lab.report import markdown, opening, summary_json
from tests.kit import builders as make


@pytest.mark.parametrize(
    ("low", "high", "higher_is_better", "lower_is_better"),
    [
        (1.051, 1.2, "better", "worse"),
        (1.05, 1.2, "inconclusive", "inconclusive"),
        (0.8, 0.952, "worse", "better"),
        (0.8, 0.953, "inconclusive", "inconclusive"),
        (0.953, 1.05, "no difference", "no difference"),
        (1.01, 1.05, "no difference", "no difference"),
        (0.953, 1.06, "inconclusive", "inconclusive"),
        (0.5, 2.0, "inconclusive", "inconclusive"),
    ],
)
def test_the_verdict_needs_the_whole_interval(low, high, higher_is_better, lower_is_better):
    """With a floor of 5 % the bounds are 1.05 and 1 / 1.05 = 0.952."""
    assert verdict_of(low, high, 0.05, Better.HIGHER).value == higher_is_better
    assert verdict_of(low, high, 0.05, Better.LOWER).value == lower_is_better


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        (None, 0.02),
        (Estimate(1, 0.99, 1.01, 9), 0.02),
        (Estimate(1, 1 / 1.06, 1.06, 9), 0.06),
        (Estimate(1.03, 1.02, 1.04, 9), 0.02),
        (Estimate(1.04, 1.03, 1.05, 9), 0.05),
        (Estimate(1 / 1.04, 1 / 1.05, 1 / 1.03, 9), 0.05),
    ],
)
def test_the_floor_is_the_noise_and_at_least_two_percent(ratio, expected):
    """
    A quiet machine does not make a change of 1 % worth reporting.

    Nor does one that tells two identical servers apart, by 3 to 5 %, make one of 4 %.
    """
    comparison = Comparison("cpu", "a", "a", Verdict.NO_DIFFERENCE, ratio)
    assert floor(comparison) == pytest.approx(expected)


def noise(run, metric):
    """Return the A/A comparison of a run."""
    reference = run.plan.reference
    return compare(observe(run), metric, aa_side(reference), profile_side(reference), LEAST_FLOOR)


def compared(run, metric, changed, reference):
    """Return the comparison of two profiles, with the floor that the run's own A/A arm gives."""
    noise_floor = floor(noise(run, metric))
    return compare(
        observe(run), metric, profile_side(changed), profile_side(reference), noise_floor
    )


def test_pairs_are_made_within_blocks():
    """A machine that halves its speed half-way leaves the ratio of two profiles exact."""
    run = make.run(
        make.plan(make.profile("a"), make.profile("b", "a"), blocks=4),
        [
            make.paced(speed * drift, 1e-4, block=block, position=position, name=name)
            for block, drift in enumerate([1, 1, 0.5, 0.5])
            for position, (name, speed) in enumerate([("a", 4000), ("b", 8000)])
        ],
    )
    comparison = compared(run, "throughput", "b", "a")
    assert comparison.verdict is Verdict.BETTER
    assert (comparison.ratio.value, comparison.ratio.n) == (pytest.approx(2.0), 4)
    assert comparison.ratio.high / comparison.ratio.low == pytest.approx(1.0)


def test_less_cpu_is_better():
    """Half the CPU per request is an improvement, twice the CPU is none."""
    run = make.ladder_run({"a": (2000, 400e-6), "b": (2000, 200e-6)})
    assert compared(run, "cpu", "b", "a").verdict.value == "better"
    assert compared(run, "cpu", "a", "b").verdict.value == "worse"


def test_the_aa_comparison_is_the_second_run_over_the_first():
    """The A/A arm pairs with the reference's own trial, and never with itself."""
    trials = [
        make.paced(speed, 1e-4, block=block, position=position, role=role)
        for block in range(3)
        for position, (speed, role) in enumerate([(2000, Role.PROFILE), (2200, Role.AA)])
    ]
    run = make.run(make.plan(blocks=3), trials)
    assert noise(run, "throughput").ratio.value == pytest.approx(1.1)


def test_the_last_repeat_of_a_trial_counts():
    """A disturbed trial and its repeat are one slot, and the repeat speaks for it."""
    run = make.ladder_run({"a": (2000, 4e-4), "b": (2000, 4e-4)}, noise=0.0, blocks=2)
    repeats = [
        make.paced(4000, 4e-4, block=block, position=1, name="b", attempt=1) for block in (0, 1)
    ]
    both = make.run(run.plan, [*run.trials, *repeats])
    assert compared(both, "throughput", "b", "a").ratio.value == pytest.approx(2.0)


def test_a_withheld_metric_does_not_pair_and_another_of_the_same_trial_does():
    """Dropped handshakes take the throughput of a trial, not its CPU per request."""
    run = make.ladder_run({"a": (2000, 4e-4), "b": (2000, 4e-4)}, blocks=3)
    dropped = {"listener.drops": 9.0, "tcp.TCPSynRetrans": 9.0}
    trials = [
        make.paced(2000, 4e-4, block=block, position=1, name="b", readings=dropped)
        for block in (0, 1)
    ]
    both = make.run(run.plan, [*run.trials, *trials])
    assert compared(both, "throughput", "b", "a") == Comparison(
        "throughput", "a", "b", Verdict.INVALID, None
    )
    assert compared(both, "cpu", "b", "a").ratio.n == 3


def test_a_value_of_zero_has_no_ratio():
    """Drops are 0 in every trial: there is nothing to divide by."""
    run = make.ladder_run({"a": (2000, 4e-4), "b": (2000, 4e-4)})
    assert compared(run, "drops", "b", "a").verdict is Verdict.INVALID


def test_generators_cpu_is_no_yardstick_between_unlike_connections():
    """A new connection for each request is work of the generator's own."""
    run = make.ladder_run({"a": (2000, 4e-4), "b": (2000, 4e-4)}, blocks=3)
    reconnecting = [
        make.trial(
            make.window(connections=4000), block=block, position=1, name="b", role=Role.PROFILE
        )
        for block in range(3)
    ]
    unlike = make.run(run.plan, [*run.trials, *reconnecting])
    assert compared(run, "cpu_vs_generator", "b", "a").ratio is not None
    assert compared(unlike, "cpu_vs_generator", "b", "a").verdict is Verdict.INVALID


def observations(values):
    """Return observations of `cpu` from (profile, role) -> values by block."""
    return [
        Observation(
            Trial(
                Slot(block, 0, make.arm(make.profile(name), role=role)), 0, 0.0, "", "", windows=()
            ),
            {"cpu": value},
            (),
        )
        for (name, role), blocks in values.items()
        for block, value in enumerate(blocks)
    ]


def test_one_bad_block_makes_a_result_fragile():
    """Of 20 blocks 19 say 10 % and one says nothing like it: the ranks still say better."""
    quiet = [1.0, 1.001, 0.999, 1.0005, 0.9995] * 4
    changed = [0.9 * value for value in quiet[:19]] + [3.0]
    seen = observations({("a", Role.PROFILE): [1.0] * 20, ("b", Role.PROFILE): changed})
    comparison = compare(seen, "cpu", profile_side("b"), profile_side("a"), 0.02)
    assert (comparison.verdict, comparison.fragile) == (Verdict.INCONCLUSIVE, True)


def test_what_would_decide_is_in_blocks_and_not_in_pairs():
    """Where every other block has no pair it takes twice as many."""
    changed = [1.1, 0.9, 1.0, 1.1, 0.9]
    sides = {("a", Role.PROFILE): [1.0] * 10, ("b", Role.PROFILE): changed}
    comparison = compare(observations(sides), "cpu", profile_side("b"), profile_side("a"), 0.02)
    assert comparison.ratio.n == 5
    assert comparison.blocks_needed == pytest.approx(620, rel=0.03)


def test_undecided_says_what_would_decide():
    """With a spread of 10 % five blocks find 1.18x; about 310 hold 0.996x within 2 %."""
    changed = [1.1, 0.9, 1.0, 1.1, 0.9]
    seen = observations({("a", Role.PROFILE): [1.0] * 5, ("b", Role.PROFILE): changed})
    comparison = compare(seen, "cpu", profile_side("b"), profile_side("a"), 0.02)
    assert comparison.verdict is Verdict.INCONCLUSIVE
    assert comparison.detectable == pytest.approx(1.184, abs=0.005)
    assert comparison.blocks_needed == pytest.approx(310, rel=0.03)


def ladder(chance, steps, *, noise=0.035, blocks=10):
    """Return observations of a ladder p0, p1 ... with *steps* as its true ratios."""
    levels = [math.prod(steps[:k]) for k in range(len(steps) + 1)]
    arms = [((f"p{k}", Role.PROFILE), level) for k, level in enumerate(levels)]
    arms.append((("p0", Role.AA), 1.0))
    return observations(
        {
            arm: [level * chance.lognormvariate(0, noise) for _ in range(blocks)]
            for arm, level in arms
        }
    )


def comparisons(seen, steps):
    """Return the comparisons of the steps of a ladder, with the step before."""
    noise = floor(compare(seen, "cpu", aa_side("p0"), profile_side("p0"), LEAST_FLOOR))
    return [
        compare(seen, "cpu", profile_side(f"p{k + 1}"), profile_side(f"p{k}"), noise)
        for k in range(steps)
    ]


def verdicts(seen, steps):
    """Return the verdicts of the steps of a ladder."""
    return [comparison.verdict for comparison in comparisons(seen, steps)]


def test_a_ladder_with_nothing_real_shows_no_false_step():
    """Of 200 simulated ladders of seven equal steps at most 3 % show a difference in any."""
    chance = random.Random(20)
    false = sum(
        bool({Verdict.BETTER, Verdict.WORSE} & set(verdicts(ladder(chance, [1.0] * 7), 7)))
        for _ in range(200)
    )
    assert false <= 6


def test_a_real_step_is_found():
    """A step of 15 % among steps of nothing is found in at least 9 of 10 simulated ladders."""
    chance = random.Random(21)
    count = sum(
        verdicts(ladder(chance, [1.0, 0.85, 1.0]), 3)[1] is Verdict.BETTER for _ in range(50)
    )
    assert count >= 45


@pytest.mark.parametrize(
    ("low", "high", "size"),
    [
        (0.99, 1.01, 0.02),
        (1 / 1.02, 1.02, 0.02),
        (0.99, 1.021, 0.03),
        (1 / 1.031, 1.0, 0.05),
        (1.04, 1.09, 0.10),
        (0.99, 1.11, None),
        (0.90, 1.0, None),
    ],
)
def test_what_is_undecided_says_what_it_excludes(low, high, size):
    """The smallest of 2, 3, 5 and 10 % that the whole interval lies within, either way."""
    assert below(Estimate(1.0, low, high, 10)) == size


TEXTS = {
    None: "inconclusive",
    0.0: "no gain, loss possible",
    0.02: "gain < 2%, loss possible",
    0.03: "gain < 3%, loss possible",
    0.10: "gain < 10%, loss possible",
}


@pytest.mark.parametrize(
    ("low", "high", "of_more", "of_less"),
    [
        (0.80, 1.02, 0.02, None),
        (0.80, 1.021, 0.03, None),
        (0.80, 1.10, 0.10, None),
        (0.80, 1.11, None, None),
        (0.80, 0.97, 0.0, None),
        (0.80, 1.0, 0.0, None),
        (1 / 1.02, 1.30, None, 0.02),
        (0.95, 1.30, None, 0.10),
        (1.03, 1.30, None, 0.0),
    ],
)
def test_an_inconclusive_comparison_may_exclude_a_gain_alone(low, high, of_more, of_less):
    """Of requests/s more is a gain, of CPU per request less."""
    estimate = Estimate(math.sqrt(low * high), low, high, 10)
    for metric, size in (("throughput", of_more), ("cpu", of_less)):
        open_ = Comparison(metric, "a", "b", Verdict.INCONCLUSIVE, estimate)
        assert open_.no_gain == size
        assert open_.verdict_text == TEXTS[size]


def test_a_gain_is_excluded_of_open_comparisons_alone_and_by_the_known_end():
    """A bound has the other end open; worse, and alike, say more already."""
    estimate = Estimate(0.9, 0.8, 1.01, 10)
    known = Comparison("throughput", "a", "b", Verdict.INCONCLUSIVE, estimate)
    assert replace(known, may_be=MayBe.SMALLER).no_gain == 0.02
    assert replace(known, may_be=MayBe.LARGER).no_gain is None
    assert replace(known, may_be=MayBe.EITHER).no_gain is None
    shared = replace(known, ratio=None, between=Between(0.5, 1.04, 10, 0.95))
    assert shared.no_gain == 0.05
    assert replace(shared, between=Between(0.5, None, 10, 0.95)).no_gain is None
    assert replace(known, verdict=Verdict.WORSE).no_gain is None
    assert replace(known, below=0.1).no_gain is None
    assert replace(known, verdict=Verdict.INVALID, ratio=None).no_gain is None


def test_a_gain_of_the_excluded_size_is_denied_in_few_runs():
    """Where CPU per request is 6 % less, "gain < 5%" or less is wrong: in 2.5 % of runs."""
    chance = random.Random(8)
    seen = [comparisons(ladder(chance, [1 / 1.06], noise=0.1), 1)[0].no_gain for _ in range(400)]
    assert sum(size is not None for size in seen) > 5
    assert sum(size is not None and size <= 0.05 for size in seen) <= 16


def test_only_an_open_verdict_needs_the_size_in_words():
    """The others say more already."""
    assert verdict_text(Verdict.INCONCLUSIVE, 0.05) == "no difference (< 5%)"
    assert verdict_text(Verdict.INCONCLUSIVE, None) == "inconclusive"
    assert verdict_text(Verdict.BETTER, 0.10) == "better"
    assert verdict_text(Verdict.NO_DIFFERENCE, 0.02) == "no difference (< 2%)"


def twice(*blocks):
    """Return a run that compares with both trials of a: by block the CPU of a, a again and b."""
    arms = ("a", Role.PROFILE), ("a", Role.AA), ("b", Role.PROFILE)
    trials = [
        make.paced(2000, cpu * 1e-4, block=block, position=position, name=name, role=role)
        for block, values in enumerate(blocks)
        for position, ((name, role), cpu) in enumerate(zip(arms, values, strict=True))
        if cpu is not None
    ]
    plan = make.plan(make.profile("a"), make.profile("b", "a"), blocks=len(blocks))
    return make.run(replace(plan, against_both=True), trials)


def cpu_of(run):
    """Return how the CPU of b compares with that of a."""
    return summarise(run).compare("cpu", "b", "a")


def test_a_reference_that_runs_twice_counts_with_both_trials():
    """By ratios: half as much and twice as much are as much."""
    comparison = cpu_of(twice((2, 0.5, 1.1), (0.5, 2, 1.1), (1, 1, 1.1)))
    assert comparison.ratio.value == pytest.approx(1.1)
    assert comparison.ratio.high == pytest.approx(comparison.ratio.low)
    assert comparison.both


@pytest.mark.parametrize(
    "block", [(None, 1, 1.1), (1, None, 1.1)], ids=["the first is void", "the second is"]
)
def test_one_trial_stands_for_a_reference_whose_other_is_void(block):
    """Its block counts; one in which both are void does not."""
    comparison = cpu_of(twice((1, 1, 1.1), (1, 1, 1.1), block, (None, None, 9)))
    assert (comparison.ratio.value, comparison.ratio.n) == (pytest.approx(1.1), 3)


def test_a_report_says_that_ratios_are_to_both_trials():
    """In its legend and on the first screen, and in each comparison of its JSON; else nowhere."""
    run = twice((1, 1, 1.1), (1, 1.02, 1.1), (1, 1, 1.1))
    first = replace(run, plan=replace(run.plan, against_both=False))
    for measured_run, expected in ((run, True), (first, False)):
        run_conclusion = conclude_run([summarise(measured_run)])
        (screen,) = opening.documents(run_conclusion, opening.NextSteps("lab", "latest"))
        text = markdown.render(run_conclusion)
        for words in (text, "\n".join(screen.context)):
            assert ("Each ratio is to the mean of a's two trials in a block" in words) is expected
        step = json.loads(summary_json.render(run_conclusion))["steps"][0]
        assert step["baseline"]["cpu"].get("both", False) is expected


def test_the_noise_is_that_of_the_reference_against_itself():
    """Whatever a profile is compared with; trimmed, which of so few it is not."""
    run = twice((1, 1.2, 1), (1.2, 1, 1), (1, 1.2, 1), (1.2, 1, 1))
    first = replace(run, plan=replace(run.plan, against_both=False))
    assert summarise(run).floors == summarise(first).floors
    assert summarise(run).aa == summarise(first).aa


def test_one_slow_trial_hides_nothing_from_a_trimmed_mean():
    """Where the reference ran twice: in the ratio and in the noise."""
    blocks = [(1, 1.01, 1.21), (1.01, 1, 1.2), (1, 1, 1.2), (1, 1, 1.21)] * 3
    run = twice(*blocks[:-1], (1, 1.5, 1.2))
    first = replace(run, plan=replace(run.plan, against_both=False))
    assert cpu_of(run).ratio.value == pytest.approx(1.2, rel=0.01)
    assert summarise(run).floors["cpu"] == pytest.approx(0.02)
    assert summarise(first).floors["cpu"] > 0.05


@pytest.mark.costly
def test_pairs_with_both_trials_are_less_noisy():
    """The spread of 1.22 trials, and not of 1.41; trimming gives a twentieth of that back."""
    chance = random.Random(3)
    run = twice(*([chance.lognormvariate(0, 0.05) for _ in range(3)] for _ in range(400)))
    first = replace(run, plan=replace(run.plan, against_both=False))
    errors = [error_of(cpu_of(measured_run).ratio) for measured_run in (run, first)]
    assert errors[0] / errors[1] == pytest.approx(1.04 * math.sqrt(1.5 / 2), abs=0.03)
