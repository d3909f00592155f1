"""
What a line of trials.ndjson cannot say: arithmetic and the run's own header forbid it.

A file that was edited, merged or put together of two runs is still JSON of the right kind, and its
figures would be averaged like any others. Only what can never be true is refused: a figure that is
merely odd is for the gates, which show it.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence

from lab.model.measured import Trial, Window
from lab.model.plan import Plan

_COUNTS = ("ok", "unfinished", "retried", "connections", "received", "planned", "late", "queued")
_SECONDS = ("latency_sum", "cpu", "wait", "skew")


def problems(
    trials: Sequence[Trial], plan: Plan, environments: Container[str]
) -> Iterator[tuple[int, str]]:
    """
    Yield the number of each trial that cannot be, from 1, and why.

    Args:
        trials: In the order of their lines.
        plan: The run's.
        environments: Digests of the environments that the run was made in.
    """
    seen: dict[tuple[int, int, int], int] = {}
    for number, trial in enumerate(trials, 1):
        slot = trial.slot
        key = (slot.block, slot.position, trial.attempt)
        if key in seen:
            which = f"block {slot.block}, position {slot.position}, attempt {trial.attempt}"
            yield number, f"the trial of line {seen[key]} a second time ({which})"
        seen.setdefault(key, number)
        contradiction = _misplaced(trial, plan) or _impossible(trial)
        if contradiction is None and trial.environment not in environments:
            contradiction = f"its environment, {trial.environment[:12]}, is none of run.json's"
        if contradiction is not None:
            yield number, contradiction


def _misplaced(trial: Trial, plan: Plan) -> str | None:
    """Return what run.json does not agree with, or None."""
    slot, profile = trial.slot, trial.slot.arm.profile
    if trial.digest != profile.digest:
        return (
            f"it ran another version of {profile.name} than run.json has: digest "
            f"{trial.digest[:12]}, there {profile.digest[:12]}"
        )
    if not 0 <= slot.block < plan.blocks:
        return f"block {slot.block} of {plan.blocks}, counted from 0"
    if slot.position < 0 or trial.attempt < 0:
        return f"position {slot.position}, attempt {trial.attempt}"
    return None


def _impossible(trial: Trial) -> str | None:
    """Return which figure no measurement can give, or None."""
    for name, value in trial.readings.items():
        if not math.isfinite(value):
            return f"readings: {name} is {value}"
    if trial.readings and not any(trial.readings.values()) and trial.total("ok"):
        return f"readings: all {len(trial.readings)} are 0, beside {trial.total('ok'):,} replies"
    for name in ("elapsed", "server.pss"):
        if trial.readings.get(name, 0.0) < 0:
            return f"readings: {name} is {trial.readings[name]:g}"
    for number, window in enumerate(trial.windows):
        if (contradiction := _wrong(window)) is not None:
            return f"windows[{number}]: {contradiction}"
    return None


def _wrong(window: Window) -> str | None:
    if not 0 <= window.wall < math.inf:
        return f"it ends {-window.wall:g} s before it begins"
    for name in _SECONDS:
        value = getattr(window, name)
        if not 0 <= value < math.inf:
            return f"{name} is {value:g} s"
    counts = {name: getattr(window, name) for name in _COUNTS}
    counts |= {f"errors, {kind}": count for kind, count in window.errors.items()}
    counts |= {f"replies of connection {i}": count for i, count in enumerate(window.replies)}
    for name in ("latency", "service"):
        for us, count in getattr(window, name).items():
            counts[f"{name} at {us} µs"] = min(us, count)
    for number, request in enumerate(window.requests):
        told = (*request.latency.items(), *request.errors.items())
        counts |= {f"request {number}, {what}": count for what, count in told}
    for name, count in counts.items():
        if count < 0:
            return f"{name} is {count:,}"
    return _disagreement(window)


def _disagreement(window: Window) -> str | None:
    """Return which two counts of the same replies differ, or None."""
    if window.replies and sum(window.replies) != window.ok:
        return f"ok is {window.ok:,}, and its connections had {sum(window.replies):,} replies"
    if window.queued > window.unfinished:
        return f"{window.queued:,} of {window.unfinished:,} unfinished requests were queued"
    if window.requests:
        told = sum(sum(request.latency.values()) for request in window.requests)
        if told != window.ok:
            return f"ok is {window.ok:,}, and its requests had {told:,} replies"
    # ab says how long each request took, the wrong ones too.
    if window.latency and (timed := sum(window.latency.values())) < window.ok:
        return f"ok is {window.ok:,}, and {timed:,} latencies"
    return None
