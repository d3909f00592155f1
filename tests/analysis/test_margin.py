"""Runs of minutes: what a look ends, what is open at the end, and how often the truth is held."""

import math
from dataclasses import replace

import numpy as np
import pytest

from lab.analysis import looks, stats
from lab.analysis.compare import LEAST_FLOOR, profile_side
from lab.analysis.observations import Observation
from lab.analysis.summary import summarise
from lab.bench.trials.minutes import LOOKS, with_minutes
from lab.model.comparison import Verdict
from lab.model.measurement import Trial
from lab.model.plan import Role, Slot
from tests.kit import builders as make
from tests.kit.said import warned

EFFECTS = (0, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.10, 0.12, 0.15, 0.30)
NOISES = {
    "2 %": ("", 0.02),
    "3 %": ("", 0.03),
    "4 %": ("", 0.04),
    "6 %": ("", 0.06),
    "9 %": ("", 0.09),
    "long tails": ("tails", 0.04),
    "bad trials": ("bad", 0.03),
}
"""Spread of a trial's logarithm; Student's t with 4 degrees; one trial in ten slowed by half."""

WORST = {
    (8, "first"): 0.960, (24, "first"): 0.961, (60, "first"): 0.958,
    (8, "both"): 0.967, (28, "both"): 0.960, (60, "both"): 0.960,
    (8, "both, some void"): 0.970, (28, "both, some void"): 0.962, (60, "both, some void"): 0.962,
}  # fmt: skip
"""
Lowest coverage of the 84 cases in 40,000 runs each, by the blocks at which the time ends and by
what b is compared with: a's first trial, or both; where some are void, one trial in five is.
"""


def noise(kind, spread, shape):
    """Return the logarithms of what trials are multiplied by; always the same."""
    chance = np.random.default_rng(29)
    if kind == "tails":
        return spread * chance.standard_t(4, shape) / math.sqrt(2)
    deviations = spread * chance.standard_normal(shape)
    if kind == "bad":
        slow = chance.random(shape) < 0.1
        deviations += np.where(slow, np.log(chance.uniform(0.5, 1, shape)), 0)
    return deviations


def estimated(pairs, blocks, level):
    """Return the mean of the first *blocks* and the half-width of its interval, by run."""
    seen = pairs[:, :blocks]
    number = np.maximum(2, (~np.isnan(seen)).sum(axis=1))
    error = np.nanstd(seen, axis=1, ddof=1) / np.sqrt(number)
    wide = np.array(
        [stats.t_quantile(stats.upper(level), max(1, n - 1)) for n in range(blocks + 1)]
    )
    return np.nanmean(seen, axis=1), wide[number] * error


def trimmed(ratios, blocks, level):
    """Return the same of the trimmed mean; a block has a ratio to each trial of the reference."""
    seen = ratios[:, :, :blocks]
    seen = np.where(np.isnan(seen), np.nanmean(seen, axis=1, keepdims=True), seen)
    per_block, number = seen.shape[1], np.maximum(2, (~np.isnan(seen[:, 0])).sum(axis=1))
    ordered = np.sort(seen.reshape(len(seen), -1), axis=1)  # what is nan comes last
    cut, those = per_block * number // stats.TRIM, np.arange(len(seen))
    low, high = ordered[those, cut], ordered[those, per_block * number - cut - 1]
    place = np.arange(ordered.shape[1])
    kept = (place >= cut[:, None]) & (place < (per_block * number - cut)[:, None])
    of = kept.sum(axis=1) / per_block
    drawn_in = np.clip(seen, low[:, None, None], high[:, None, None]).mean(axis=1)
    error = np.nanstd(drawn_in, axis=1, ddof=1) * np.sqrt((number - 1) / (of * (of - 1)))
    wide = {count: stats.t_quantile(stats.upper(level), count - 1) for count in np.unique(of)}
    return np.where(kept, ordered, 0).sum(axis=1) / of / per_block, [wide[it] for it in of] * error


def floors(estimates):
    """Return the logarithm of 1 + the floor, by run, from the mean of the A/A pairs."""
    middle, half = estimates
    least = math.log1p(LEAST_FLOOR)
    reach = np.where(np.abs(middle) - half > least, np.abs(middle) + half, half)
    return np.maximum(least, reach)


def judged(trials, blocks, *, both=False):
    """Return middle, half-width, pairs and level by run; arms are reference, A/A and changed."""
    pairs, again = trials[:, 2] - trials[:, 0], trials[:, 1] - trials[:, 0]
    mean = estimated
    if both:
        pairs, again, mean = trials[:, 2:] - trials[:, :2], again[:, None], trimmed
    middle, half = mean(pairs, blocks, looks.END)
    used, level = np.full(len(trials), blocks), np.full(len(trials), looks.END)
    open_ones = np.ones(len(trials), bool)
    for look in (look for look in LOOKS if look <= blocks):
        at, width = mean(pairs, look, looks.EARLY)
        beyond = np.abs(at) - width > floors(mean(again, look, stats.CONFIDENCE))
        below = np.abs(at) + width <= math.log1p(looks.SMALL)
        ends = open_ones & (beyond | below)
        middle, half = np.where(ends, at, middle), np.where(ends, width, half)
        used, level = np.where(ends, look, used), np.where(ends, looks.EARLY, level)
        open_ones &= ~ends
    return middle, half, used, level


@pytest.mark.costly
@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:Degrees of freedom")
@pytest.mark.parametrize(
    ("blocks", "reference"),
    [
        pytest.param(
            *case, marks=[pytest.mark.slow] * (case[0] > 28 or (case[0] > 8 and "both" in case[1]))
        )
        for case in WORST
    ],
)
def test_the_interval_holds_the_truth_in_95_percent_however_a_comparison_ends(blocks, reference):
    """In 7 noises and with 12 true effects; the worst of the 84 is what was found before."""
    coverage = {}
    for name, (kind, spread) in NOISES.items():
        base = noise(kind, spread, (10_000, 3, blocks))
        if reference == "both, some void":
            base[np.random.default_rng(5).random(base.shape) < 0.2] = np.nan
        for effect in EFFECTS:
            trials = base.copy()
            trials[:, 2] += math.log1p(effect)
            middle, half, *_ = judged(trials, blocks, both=reference != "first")
            held = np.abs(middle - math.log1p(effect)) <= half
            coverage[name, effect] = held.mean()
    worst = min(coverage, key=coverage.get)
    assert coverage[worst] >= 0.95, worst
    assert coverage[worst] == pytest.approx(WORST[blocks, reference], abs=0.005)


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:Degrees of freedom")
@pytest.mark.parametrize("voids", [0.0, 0.2])
def test_a_trimmed_mean_of_a_fixed_number_of_blocks_holds_the_truth_at_its_level(voids):
    """In 95 % and more, in each of the noises."""
    for blocks in (4, 6, 10, 20):
        for name, (kind, spread) in NOISES.items():
            trials = noise(kind, spread, (10_000, 3, blocks))
            trials[np.random.default_rng(5).random(trials.shape) < voids] = np.nan
            ratios = trials[:, 2:] - trials[:, :2]
            measurable = (~np.isnan(ratios).all(axis=1)).sum(axis=1) >= 2
            middle, half = trimmed(ratios[measurable], blocks, stats.CONFIDENCE)
            assert (np.abs(middle) <= half).mean() >= 0.945, (name, blocks)


@pytest.mark.parametrize(
    ("kind", "mean", "trim"), [("bad", 57, 21), ("", 10.5, 12)], ids=["bad trials", "3 %"]
)
def test_trimmed_means_take_fewer_blocks_where_trials_are_bad(kind, mean, trim):
    """Until a limit of 5 % is excluded of versions that are alike: the figures of method.md."""
    trials = noise(kind, 0.03, (4000, 3, LOOKS[-1]))
    ratios = trials[:, 2:] - trials[:, :2]
    for estimate, seen, expected in (
        (estimated, ratios.mean(axis=1), mean),
        (trimmed, ratios, trim),
    ):
        used = np.full(len(trials), LOOKS[-1])
        for look in reversed(LOOKS):
            middle, half = estimate(seen, look, looks.EARLY)
            used[middle + half < math.log1p(looks.SMALL)] = look
        assert used.mean() == pytest.approx(expected, rel=0.05)


PROFILES = make.profile("a"), make.profile("b", against="a")


def run_of(trials, *, ended=True, minutes=60):
    """Return a run of minutes whose arms a, its A/A arm and b have these logarithms by block."""
    plan = with_minutes(make.plan(*PROFILES), minutes)
    arms = [(PROFILES[0], Role.PROFILE), (PROFILES[0], Role.AA), (PROFILES[1], Role.PROFILE)]
    made = [
        make.paced(
            2000 * math.exp(value), 4e-4 / math.exp(value),
            block=block, position=position, of=profile, role=role,
        )
        for block, values in enumerate(zip(*trials, strict=True))
        for position, (value, (profile, role)) in enumerate(zip(values, arms, strict=True))
    ]  # fmt: skip
    return make.run(plan, made, ended=ended)


def comparison(run):
    """Return what the lab says of b / a."""
    return summarise(run).steps[0].step["throughput"]


@pytest.mark.parametrize("both", [False, True], ids=["first", "both"])
@pytest.mark.parametrize("effect", [0.0, 0.05, 0.12, 0.30])
def test_the_lab_judges_as_the_simulation_does(effect, both):
    """Which look ends a comparison, its pairs, its level and its interval."""
    trials = noise("", 0.03, (12, 3, 24))
    trials[:, 2] += math.log1p(effect)
    middle, half, used, level = judged(trials, 24, both=both)
    for number in range(len(trials)):
        plan = replace(with_minutes(make.plan(*PROFILES), 60), against_both=both)
        arms = [make.arm(PROFILES[0]), make.arm(PROFILES[0], role=Role.AA), make.arm(PROFILES[1])]
        seen = [
            Observation(
                Trial(Slot(block, position, arm), 0, 0.0, "", ""),
                {"throughput": math.exp(trials[number, position, block])},
                (),
            )
            for block in range(24)
            for position, arm in enumerate(arms)
        ]
        comparisons = looks.Comparisons(make.run(plan, (), ended=True), seen)
        estimate = comparisons.of("throughput", profile_side("b"), profile_side("a")).ratio
        assert (estimate.n, estimate.level) == (used[number], level[number])
        assert math.log(estimate.value) == pytest.approx(middle[number])
        assert math.log(estimate.high / estimate.low) / 2 == pytest.approx(half[number])


def steady(effect, blocks):
    """Return the logarithms of three arms, of which b is *effect* above the others."""
    spread = 0.004
    return [
        [effect * (arm == 2) + spread * (1 + arm) * (-1) ** block for block in range(blocks)]
        for arm in range(3)
    ]


def test_what_is_beyond_doubt_ends_at_the_first_look():
    """With six pairs and at 99.5 %, whatever the blocks after them show."""
    later = steady(math.log(2), 6)
    later = [first + rest for first, rest in zip(later, steady(0.0, 10), strict=True)]
    throughput_comparison = comparison(run_of(later))
    assert (
        throughput_comparison.verdict,
        throughput_comparison.ratio.n,
        throughput_comparison.ratio.level,
    ) == (Verdict.BETTER, 6, looks.EARLY)


def test_what_is_below_five_percent_ends_too():
    """It stays undecided in word, and says how small it is."""
    throughput_comparison = comparison(run_of(steady(0.015, 9)))
    assert (throughput_comparison.ratio.n, throughput_comparison.ratio.level) == (6, looks.EARLY)
    assert throughput_comparison.verdict_text == "no difference (< 5%)"


OPEN = [[0.0] * 7, [0.05, -0.05] * 3 + [0.05], [0.1, -0.1, 0.2, 0.0, 0.1, -0.1, 0.2]]
"""Seven blocks in which nothing can be told of b."""


def test_what_is_open_at_the_end_is_judged_at_96_percent():
    """The moment was not chosen by the data."""
    throughput_comparison = comparison(run_of(OPEN))
    assert (
        throughput_comparison.verdict,
        throughput_comparison.ratio.n,
        throughput_comparison.ratio.level,
    ) == (Verdict.INCONCLUSIVE, 7, looks.END)


def test_a_run_that_was_stopped_is_judged_more_strictly_and_says_so():
    """98.76 % after seven blocks; what a look has ended stays as it is."""
    summary = summarise(run_of(OPEN, ended=False))
    assert summary.steps[0].step["throughput"].ratio.level == looks.STOPPED == 0.9876
    (banner,) = (banner for banner in warned(summary) if "98.76%" in banner)
    assert banner.startswith("7 blocks, and the run did not end by itself: ")
    double = comparison(run_of(steady(math.log(2), 7), ended=False))
    assert (double.ratio.n, double.ratio.level) == (6, looks.EARLY)


def test_an_arm_whose_turn_has_not_come_has_not_left():
    """As in the block in which somebody stops a run: it is open, and judged so."""
    noisy = [[0.0] * 10, [0.05, -0.05] * 5, [0.1, -0.1] * 5]
    run = run_of(noisy, ended=False)
    cut = [trial for trial in run.trials if (trial.slot.arm.name, trial.slot.block) != ("b", 9)]
    throughput_comparison = comparison(replace(run, trials=tuple(cut)))
    assert (throughput_comparison.ratio.n, throughput_comparison.ratio.level) == (9, looks.STOPPED)


def test_what_is_asked_beside_the_verdict_is_judged_as_at_a_look_where_all_was_decided():
    """The data chose the moment at which such a run ended."""
    decided = summarise(run_of(steady(math.log(2), 6)))
    assert decided.compare_whole("throughput", "b", "a").ratio.level == looks.EARLY
    longer = summarise(run_of(steady(math.log(2), 8)))
    assert longer.compare_whole("throughput", "b", "a").ratio.level == looks.END


def test_a_fixed_number_of_blocks_is_judged_at_95_percent():
    """As ever: all of its blocks, once."""
    run = make.ladder_run({"a": (2000, 4e-4), "b": (4000, 2e-4)})
    throughput_comparison = comparison(run)
    assert (throughput_comparison.ratio.n, throughput_comparison.ratio.level) == (10, 0.95)


def test_the_noise_is_always_judged_at_95_percent():
    """So that floors stay comparable between runs."""
    assert summarise(run_of(OPEN)).aa["cpu"].ratio.level == 0.95


def test_the_level_of_a_stopped_run_allows_a_look_at_any_time():
    """Of runs that are looked at six times, 5 % at most ever show an interval without the truth."""
    pairs = np.random.default_rng(1).standard_normal((20_000, 40))
    missed = np.zeros(len(pairs), bool)
    for look in (look for look in LOOKS if look <= 40):
        middle, half = estimated(pairs, look, looks.STOPPED)
        missed |= np.abs(middle) > half
    assert missed.mean() == pytest.approx(0.05, abs=0.005)
