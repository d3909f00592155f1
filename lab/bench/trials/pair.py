"""Two versions of one application in one run: the old one twice in every block, and the new one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from lab.bench.servers.runner import ServerRunner
from lab.bench.trials.conduct import Measurement, PreparedRun, prepare
from lab.bench.trials.minutes import with_minutes
from lab.bench.trials.plan import estimate
from lab.errors import Interrupted, LabError, UsageError
from lab.model.plan import Arm, Plan
from lab.model.workload import Workload

OLD, NEW = "old", "new"

Side = tuple[str, Workload]
"""A configuration's name or path, and what its server is asked and started with."""


def prepare_pair(
    options: Measurement, old: Side, new: Side, *, deciding: str, new_reply: bool
) -> PreparedRun:
    """
    Lay out the plan of two versions, each served from a folder and an environment of its own.

    Args:
        options: What is asked of the run; its profiles are those of the sides.
        old: The reference.
        new: What may be slower.
        deciding: Metric that ends it where it has no limits.
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
    plan = replace(plan, deciding=deciding)
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
            for name, prepared_run in ((OLD, first), (NEW, second))
            for version in prepared_run.versions.values()
        },
        runtime={
            name: prepared_run.runtime
            for name, prepared_run in ((OLD, first), (NEW, second))
            if prepared_run.runtime
        },
    )


def _prepared(name: str, options: Measurement, side: Side) -> PreparedRun:
    config, workload = side
    alone = replace(options, profiles=(config,), minutes=None)
    try:
        with naming(name):
            return prepare(alone, workload)
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from error


@contextmanager
def naming(version: str) -> Iterator[None]:
    """Let an error say which version does not run; wrong usage and Ctrl-C say nothing of it."""
    try:
        yield
    except (UsageError, Interrupted):
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
    sought = ServerRunner().target_of(arm.profile, arm.workload)
    if sought is None:
        return None
    at = sought.folder.resolve()
    dotted = at / sought.module.replace(".", "/")
    candidates = (at / sought.module, dotted, Path(f"{dotted}.py"))
    return next((path for path in candidates if sought.module and path.exists()), None)
