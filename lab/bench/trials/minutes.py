"""
Blocks for as long as somebody has minutes: an arm that is decided leaves, the others go on.

After some of its blocks a run is looked at: see `lab.analysis.looks`. An arm leaves when all
comparisons that it is in have ended. The reference stays to the end with its A/A arm, since every
floor comes from them. What leaves early gives its time to the others.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from lab.analysis.compare import Side, profile_side
from lab.analysis.confirm import effect_of
from lab.analysis.health import HEADLINE, passed_aa
from lab.analysis.looks import ended_early
from lab.analysis.points import summaries
from lab.analysis.summary import Summary
from lab.bench import profiles
from lab.bench.trials.plan import OVERHEAD, named, trial_seconds
from lab.bench.trials.schedule import Schedule
from lab.errors import UsageError
from lab.model.comparison import Comparison, Departure
from lab.model.measurement import Failure, Run, Trial
from lab.model.metric import shown
from lab.model.plan import Arm, Plan, Role
from lab.model.sizes import MINUTES, MOST_MINUTES

LOOKS = (6, 9, 13, 19, 28, 40, 57, 80)
"""Blocks after which a run of minutes is looked at; the last of them is its last block."""

Found = tuple[Side, Side, Comparison]
"""Both sides of a comparison, and what came of it."""


def usual_minutes(names: Sequence[str], window: float, warmup: float) -> float | None:
    """Return the time for the whole ladder, in trials of these seconds; None where it is short."""
    usual = profiles.usual()
    first = LOOKS[0] * (len(usual) + 1) * (warmup + window + OVERHEAD)
    return MINUTES if tuple(names) in ((), usual) and first <= MINUTES * 60 else None


def with_minutes(plan: Plan, minutes: float) -> Plan:
    """
    Return *plan* with as many blocks as *minutes* allow.

    Raises:
        UsageError: They do not reach the first look.
    """
    if not 0 < minutes <= MOST_MINUTES:
        problem = f"write a number of minutes above 0 and up to {MOST_MINUTES:,g}"
        raise UsageError(f"--minutes {minutes:g}: {problem}; without it, --blocks ends the run")
    plan = replace(plan, blocks=LOOKS[-1], minutes=minutes, looks=LOOKS)
    block = len(plan.block) * trial_seconds(plan)
    least = least_minutes(block)
    if not minutes >= least:
        raise UsageError(
            f"--minutes {minutes:g}: a block of {len(plan.block)} trials takes {block:.0f} s, and "
            f"nothing is told before {LOOKS[0]} blocks: --minutes {least}, or --quick"
        )
    return plan


def least_minutes(block: float) -> int:
    """Return the minutes that reach the first look, of blocks that take so many seconds."""
    return math.ceil(LOOKS[0] * block / 60)


class Minutes:
    """Another schedule's blocks, as many as the minutes allow, without the arms that have left."""

    def __init__(
        self,
        plan: Plan,
        blocks: Schedule,
        so_far: Callable[[Sequence[Trial]], Run],
        leave: Callable[[Sequence[Departure]], None],
        *,
        stay: Collection[str] = (),
        over: Callable[[Sequence[Summary]], bool] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Let no arm leave yet.

        Args:
            plan: What is run, with minutes and looks.
            blocks: Says what each block would hold if no arm left.
            so_far: Returns the run that some trials make up.
            leave: Told which arms leave at a look; not asked where none does.
            stay: Profiles that never leave, because more is asked of them than a verdict.
            over: Says at a look whether the run has told what it is for; None: when all is decided.
            clock: Seconds that pass.
        """
        assert plan.minutes is not None
        self._plan, self._blocks, self._so_far, self._leave = plan, blocks, so_far, leave
        self._stay = {*stay, plan.reference}
        self._goes_on = bool(stay)
        self._over = over
        self._clock = clock
        self._budget = plan.minutes * 60
        self._began: float | None = None
        self._made = 0
        """Blocks."""
        self._given = 0
        """Slots of those blocks."""
        self._left: set[Side] = set()
        self.trials = int(self._budget / trial_seconds(plan))

    def next(self, trials: Sequence[Trial]) -> Sequence[Arm] | None:
        """Return the arms of the next block; see `Schedule`."""
        if self._began is None:
            self._began = self._clock()
        if self._made in self._plan.looks and self._all_ended(trials):
            return None
        arms = self._blocks.next(trials)
        if arms is None:
            return None
        staying = [arm for arm in arms if (arm.name, arm.role) not in self._left]
        if not self._fits(len(staying)):
            return None
        self._made += 1
        self._given += len(staying)
        return staying

    def _fits(self, arms: int) -> bool:
        """Return whether a block of so many arms ends in time, or nothing was looked at yet."""
        if self._made < self._plan.looks[0]:
            return True
        assert self._began is not None
        elapsed = self._clock() - self._began
        return elapsed + arms * elapsed / self._given <= self._budget

    def _all_ended(self, trials: Sequence[Trial]) -> bool:
        """Look at the run, let arms leave, and return whether no comparison is open any more."""
        # For this moment the run is over; what was not decided at a look is told by its level.
        run = replace(self._so_far(trials), ended=True)
        departures: list[Departure] = []
        compared = still_open = False
        given_up = _given_up(run)
        points = summaries(run)
        for summary in points:
            comparisons = [
                comparison
                for comparison in _comparisons(summary)
                if not given_up & {*comparison[:2]}
            ]
            still = [sides for *sides, comparison in comparisons if not ended_early(comparison)]
            kept = {side for sides in still for side in sides}
            compared = compared or bool(comparisons)
            # A failed noise check ends a run with status 3; more blocks may mend that.
            noisy = not passed_aa(summary.aa[HEADLINE], run.plan.smallest)
            still_open = still_open or bool(still) or noisy
            departures += self._departures(summary, comparisons, kept)
        self._left |= {(departure.arm, departure.role) for departure in departures}
        over = compared and not still_open and not self._goes_on
        if self._over is not None:
            over = compared and self._over(points)
        if departures:
            self._leave([replace(departure, last=over) for departure in departures])
        return over

    def _departures(
        self, summary: Summary, comparisons: Sequence[Found], kept: set[Side]
    ) -> Iterator[Departure]:
        """Yield the arms that leave: those of *comparisons* that are not *kept*."""
        at = summary.run.plan.arms[0].at
        own_ones: dict[Side, Comparison] = {}
        for changed, _, comparison in comparisons:
            own_ones.setdefault(changed, comparison)
        for (profile, role), comparison in own_ones.items():
            stays = (profile, role) in kept or profile in self._stay
            side = named(profile, at), role
            if not stays and side not in self._left:
                yield Departure(*side, self._made, comparison)


def _given_up(run: Run) -> set[Side]:
    """Return the arms that are not started any more: no block decides anything of them."""
    return {
        (trial.slot.arm.name, trial.slot.arm.role)
        for trial in run.trials
        if trial.failed is Failure.LEFT_OUT
    }


def _comparisons(summary: Summary) -> Iterator[Found]:
    """Yield what a run is to decide; a profile's step comes before its other comparisons."""
    metrics = shown(summary.run.plan.load)
    baseline = profile_side(summary.run.plan.profiles[0].name)
    for step in summary.steps:
        changed = profile_side(step.profile)
        for name in metrics:
            if step.before is not None:
                yield changed, profile_side(step.before), step.step[name]
            yield changed, baseline, step.baseline[name]
    for profile, shares in summary.shares.items():
        for line, comparison in shares.items():
            yield profile_side(line), profile_side(profile), comparison
    for counter in summary.run.counters:
        effect = effect_of(counter, summary.run, summary.observations)
        yield (counter.arm.name, Role.COUNTER), profile_side(counter.of), effect
