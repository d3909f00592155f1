"""
What `lab tune` measures: the champion and its contenders in races, and the winner's proof.

Each step is a run of its own in the tune's folder. Which blocks it holds follows from its trials
alone, so that a tune which was killed goes on where it was.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from lab.analysis.compare import profile_side
from lab.analysis.gates.common import BUSY
from lab.analysis.gates.effort import limiting_share
from lab.analysis.looks import Comparisons, ended_early
from lab.analysis.observations import Observation, observe
from lab.analysis.points import summaries
from lab.analysis.summary import Summary
from lab.analysis.sweep import RunConclusion
from lab.bench.store.folder import read_json, read_run, write_json
from lab.bench.trials.conduct import Files, Measurement, Outcome, PreparedRun, SoFar, prepare
from lab.bench.trials.minutes import LOOKS
from lab.bench.trials.replies import TriedOut
from lab.bench.trials.schedule import Schedule
from lab.cli.tune.blocks import Goal, Proof, Race, is_behind, stand
from lab.cli.tune.climb import BACK, Contender, Values
from lab.cli.tune.moves import SERVER, Facts, Ground, numbers, seen
from lab.cli.tune.race import BLOCKS, FIRST, UNSEEN, WON, Gain
from lab.config import servers
from lab.config.command import alone, is_command, profile_of
from lab.config.steps import Prefix
from lab.errors import LabError, ResultsError, UnmeasuredError, UsageError
from lab.model.comparison import Comparison
from lab.model.measurement import Run
from lab.model.plan import Arm, Plan
from lab.model.profile import Profile
from lab.model.wording import in_a_line
from lab.model.workload import Workload

SEARCH, PROVED = 0.6, 0.86
"""Shares of the time after which the search, and the proof, have to be over."""

SPARE = 1.1
"""Times the minutes that a search needs, in the advice: trials of the next run may take longer."""

PAUSE = 60.0
"""Seconds between two trials from which on the lab was not at work, unless all take so long: a
server of many workers may come up for half a minute."""

PILOT_BLOCKS = 2
LEAST_BLOCKS = 3
"""Blocks of the last step, in which each change is taken back, at the least."""

WARM = 30
"""Requests of each worker before a trial: where replies take long, 200 would take most of it."""

Numbers = frozenset[tuple[str, str]]
"""What values say of workers and threads, as a key."""

TUNED = "tuned"
PROOFS = ("proof", "minimal")
"""Steps whose runs have a report."""
STATE = "tune.json"


@dataclass(frozen=True, slots=True)
class TuneState:
    """What a tune that is gone on with has to know."""

    FORMAT: ClassVar[int] = 2
    WHAT: ClassVar[str] = "state of lab tune"

    format: int
    configuration: str
    """Digest of what was read."""
    asked: Mapping[str, str]
    """What was asked for -> digest of its value."""
    seed: int
    finished: tuple[str, ...] = ()
    """Steps that are over."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One contender, and what came of it."""

    step: str
    champion: Values
    """That it raced against."""
    group: str
    values: Values
    gain: Gain
    why: str
    """Why it was not taken; empty where it was, or was no better."""


@dataclass
class Measurer:
    """Makes the runs of one tune."""

    grounds: Mapping[str, Ground]
    """By server: the user's own configuration first, then what it becomes for others."""
    goal: Goal
    options: Measurement
    """Of its runs; the results are the tune's own folder."""
    workloads: Mapping[str, Workload]
    """By server: what is asked, and what it is started with."""
    minutes: float
    conducted: Callable[[PreparedRun, Measurement, Files], Outcome]
    """Makes a run."""
    files: Files
    """Of the proof's run."""
    state: TuneState
    attempts: list[Attempt] = field(default_factory=list)
    runs: dict[str, Run] = field(default_factory=dict)
    """By step."""
    _seen: dict[Numbers, Sequence[Observation]] = field(default_factory=dict)
    """Workers and threads -> trials with so many."""

    def __post_init__(self) -> None:
        self.folder: Path = self.options.results
        self.ground, *others = self.grounds.values()
        self.prepared = self._prepared(self.ground)
        self.arms = {self.ground.program: self.prepared.plan.arms[0]}
        self.arms |= {ground.program: self._prepared(ground).plan.arms[0] for ground in others}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ResultsError(self.folder, f"cannot be made: {error.strerror}") from error
        write_json(self.folder / STATE, self.state)

    def _prepared(self, ground: Ground) -> PreparedRun:
        workload = self.workloads[ground.program]
        return prepare(replace(self.options, profiles=(ground.name,)), workload)

    def look(self, facts: Facts) -> Facts:
        """
        Return the facts with what a few trials of the user's configuration show.

        Raises:
            UsageError: The time does not hold a tune.
            LabError: Its trials do not count.
        """
        plan = self._plan({}, (), PILOT_BLOCKS)
        run = self._run("look", plan)
        observations = observe(run)
        counted = [observation for observation in observations if "cpu" in observation.metrics]
        if not counted:
            raise _why_not(self.ground, observations)
        busy = limiting_share(observation.trial for observation in counted) >= BUSY
        is_measured = all(self.goal.metric in observation.metrics for observation in counted)
        if self.goal.metric == "throughput" and (busy or not is_measured):
            self.goal = replace(self.goal, metric="capacity")  # what its CPU allows
        if not any(self.goal.metric in observation.metrics for observation in counted):
            raise _why_not(self.ground, observations)
        self._check_limits(observations)
        self._check_time()
        self._seen[_numbers({})] = counted
        return self.facts(facts, {})

    def facts(self, facts: Facts, values: Values) -> Facts:
        """Return the facts with what trials of as many workers and threads show."""
        counted = self._seen.get(_numbers(values))
        if not counted:
            return facts
        rate, cpu, capacity = (
            statistics.median(observation.metrics.get(name, 0.0) for observation in counted)
            for name in ("served", "cpu", "capacity")
        )
        if not rate:  # a gate withholds it, as where connections are dropped
            return facts
        share = rate / capacity if capacity else 1.0
        return seen(facts, self.ground.places(values), rate, cpu, share)

    def race(self, champion: Values, contenders: Sequence[Contender]) -> list[Gain] | None:
        """Return what each contender gains over a champion; None without time for it."""
        step = f"race-{1 + sum(name.startswith('race') for name in self.runs)}"
        before = self._used()
        most = int((SEARCH * self._trials() - before) / FIRST) - 2
        if most < 1:
            return None
        contenders, left = contenders[:most], contenders[most:]
        plan = self._plan(champion, [contender.values for contender in contenders], BLOCKS)
        names = [arm.name for arm in plan.arms[1:]]
        groups = {name: contender.group for name, contender in zip(names, contenders, strict=True)}

        def schedule(plan: Plan, so_far: SoFar) -> Schedule:
            room = partial(self._room, share=SEARCH, used=before)
            return Race(plan, so_far, self.goal, groups, room)

        run = self._run(step, plan, schedule)
        observations = observe(run)
        gains = stand(observations, plan.reference, self.goal, groups).gains
        for name, contender, gain in zip(names, contenders, gains, strict=True):
            trials = [item for item in observations if item.trial.slot.arm.name == name]
            why = self.goal.broken(trials) or _why_void(trials)
            self.attempts.append(
                Attempt(step, champion, contender.group, contender.values, gain, why)
            )
            if counted := [item for item in trials if "cpu" in item.metrics]:
                self._seen[_numbers(contender.values)] = counted
        late = "no time for it"
        for contender in left:
            self.attempts.append(
                Attempt(step, champion, contender.group, contender.values, UNSEEN, late)
            )
        if champion and self._falls(observations, plan.reference):
            backs = [
                name
                for name, contender in zip(names, contenders, strict=True)
                if contender.group == BACK
            ]
            stand_in = self._stand_in(observations, backs)
            gains = tuple(WON if name == stand_in else UNSEEN for name in names)
        return [*gains, *(UNSEEN for _ in left)]

    def _falls(self, observations: Sequence[Observation], champion: str) -> bool:
        """Return whether a champion, whose changes were tried one by one, does not do together."""
        trials = [
            observation
            for observation in observations
            if observation.trial.slot.arm.name == champion
        ]
        return bool(self.goal.broken(trials)) or not any(
            self.goal.metric in it.metrics for it in trials
        )

    def _stand_in(self, observations: Sequence[Observation], backs: Sequence[str]) -> str | None:
        """Return the best of those that a champion may go back to; if none does, the first."""
        gains: dict[str, float] = {}
        for name in backs:
            if self._falls(observations, name):
                continue
            trials = (
                observation.metrics
                for observation in observations
                if observation.trial.slot.arm.name == name
            )
            values = [trial[self.goal.metric] for trial in trials if self.goal.metric in trial]
            gains[name] = self.goal.gain(statistics.geometric_mean(values), 1.0)
        return max(gains, key=gains.__getitem__, default=next(iter(backs), None))

    def prove(self, winner: Values, step: str = "proof") -> tuple[Summary, Comparison]:
        """Return a fresh comparison of a winner with the user's configuration."""
        blocks = int((self._trials() * PROVED - self._used()) // 3)
        plan = self._plan({}, (winner,), max(LOOKS[0], min(blocks, LOOKS[-1])), TUNED)
        seconds = plan.blocks * len(plan.block) * self._seconds()
        looks = tuple(look for look in LOOKS if look < plan.blocks)
        minutes = math.ceil(seconds / 60)
        plan = replace(plan, minutes=minutes, looks=looks, against_both=True)
        changed, reference = plan.arms[1].name, plan.reference

        def over(run: Run) -> bool:
            comparisons = Comparisons(run, observe(run))
            return ended_early(
                comparisons.of(self.goal.metric, profile_side(changed), profile_side(reference))
            )

        run = self._run(step, plan, lambda plan, so_far: Proof(plan, so_far, over))
        (summary,) = summaries(run)
        return summary, summary.compare(self.goal.metric, changed, reference)

    def take_back(self, winner: Values) -> Mapping[str, Comparison]:
        """Return what each change is worth by itself: the winner without it, over the winner."""
        less = {key: {k: v for k, v in winner.items() if k != key} for key in winner}
        blocks = (self._trials() - self._used()) // (len(less) + 2)
        if len(winner) < 2 or blocks < LEAST_BLOCKS:
            return {}
        plan = self._plan(winner, [*less.values()], min(blocks, LOOKS[0]))
        run = self._run("taken-back", plan)
        comparisons = Comparisons(run, observe(run))
        return {
            key: comparisons.of(
                self.goal.metric, profile_side(arm.name), profile_side(plan.reference)
            )
            for key, arm in zip(less, plan.arms[1:], strict=True)
        }

    def profile(self, values: Values) -> Profile:
        """Return the user's configuration with *values*, as a trial serves it."""
        program = values.get(SERVER, self.ground.program)
        base, ground = self.arms[program].profile, self.grounds[program]
        steps = ground.steps(values)
        if not steps:
            return base
        if is_command(ground.name):
            return profile_of(alone(ground.text(values)))
        options = [step for step in steps if not isinstance(step, Prefix)]
        return servers.of(base).with_steps(base, options)

    def _plan(
        self, champion: Values, others: Collection[Values], blocks: int, name: str = ""
    ) -> Plan:
        """Return the plan of a champion, its reference, beside others."""
        arms: list[Arm] = []
        for values in (champion, *others):
            arm = self.arms[values.get(SERVER, self.ground.program)]
            plain = self.arms[self.ground.program].name
            called = f"{plain}~{name or _name(values)}" if values else plain
            against = arms[0].name if arms else None
            profile = replace(self.profile(values), name=called, against=against)
            arms.append(replace(arm, name=called, profile=profile))
        plan = replace(self.prepared.plan, arms=tuple(arms), reference=arms[0].name, inert=None)
        seed = self.state.seed + len(self.runs)
        return replace(plan, blocks=blocks, seed=seed, minutes=None, looks=(), warm=WARM)

    def _run(
        self,
        step: str,
        plan: Plan,
        schedule: Callable[[Plan, SoFar], Schedule] | None = None,
    ) -> Run:
        """Make the run of a step, or go on with it, or read it where it is finished."""
        results, earlier = self.folder / step, None
        made = sorted(path.parent for path in results.glob("*/run.json"))
        if made:
            earlier = read_run(made[-1])
        if step not in self.state.finished:
            options = replace(
                self.options,
                results=results,
                confirm=False,
                trying=TriedOut.FIRST,
                schedule=schedule,
                earlier=earlier,
            )
            prepared = replace(self.prepared, plan=plan)
            files = self.files if step in PROOFS else nothing
            (summary,) = self.conducted(prepared, options, files).conclusion.summaries
            earlier = summary.run
            self.state = replace(self.state, finished=(*self.state.finished, step))
            write_json(self.folder / STATE, self.state)
        assert earlier is not None
        self.runs[step] = earlier
        return earlier

    def _used(self) -> int:
        """Return how many trials were made."""
        return sum(len(run.trials) for run in self.runs.values())

    def _seconds(self) -> float:
        """Return how long a trial takes, by those that were made; pauses between runs left out."""
        gaps = [
            after.started_at - before.started_at
            for run in self.runs.values()
            for before, after in pairwise(run.trials)
        ]
        usual = max(3 * statistics.median(gaps), PAUSE)
        return statistics.fmean(gap for gap in gaps if gap <= usual)

    def _trials(self) -> int:
        """Return how many trials the time holds."""
        return int(self.minutes * 60 / self._seconds())

    def _room(self, arms: int, share: float, used: int) -> bool:
        return used + arms <= share * self._trials()

    def _check_limits(self, observations: Sequence[Observation]) -> None:
        """Refuse limits of which trials of the user's own configuration tell nothing."""
        if self.goal.keeps_rate and is_behind(observations):
            raise UsageError(
                f"{in_a_line(self.ground.name)} does not keep the rate here, so its CPU per "
                "request says little: use a smaller --rate, or none"
            )
        if self.goal.p99 is not None and not any(
            "p99" in observation.metrics for observation in observations
        ):
            raise UsageError(
                f"--p99: a window of {self.prepared.plan.window:g} s has too few replies for it: "
                "use a longer --window"
            )

    def _check_time(self) -> None:
        """Refuse a time that does not hold a race and a proof."""
        least = (self._used() + 2 * 6) / SEARCH, LOOKS[0] * 3 / (PROVED - SEARCH)
        wanted = math.ceil(SPARE * max(least) * self._seconds() / 60)
        if self._trials() < max(least):
            raise UsageError(
                f"--minutes {self.minutes:g} holds {self._trials()} trials of "
                f"{self._seconds():.1f} s each, and a search with its proof needs "
                f"{math.ceil(max(least))}: --minutes {wanted}"
            )


def nothing(_conclusion: RunConclusion) -> Iterator[tuple[str, str]]:
    """Yield no file: what a race found is told by the tune."""
    return iter(())


def _numbers(values: Values) -> Numbers:
    return frozenset(numbers(values).items())


def _name(values: Values) -> str:
    return "-".join(f"{key}-{value}".replace(" ", "-") for key, value in values.items())


def _why_void(trials: Sequence[Observation]) -> str:
    """Return why trials of a contender do not count; empty where one does."""
    if not trials or any(trial.metrics for trial in trials):
        return ""
    return trials[-1].trial.failure or next(
        (finding.reason for trial in trials for finding in trial.findings), ""
    )


def _why_not(ground: Ground, observations: Sequence[Observation]) -> LabError:
    """Return the error of a configuration without a valid trial."""
    name = f"{in_a_line(ground.name)}: no valid trial"
    failed = [item.trial.failure for item in observations if item.trial.failure]
    if failed:
        return LabError(f"{name}: {failed[0]}")
    reasons = [finding.reason for item in observations for finding in item.findings]
    return UnmeasuredError(f"{name}: {(reasons or ['nothing was measured'])[0]}")


def state_of(folder: Path) -> TuneState:
    """
    Return the state of a tune.

    Raises:
        ResultsError: There is none in that folder.
    """
    return read_json(folder / STATE, TuneState)
