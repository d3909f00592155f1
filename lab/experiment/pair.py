"""Two versions of one application in one run: the old one twice in every block, and the new one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from lab.analysis.compare import differs
from lab.analysis.health import HEADLINE
from lab.analysis.judging import (
    UNJUDGED,
    Judged,
    Judgement,
    RatioSeen,
    Reach,
    judge_points,
    judge_run,
)
from lab.analysis.looks import ended_early
from lab.analysis.points import summaries
from lab.analysis.summary import Summary
from lab.analysis.thresholds import Threshold
from lab.errors import LabError, UsageError
from lab.experiment.conduct import Options, Prepared, prepare
from lab.experiment.minutes import with_minutes
from lab.experiment.plan import estimate
from lab.model.comparison import MayBe
from lab.model.measured import Run
from lab.model.plan import Arm, Plan
from lab.model.workload import Workload
from lab.servers import adapter

OLD, NEW = "old", "new"

Side = tuple[str, Workload]
"""A configuration's name or path, and what its server is asked and started with."""


def prepare_pair(options: Options, old: Side, new: Side, *, new_reply: bool) -> Prepared:
    """
    Lay out the plan of two versions, each served from a folder and an environment of its own.

    Args:
        options: What is asked of the run; its profiles are those of the sides.
        old: The reference.
        new: What may be slower.
        new_reply: Whether each version's own reply is the right one.

    Raises:
        LabError: A side cannot be served; the message says which.
    """
    first, second = _prepared(OLD, options, old), _prepared(NEW, options, new)
    arms = _named(first.plan.arms[0], OLD), _named(second.plan.arms[0], NEW, against=OLD)
    if new_reply:  # what is asked by another name is answered by a reply of its own
        other = replace(arms[1].workload, name=f"{arms[1].workload.name}-{NEW}")
        arms = arms[0], replace(arms[1], workload=other)
    plan = replace(first.plan, arms=arms, reference=OLD, against_both=True, inert={})
    if options.minutes is not None:
        plan = with_minutes(plan, options.minutes)
    return replace(
        first,
        plan=plan,
        seconds=estimate(plan),
        warnings=tuple(dict.fromkeys(first.warnings + second.warnings)),
        remarks=tuple(dict.fromkeys(first.remarks + second.remarks)),
        versions={
            name: version
            for name, each in ((OLD, first), (NEW, second))
            for version in each.versions.values()
        },
        runtime={
            name: each.runtime for name, each in ((OLD, first), (NEW, second)) if each.runtime
        },
    )


def _prepared(name: str, options: Options, side: Side) -> Prepared:
    config, workload = side
    alone = replace(options, profiles=(config,), minutes=None)
    try:
        with naming(name):
            return prepare(alone, workload)
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from error


@contextmanager
def naming(version: str) -> Iterator[None]:
    """Let an error say which version does not run; how a command is used is no version's fault."""
    try:
        yield
    except UsageError:
        raise
    except LabError as error:
        error.add_note(f"It is the {version} version that does not run.")
        raise


def _named(arm: Arm, name: str, against: str | None = None) -> Arm:
    return replace(arm, name=name, profile=replace(arm.profile, name=name, against=against))


def served_alike(plan: Plan) -> Path | None:
    """Return from where both versions' applications are imported; None where that differs."""
    old, new = map(_served, plan.arms)
    return old if old == new else None


def _served(arm: Arm) -> Path | None:
    """Return the file or folder that an arm's application is, if it lies where it is served."""
    sought = adapter(arm.profile).sought(arm.profile, arm.workload)
    if sought is None:
        return None
    at = sought.folder.resolve()
    dotted = at / sought.module.replace(".", "/")
    found = (at / sought.module, dotted, Path(f"{dotted}.py"))
    return next((each for each in found if sought.module and each.exists()), None)


METRICS = ("cpu", "throughput", "p99", "memory")
"""By one of which a pair is judged that has no limits."""


def decided(
    thresholds: Sequence[Threshold], metric: str = METRICS[0]
) -> Callable[[Sequence[Summary]], bool]:
    """
    Return what tells at a look whether a run has said what it is for.

    That is whether each limit is crossed beyond doubt, or excluded; without any limit, whether by
    *metric* new is better, worse, or surely within 5 % of old.
    """

    def limits_decided(found: Sequence[Summary]) -> bool:
        judged = [judge_run(each, summary) for summary in found for each in thresholds]
        return all(each.outcome is Judged.FAILED or _is_excluded(each) for each in judged)

    def told(found: Sequence[Summary]) -> bool:
        return all(ended_early(summary.compare(metric, NEW, OLD)) for summary in found)

    return limits_decided if thresholds else told


@dataclass(frozen=True, slots=True)
class Ending:
    """When a run of two versions ends, and what it says then."""

    blocks: int
    """After which."""
    judgements: tuple[Judgement, ...]
    """What it says to each limit."""
    status: int
    """Its exit status."""


def ending(run: Run, thresholds: Sequence[Threshold], metric: str = METRICS[0]) -> Ending:
    """
    Judge trials as `lab ab` judges them: at each look, until all is decided.

    A noise check that fails for want of blocks makes no status of its own then: what is decided
    needs no quieter machine. A limit that is neither crossed nor excluded could not be told.

    Args:
        run: With the arms old, old again and new. Of one that `lab ab` has made this is how it
            ended; of other trials how it would have, had its time ended with them.
        thresholds: The limits.
        metric: What decides where there is none.
    """
    over, made = decided(thresholds, metric), run.blocks
    found = summaries(run)
    for look in (each for each in run.plan.looks if each <= made):
        trials = tuple(trial for trial in run.trials if trial.slot.block < look)
        so_far = summaries(replace(run, trials=trials, ended=True))
        if over(so_far):
            found, made = so_far, look
            break
    judgements, status = judge_points(found, thresholds)
    if status == UNJUDGED and over(found) and not any(map(_unlike, found)):
        status = 0
    elif status == 0 and any(map(is_open, judgements)):
        status = UNJUDGED
    return Ending(made, judgements, status)


def is_open(judgement: Judgement) -> bool:
    """
    Return whether a limit on a ratio is neither crossed nor excluded.

    The interval holds it, or lies beyond it and is no farther from 1 than noise, or is the bound of
    a ratio that may lie beyond it.
    """
    return (
        isinstance(judgement.why, RatioSeen)
        and judgement.outcome is Judged.PASSED
        and not _is_excluded(judgement)
    )


def _is_excluded(judgement: Judgement) -> bool:
    """Return whether the ratio surely lies where its limit is not crossed."""
    if not isinstance(judgement.why, RatioSeen) or judgement.why.reach is not Reach.SHORT:
        return False
    farther = MayBe.LARGER if judgement.threshold.above else MayBe.SMALLER
    bound = judgement.bound
    return bound is None or bound.may_be not in {farther, MayBe.EITHER}


def _unlike(summary: Summary) -> bool:
    """Return whether old is not known to be as old again."""
    ratio = summary.aa[HEADLINE].ratio
    return ratio is None or differs(ratio)
