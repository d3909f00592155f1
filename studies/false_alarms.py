"""
How often would the lab cry wolf, and how often would it sleep?

    .venv/bin/python studies/false_alarms.py

Simulates comparisons with the lab's own rules: a reference, its A/A arm, and a profile with
either the same throughput or 8 % less. No server is run. Each of four kinds of comparison:

    within      two profiles in one run of so many blocks
    margin      the same in a run whose minutes end after so many, unless a look has ended it; for
                `--fail-if`, which keeps its profiles to the end, no look does
    both        that with both trials of the reference, trimmed, as `lab ab`
    across      the same in two runs of so many blocks, as `lab compare`

Five kinds of noise, each by trial:

    3 %, 9 %    the spread of a quiet and of a shared machine
    drift       3 %, on a machine that loses 30 % of its speed from the first trial to the last
    bad trials  3 %, and one trial in ten is slowed by up to half
    void        3 %, and one trial in five does not count

Rates over 2,000 comparisons each, in per cent; seeds are fixed. 8 minutes.

                                   no difference: alarm         8 % slower: found
    noise     blocks                  verdict    --fail-if      verdict    --fail-if
    3 %            5  within            0.1          0.0         33.3         23.3
    3 %            5  margin            0.1          0.0         29.6         20.0
    3 %            5  both              0.0          0.0         22.4         15.0
    3 %            5  across            0.0          0.0          8.2          7.8
    3 %           10  within            0.0          0.0         92.3         64.0
    3 %           10  margin            0.1          0.0         89.8         57.9
    3 %           10  both              0.1          0.0         90.5         65.1
    3 %           10  across            0.1          0.0         52.0         38.1
    3 %           20  within            0.1          0.0        100.0         92.7
    3 %           20  margin            0.0          0.0        100.0         92.2
    3 %           20  both              0.0          0.0        100.0         95.4
    3 %           20  across            0.0          0.0         97.9         72.4
    3 %           40  within            0.0          0.0        100.0         99.9
    3 %           40  margin            0.0          0.0        100.0         98.0
    3 %           40  both              0.0          0.0        100.0         99.5
    3 %           40  across            0.0          0.0        100.0         95.3
    9 %            5  within            0.0          0.0          0.8          0.8
    9 %            5  margin            0.0          0.0          0.7          0.7
    9 %            5  both              0.0          0.0          0.2          0.2
    9 %            5  across            0.0          0.0          0.2          0.2
    9 %           10  within            0.1          0.1          3.4          3.4
    9 %           10  margin            0.0          0.0          2.5          2.2
    9 %           10  both              0.0          0.0          1.9          1.8
    9 %           10  across            0.0          0.0          0.4          0.4
    9 %           20  within            0.0          0.0         14.4         13.5
    9 %           20  margin            0.0          0.0         12.4         11.3
    9 %           20  both              0.0          0.0         11.9         10.9
    9 %           20  across            0.0          0.0          2.6          2.6
    9 %           40  within            0.0          0.0         52.2         37.7
    9 %           40  margin            0.0          0.0         50.9         12.0
    9 %           40  both              0.1          0.0         53.8         14.2
    9 %           40  across            0.0          0.0         15.0         14.9
    drift          5  within            0.0          0.0         15.8         12.8
    drift          5  margin            0.1          0.0         12.4          8.7
    drift          5  both              0.0          0.0          9.3          7.1
    drift          5  across            0.0          0.0          3.1          2.9
    drift         10  within            0.0          0.0         84.4         55.9
    drift         10  margin            0.0          0.0         81.3         49.8
    drift         10  both              0.1          0.0         83.1         55.0
    drift         10  across            0.0          0.0         42.3         32.7
    drift         20  within            0.0          0.0        100.0         92.8
    drift         20  margin            0.0          0.0        100.0         91.1
    drift         20  both              0.0          0.0        100.0         94.3
    drift         20  across            0.0          0.0         96.8         68.8
    drift         40  within            0.0          0.0        100.0         99.9
    drift         40  margin            0.0          0.0        100.0         97.6
    drift         40  both              0.0          0.0        100.0         99.4
    drift         40  across            0.0          0.0        100.0         94.9
    bad trials     5  within            0.0          0.0          9.9          7.0
    bad trials     5  margin            0.0          0.0          8.7          5.9
    bad trials     5  both              0.0          0.0          6.2          4.2
    bad trials     5  across            0.0          0.0          1.1          1.1
    bad trials    10  within            0.0          0.0         17.5         11.5
    bad trials    10  margin            0.0          0.0         16.0          8.0
    bad trials    10  both              0.0          0.0         40.8         26.5
    bad trials    10  across            0.0          0.0          1.5          1.4
    bad trials    20  within            0.0          0.0         19.1         15.4
    bad trials    20  margin            0.0          0.0         23.2         13.1
    bad trials    20  both              0.0          0.0         77.5         59.8
    bad trials    20  across            0.0          0.0          2.4          2.1
    bad trials    40  within            0.0          0.0         33.0         27.3
    bad trials    40  margin            0.0          0.0         38.1          8.6
    bad trials    40  both              0.0          0.0         98.5         81.7
    bad trials    40  across            0.1          0.1          7.5          7.3
    void           5  within            0.3          0.0         11.6          8.1
    void           5  margin            0.1          0.0          9.1          6.2
    void           5  both              0.1          0.0          8.9          5.7
    void           5  across            0.0          0.0          2.2          2.0
    void          10  within            0.0          0.0         49.1         33.0
    void          10  margin            0.1          0.0         47.1         30.0
    void          10  both              0.0          0.0         50.9         33.1
    void          10  across            0.0          0.0         17.8         15.2
    void          20  within            0.0          0.0         97.5         75.2
    void          20  margin            0.1          0.0         96.5         72.8
    void          20  both              0.0          0.0         98.4         82.3
    void          20  across            0.1          0.0         72.7         50.0
    void          40  within            0.0          0.0        100.0         97.2
    void          40  margin            0.1          0.0         99.9         82.5
    void          40  both              0.0          0.0        100.0         92.2
    void          40  across            0.0          0.0         99.8         82.0

`--fail-if` stands for rps(changed/reference) < 0.9524, which is 1 / 1.05. It finds less than the
verdict because it asks for more: not "slower", but "slower by more than 5 %".

So 8 % is found 9 times out of 10 with 10 blocks of a quiet machine in one run, and with 20 blocks
in each of two runs. A run of minutes finds nearly as much as one of as many blocks, and is over
sooner where a look decides. With both trials of the reference, and trimmed means, it finds about
as much from 10 blocks on, and far more where trials are bad by chance: those hide more than noise
does, and the lab repeats the ones whose cause it sees outside. A run that ends by itself with the
block of a look, as with 40, is judged as at that look. At 9 % noise 40 blocks find it every other
time, in two runs hardly ever.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from lab.analysis.across import combined_floor, welch
from lab.analysis.compare import (
    LEAST_FLOOR,
    aa_side,
    compare,
    floor,
    profile_side,
    reach,
    verdict_of,
)
from lab.analysis.judging import ThresholdOutcome, judge_ratio
from lab.analysis.looks import Comparisons
from lab.analysis.observations import Observation
from lab.analysis.thresholds import parse
from lab.bench.trials.minutes import LOOKS
from lab.model.comparison import Comparison, Verdict
from lab.model.measurement import Run, Trial
from lab.model.metric import METRICS
from lab.model.plan import Arm, Load, Plan, Role, Slot
from lab.model.profile import Profile
from lab.model.request import Expectation
from lab.model.workload import Workload

COMPARISONS = 2000
PLANTED = 0.92
LIMIT = parse("rps(changed/reference) < 0.9524")
ALARMS = (Verdict.BETTER, Verdict.WORSE)

Noise = Callable[[random.Random, float], float]
"""What a trial's throughput is multiplied by, at a time from 0 to 1 in the run."""


def spread(share: float) -> Noise:
    """Return noise of one spread."""
    return lambda chance, _time: chance.lognormvariate(0, share)


def drift(chance: random.Random, time: float) -> float:
    """Slow down by 30 % from the first trial to the last."""
    return (1 - 0.3 * time) * chance.lognormvariate(0, 0.03)


def bad_trials(chance: random.Random, time: float) -> float:
    """Slow down one trial in ten by up to half."""
    slow = chance.uniform(0.5, 1.0) if chance.random() < 0.1 else 1.0
    return slow * spread(0.03)(chance, time)


def void(chance: random.Random, time: float) -> float:
    """Leave one trial in five without a value."""
    return 0.0 if chance.random() < 0.2 else spread(0.03)(chance, time)


NOISES: dict[str, Noise] = {
    "3 %": spread(0.03),
    "9 %": spread(0.09),
    "drift": drift,
    "bad trials": bad_trials,
    "void": void,
}


def arm(name: str, role: Role = Role.PROFILE) -> Arm:
    """Return an arm that is known by its name and role alone."""
    profile = Profile(name, "none", Path(name), "", None, (), "")
    return Arm(name, profile, Workload("none", "/", Expectation()), Load(), role=role)


@dataclass(frozen=True, slots=True)
class Simulated:
    """A simulated run: its A/A comparison and the one of the two profiles."""

    aa: Comparison
    change: Comparison


def observe(chance: random.Random, noise: Noise, true: float, blocks: int) -> list[Observation]:
    """Return the trials of a reference and a profile that has *true* times its throughput."""
    arms = [(arm("reference"), 1.0), (arm("reference", Role.AA), 1.0), (arm("changed"), true)]
    seen = []
    for block in range(blocks):
        chance.shuffle(arms)
        for position, (trial_arm, speed) in enumerate(arms):
            time = (block + position / len(arms)) / blocks
            trial = Trial(Slot(block, position, trial_arm), 0, 0.0, "", "")
            value = 1000 * speed * noise(chance, time)
            seen.append(Observation(trial, {"throughput": value}, ()))
    return seen


def simulate(chance: random.Random, noise: Noise, true: float, blocks: int) -> Simulated:
    """Return what a run of a fixed number of blocks says of such trials."""
    seen = observe(chance, noise, true, blocks)
    reference = profile_side("reference")
    aa = compare(seen, "throughput", aa_side("reference"), reference, LEAST_FLOOR)
    change = compare(seen, "throughput", profile_side("changed"), reference, floor(aa))
    return Simulated(aa, change)


def within(
    chance: random.Random, noise: Noise, true: float, blocks: int
) -> tuple[Verdict, ThresholdOutcome]:
    """Return what a comparison in one run says, by the verdict and by `--fail-if`."""
    run = simulate(chance, noise, true, blocks)
    return run.change.verdict, by_limit(run.change, floor(run.aa))


def by_limit(change: Comparison, noise: float) -> ThresholdOutcome:
    """Return what `--fail-if` says; with too few pairs it cannot."""
    if change.ratio is None:
        return ThresholdOutcome.UNJUDGED
    return judge_ratio(LIMIT, change.ratio, noise, change.detectable or math.inf).outcome


def margin(
    chance: random.Random, noise: Noise, true: float, blocks: int, *, both: bool = False
) -> tuple[Verdict, ThresholdOutcome]:
    """Return what a comparison says in a run of minutes whose time ends after *blocks*."""
    seen = observe(chance, noise, true, blocks)
    plan = Plan((arm("reference"), arm("changed")), "reference", LOOKS[-1], 0, 1, 0, 1, LOOKS)
    plan = replace(plan, against_both=both)
    comparisons = Comparisons(Run("", "", plan, {}, (), ended=True), seen)
    change = comparisons.of("throughput", profile_side("changed"), profile_side("reference"))
    whole = comparisons.whole("throughput", profile_side("changed"), profile_side("reference"))
    return change.verdict, by_limit(whole, comparisons.floor("throughput"))


def across(
    chance: random.Random, noise: Noise, true: float, blocks: int
) -> tuple[Verdict, ThresholdOutcome]:
    """Return what a comparison of two runs says, the second of which has the change."""
    before, after = (simulate(chance, noise, speed, blocks) for speed in (1.0, true))
    if before.change.ratio is None or after.change.ratio is None:
        return Verdict.INVALID, ThresholdOutcome.UNJUDGED
    least = combined_floor(*(noise_of(run.aa) for run in (before, after)))
    ratio, detectable = welch(before.change.ratio, after.change.ratio)
    verdict = verdict_of(ratio.low, ratio.high, least, METRICS["throughput"].better)
    return verdict, judge_ratio(LIMIT, ratio, least, detectable).outcome


def noise_of(aa: Comparison) -> float:
    """Return how far the A/A arm reaches; the least floor where it cannot be told."""
    return LEAST_FLOOR if aa.ratio is None else reach(aa.ratio)


MODES: dict[str, Callable[..., tuple[Verdict, ThresholdOutcome]]] = {
    "within": within,
    "margin": margin,
    "both": partial(margin, both=True),
    "across": across,
}


def rates(
    mode: str, noise: str, true: float, blocks: int, comparisons: int = COMPARISONS
) -> tuple[float, float]:
    """Return the shares in which the verdict says different, and in which `--fail-if` fails."""
    chance = random.Random(f"{mode} {noise} {true} {blocks}")
    results = [MODES[mode](chance, NOISES[noise], true, blocks) for _ in range(comparisons)]
    return (
        sum(verdict in ALARMS for verdict, _ in results) / comparisons,
        sum(outcome is ThresholdOutcome.FAILED for _, outcome in results) / comparisons,
    )


def table() -> Iterator[str]:
    """Yield the rows of the table above."""
    for noise in NOISES:
        for blocks in (5, 10, 20, 40):
            for mode in MODES:
                shares = (*rates(mode, noise, 1.0, blocks), *rates(mode, noise, PLANTED, blocks))
                cells = "".join(f"{100 * rate:>13.1f}" for rate in shares)
                yield f"    {noise:<13}{blocks:>3}  {mode:<8}{cells}"


if __name__ == "__main__":
    for row in table():
        print(row)
        sys.stdout.flush()
