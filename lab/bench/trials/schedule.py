"""
Which arms the next block holds, decided by what the trials so far show.

A schedule is asked before every block. `lab.bench.trials.minutes` has one for a time instead of a
number of blocks. To add another, such as a search for better settings, add a module with a class
that has `trials` and `next`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Protocol

from lab.bench.trials.plan import orders, pilot
from lab.model.measurement import Trial
from lab.model.plan import Arm, CounterRun, Plan


class Schedule(Protocol):
    """The blocks of a run."""

    @property
    def trials(self) -> int:
        """Trials that are planned from the start; more may join them."""

    def next(self, trials: Sequence[Trial]) -> Sequence[Arm] | None:
        """
        Return the arms of the next block in the order in which they run, or None at the end.

        Args:
            trials: All that were recorded so far, repeats included.
        """


class Blocks:
    """Every arm of the plan once a block, and the reference twice, each time in another order."""

    def __init__(self, plan: Plan) -> None:
        self.trials = plan.blocks * len(plan.block)
        self._orders = orders(plan)

    def next(self, _trials: Sequence[Trial]) -> Sequence[Arm] | None:
        """Return the arms of the next block; see `Schedule`."""
        return next(self._orders, None)


class Pilot:
    """
    The plan's blocks, and counter-runs in those after the pilot.

    The pilot's trials show causes. The counter-runs that test them join the blocks that are left,
    each at a random place, so that each is paired with its profile.
    """

    def __init__(
        self,
        plan: Plan,
        find: Callable[[Sequence[Trial]], Sequence[CounterRun]],
        listener: Callable[[Sequence[CounterRun]], None],
    ) -> None:
        """
        Plan no counter-run yet.

        Args:
            plan: What is run.
            find: Asked once with the pilot's trials; returns the counter-runs that test their
                causes.
            listener: Told of them, where there are any.
        """
        self._plan, self._find, self._found = plan, find, listener
        self._blocks = Blocks(plan)
        self._number = 0
        self._counters: Sequence[CounterRun] = ()
        self.trials = self._blocks.trials

    def next(self, trials: Sequence[Trial]) -> Sequence[Arm] | None:
        """Return the arms of the next block; see `Schedule`."""
        arms = self._blocks.next(trials)
        if arms is None:
            return None
        if self._number == pilot(self._plan):
            self._counters = self._find(trials)
            if self._counters:
                self._found(self._counters)
        mixed = list(arms)
        order = random.Random(f"{self._plan.seed}/{self._number}")
        for counter in self._counters:
            mixed.insert(order.randint(0, len(mixed)), counter.arm)
        self._number += 1
        return mixed
