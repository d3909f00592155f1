"""`lab ab`, replayed on recorded trials: the product's own looks, limits and statuses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lab.analysis.ending import exit_status, is_over
from lab.analysis.judging import FAILED, UNJUDGED, Judgement, judge_own
from lab.analysis.points import summaries
from lab.bench.trials.minutes import LOOKS
from lab.bench.trials.pair import NEW, OLD
from lab.model.measurement import Run, Trial
from lab.model.plan import Arm, Plan, Role, Slot
from studies.judges.cut import Decision, Row, Sample

LIMITS = {"cpu": f"cpu({NEW}/{OLD}) > 1.05", "time": f"throughput({NEW}/{OLD}) < 0.9524"}
"""By what a judge goes: the limit of docs/how-to/ci.md, and the same of requests/s."""

MINUTES = 10.0
"""At most, as `lab ab` has it where nobody says."""


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """What one run of `lab ab` says."""

    status: int
    rows: int
    """From the first that it used to the last."""
    trials: int


@dataclass(frozen=True, slots=True)
class LabAb:
    """
    Says what `lab ab OLD NEW --fail-if LIMIT` ends with.

    Args:
        name: What it is called.
        metric: A key of `LIMITS`.
        seconds: From the start of one trial to that of the next, for the time that may be taken.
        confirm: Whether a second run, of the blocks that follow, has to agree.
    """

    name: str
    metric: str
    seconds: float
    confirm: bool = False
    duets: bool = False
    in_a_row: int = 0

    def judge(self, rows: Sequence[Row]) -> Decision | None:
        """Judge from the first of *rows* on; None where they end before it has decided."""
        first = self._run(rows)
        if first is None:
            return None
        if not (self.confirm and first.status == FAILED):
            return _decision(first)
        second = self._run(rows[first.rows :])
        if second is None:
            return None
        status = FAILED if second.status == FAILED else UNJUDGED
        return _decision(
            PairOutcome(status, first.rows + second.rows, first.trials + second.trials)
        )

    def _run(self, rows: Sequence[Row]) -> PairOutcome | None:
        """Return what a run that begins with *rows* ends with; None where they do not suffice."""
        most = min(LOOKS[-1], int(MINUTES * 60 / (3 * self.seconds)))
        usable = [at for at, row in enumerate(rows) if row.new is not None][:most]
        if len(usable) < LOOKS[0]:
            return None
        run = _run_of([rows[at] for at in usable], LIMITS[self.metric])
        run_ending = ending(run)
        if run_ending.blocks == len(usable) < most and not run_ending.over:
            return None
        trials = sum(trial.slot.block < run_ending.blocks for trial in run.trials)
        return PairOutcome(run_ending.status, usable[run_ending.blocks - 1] + 1, trials)


@dataclass(frozen=True, slots=True)
class Ending:
    """When a run of two versions ends, and what it says then."""

    blocks: int
    """After which."""
    judgements: tuple[Judgement, ...]
    """What it says to each limit."""
    status: int
    """Its exit status."""
    over: bool
    """Whether it has said what it is for."""


def ending(run: Run) -> Ending:
    """
    Judge trials as `lab ab` judges them: at each look, until all is decided.

    Args:
        run: With the arms old, old again and new. Of one that `lab ab` has made this is how it
            ended; of other trials how it would have, had its time ended with them.
    """
    for look in (blocks for blocks in run.plan.looks if blocks <= run.blocks):
        trials = tuple(trial for trial in run.trials if trial.slot.block < look)
        run_ending = _ended(replace(run, trials=trials, ended=True))
        if run_ending.over:
            return run_ending
    return _ended(run)


def _ended(run: Run) -> Ending:
    run_summaries = summaries(run)
    judgements = tuple(judgement for summary in run_summaries for judgement in judge_own(summary))
    status, over = exit_status(run_summaries, judgements), is_over(run_summaries, judgements)
    return Ending(run.blocks, judgements, status, over)


def _decision(outcome: PairOutcome) -> Decision:
    decided = outcome.status in (0, FAILED)
    return Decision(outcome.status == FAILED, decided, outcome.rows, outcome.trials)


def _run_of(rows: Sequence[Row], limit: str) -> Run:
    """Return the run of `lab ab` that has these trials."""
    trials = tuple(_trials(rows))
    arms = tuple(
        next(trial.slot.arm for trial in trials if trial.slot.arm.name == name)
        for name in (OLD, NEW)
    )
    arms = tuple(replace(arm, role=Role.PROFILE) for arm in arms)
    plan = Plan(
        arms=arms,
        reference=OLD,
        blocks=LOOKS[-1],
        warmup=0.0,
        window=1.0,
        seed=0,
        minutes=MINUTES,
        looks=LOOKS,
        against_both=True,
        deciding="cpu",
        thresholds=(limit,),
        inert={},
    )
    return Run("judged", "lab ab", plan, {}, trials, ended=True)


def _trials(rows: Sequence[Row]) -> Iterator[Trial]:
    for block, row in enumerate(rows):
        sides = (
            (row.old, OLD, Role.PROFILE),
            (row.again, OLD, Role.AA),
            (row.new, NEW, Role.PROFILE),
        )
        for sample, name, role in sides:
            assert sample is not None
            yield from _as(sample, block, name, role)


def _as(sample: Sample, block: int, name: str, role: Role) -> Iterator[Trial]:
    """Yield the attempts of a trial as those of an arm of `lab ab`."""
    for trial in sample.trials:
        trial_arm: Arm = trial.slot.arm
        profile = replace(trial_arm.profile, name=name, against=OLD if name == NEW else None)
        arm = replace(trial_arm, name=name, profile=profile, role=role)
        yield replace(trial, slot=Slot(block, trial.slot.position, arm))
