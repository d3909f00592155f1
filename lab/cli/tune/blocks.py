"""The blocks of a race: the champion twice, and who is still in it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from lab.analysis.gates.open_loop import OVERLOAD
from lab.analysis.observations import Observation, observe
from lab.analysis.stats import paired
from lab.bench.trials.conduct import SoFar
from lab.bench.trials.plan import orders
from lab.cli.tune.race import RaceStanding, Row, standing
from lab.model.measurement import Run, Trial
from lab.model.metric import METRICS
from lab.model.plan import Arm, Better, Plan, Role


@dataclass(frozen=True, slots=True)
class Goal:
    """What is to become better, and what must hold."""

    metric: str = "throughput"
    memory: float | None = None
    """Bytes of the server, at the most."""
    p99: float | None = None
    """Seconds, at the most."""
    keeps_rate: bool = False
    """Whether a rate is planned, which it has to keep."""

    def gain(self, value: float, champion: float) -> float:
        """Return the logarithm of a gain."""
        gain = math.log(value / champion)
        return gain if METRICS[self.metric].better is Better.HIGHER else -gain

    def broken(self, observations: Sequence[Observation], *, surely: bool = False) -> str:
        """
        Return which limit a server is above, by its trials; empty where it holds all.

        Args:
            observations: Its trials.
            surely: Whether the upper end of the interval has to hold, and not the mean alone.
        """
        if self.keeps_rate and is_behind(observations):
            return "it does not keep the rate"
        counted = [observation for observation in observations if observation.metrics]
        for name, most in (("memory", self.memory), ("p99", self.p99)):
            if most is None or not counted:
                continue
            logs = [
                math.log(observation.metrics[name])
                for observation in observations
                if observation.metrics.get(name, 0) > 0
            ]
            if not logs:
                return f"{METRICS[name].title} is not known of any trial"
            value = paired(logs).high if surely and len(logs) > 1 else math.exp(fmean(logs))
            if value > most:
                metric = METRICS[name]
                measured, limit = (f"{number * metric.scale:,.4g}" for number in (value, most))
                return f"{metric.title} {measured} {metric.unit}, above {limit}"
        return ""


def is_behind(observations: Sequence[Observation]) -> bool:
    """Return whether a server did not keep the planned rate in half of its trials or more."""
    behind = [
        observation
        for observation in observations
        if any(finding.gate is OVERLOAD for finding in observation.findings)
    ]
    return bool(behind) and 2 * len(behind) >= len(observations)


class Race:
    """A schedule: contenders leave, until nobody is left or five blocks were made."""

    def __init__(
        self,
        plan: Plan,
        so_far: SoFar,
        goal: Goal,
        groups: Mapping[str, str],
        room: Callable[[int], bool],
    ) -> None:
        """
        Make no block yet.

        Args:
            plan: The champion is its reference.
            so_far: Returns the run that some trials make up.
            goal: What is to become better.
            groups: Name of a contender -> its group.
            room: Returns whether there is time for so many trials of the race.
        """
        self._plan, self._so_far, self._goal, self._room = plan, so_far, goal, room
        self._groups = groups
        self.trials = plan.blocks * len(plan.block)

    def next(self, trials: Sequence[Trial]) -> Sequence[Arm] | None:
        """Return the arms of the next block; see `Schedule`."""
        made = 1 + max((trial.slot.block for trial in trials), default=-1)
        now = stand(observe(self._so_far(trials)), self._plan.reference, self._goal, self._groups)
        names = [*self._groups]
        alive = {names[index] for index in now.alive}
        if not alive or (made and now.over):
            return None
        arms = [
            arm for arm in self._plan.block if arm.name in alive or arm.name == self._plan.reference
        ]
        if not self._room(len(trials) + len(arms)):
            return None
        random.Random(f"{self._plan.seed}/{made}").shuffle(arms)
        return arms


def stand(
    observations: Sequence[Observation], champion: str, goal: Goal, groups: Mapping[str, str]
) -> RaceStanding:
    """Return how a race stands, by the trials that count."""
    names = [*groups]
    of = {
        name: [
            observation for observation in observations if observation.trial.slot.arm.name == name
        ]
        for name in names
    }
    barred = frozenset(number for number, name in enumerate(names) if goal.broken(of[name]))
    rows = [*_rows(observations, champion, goal, names)]
    return standing([*groups.values()], rows, barred)


def _rows(
    observations: Sequence[Observation], champion: str, goal: Goal, names: Sequence[str]
) -> Iterator[Row]:
    """Yield the gains of each block; none of one whose champion does not count."""
    blocks: dict[int, list[Observation]] = {}
    for observation in observations:
        blocks.setdefault(observation.trial.slot.block, []).append(observation)
    for _, block in sorted(blocks.items()):
        values = {
            (observation.trial.slot.arm.name, observation.trial.slot.arm.role): value
            for observation in block
            if (value := observation.metrics.get(goal.metric, 0.0)) > 0
        }
        champion_values = [values[side] for side in ((champion, Role.PROFILE), (champion, Role.AA))
                           if side in values]  # fmt: skip
        if not champion_values:
            yield {}
            continue
        middle = math.exp(sum(map(math.log, champion_values)) / len(champion_values))
        yield {
            number: goal.gain(values[name, Role.PROFILE], middle)
            for number, name in enumerate(names)
            if (name, Role.PROFILE) in values
        }


class Proof:
    """A schedule: all arms in each block, until the goal's comparison is beyond doubt at a look."""

    def __init__(self, plan: Plan, so_far: SoFar, over: Callable[[Run], bool]) -> None:
        """
        Make no block yet.

        Args:
            plan: Its blocks are the most that are made.
            so_far: Returns the run that some trials make up.
            over: Returns whether a run, as if it had ended, has told what it is for.
        """
        self._plan, self._so_far, self._over = plan, so_far, over
        self._orders = [*orders(plan)]
        self.trials = plan.blocks * len(plan.block)

    def next(self, trials: Sequence[Trial]) -> Sequence[Arm] | None:
        """Return the arms of the next block; see `Schedule`."""
        made = 1 + max((trial.slot.block for trial in trials), default=-1)
        if made == len(self._orders):
            return None
        if made in self._plan.looks and self._over(replace(self._so_far(trials), ended=True)):
            return None
        return self._orders[made]
