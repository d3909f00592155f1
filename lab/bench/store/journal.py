"""
What a line of trials.ndjson cannot say: arithmetic and the run's own header forbid it.

A file that was edited, merged or put together of two runs is still JSON of the right kind, and its
figures would be averaged like any others. Only what can never be true is refused: a figure that is
merely odd is for the gates, which show it. `lab.model.bounds` bounds single numbers.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence

from lab.model.measurement import Failure, Trial, Window
from lab.model.plan import LONGEST, SHORTEST, Load, Plan

ROUNDING = 1e-3
"""Share by which a sum of floats, or the clock of another host, may differ."""

MOST_BELOW_ZERO = 0.1
"""By which a reading that is a difference may lie below 0."""

CPU_ACCOUNT_DELAY = 1.0
"""Seconds by which the kernel's account of CPU may be late: a tick, on a CPU without ticks 1 s."""

SPARE_PER_CONNECTION = 10
"""Connections that may be opened or given up without a request, for one of the load's at once."""

CPU_LIST = re.compile(r"[0-9]{1,9}(-[0-9]{1,9})?(,[0-9]{1,9}(-[0-9]{1,9})?)*")
"""CPUs, as the kernel lists them: "0,2-3"."""


def trial_contradictions(
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
    before: Trial | None = None
    for number, trial in enumerate(trials, 1):
        slot = trial.slot
        key = (slot.block, slot.position, trial.attempt)
        if key in seen:
            yield number, f"the trial of line {seen[key]} a second time ({_place(trial)})"
            continue
        seen[key] = number
        contradiction = (
            _misplaced(trial, plan)
            or _out_of_turn(trial, before)
            or _half_failed(trial)
            or _impossible(trial, plan)
        )
        before = trial
        if contradiction is None and trial.environment not in environments:
            contradiction = f"its environment, {trial.environment[:12]}, is none of run.json's"
        if contradiction is not None:
            yield number, contradiction


def header_problem(
    plan: Plan,
    skipped: Mapping[str, str],
    environments: Mapping[str, Mapping[str, object]],
) -> str | None:
    """
    Return what in a run's header contradicts the rest of it, or None.

    Args:
        plan: The run's.
        skipped: Profile that was not run -> why.
        environments: What was read of the server's host, by digest.
    """
    if plan.reference not in {profile.name for profile in plan.profiles}:
        return f"no profile is its reference, {plan.reference}"
    if not SHORTEST <= plan.window <= LONGEST:
        return (
            f"its window is {plan.window:g} s: no run has one beyond {SHORTEST:g} to {LONGEST:g} s"
        )
    for profile in plan.profiles:
        if profile.name in skipped:
            return f"{profile.name} is among what was not run (skipped), and in its plan"
    if plan.server_cores is None:
        return None
    if not CPU_LIST.fullmatch(plan.server_cores):
        return f"its server_cores are no list of CPUs: {plan.server_cores:.40}"
    ranges = (part.partition("-") for part in plan.server_cores.split(","))
    named = sum(int(last or first) - int(first) + 1 for first, _, last in ranges)
    for facts in environments.values():
        cpu = facts.get("cpu")
        cores = cpu.get("cores") if isinstance(cpu, dict) else None
        if isinstance(cores, int) and named > cores:
            return f"its server_cores are {named:,} CPUs, and its machine has {cores}"
    return None


def _place(trial: Trial) -> str:
    slot = trial.slot
    return f"block {slot.block}, position {slot.position}, attempt {trial.attempt}"


def _out_of_turn(trial: Trial, before: Trial | None) -> str | None:
    """Return what is wrong where a trial is neither a repeat of the one above nor the next one."""
    block, position = trial.slot.block, trial.slot.position
    allowed_next = {(0, 0, 0)}
    if before is not None:
        slot = before.slot
        allowed_next = {(slot.block, slot.position, before.attempt + 1)}
        allowed_next |= {(slot.block, slot.position + 1, 0), (slot.block + 1, 0, 0)}
    if (block, position, trial.attempt) in allowed_next:
        return None
    above = _place(before) if before else "no trial"
    return f"a trial is missing, or in another place: {above} stands above {_place(trial)}"


def _misplaced(trial: Trial, plan: Plan) -> str | None:
    """Return what run.json does not agree with, or None."""
    slot, profile = trial.slot, trial.slot.arm.profile
    if trial.digest != profile.digest:
        return (
            f"it ran another version of {profile.name} than run.json has: digest "
            f"{trial.digest[:12]}, there {profile.digest[:12]}"
        )
    if slot.block >= plan.blocks:
        return f"block {slot.block} of {plan.blocks}, counted from 0"
    return None


def _half_failed(trial: Trial) -> str | None:
    """Return what a failure lacks, or what it cannot have, or None."""
    if trial.failed is None:
        return None
    if not trial.failure:
        return f"it failed ({trial.failed}), and no failure says why"
    if trial.windows and trial.failed is not Failure.SERVER:
        return f"it failed ({trial.failed}), which leaves no windows, and it has some"
    return None


def _impossible(trial: Trial, plan: Plan) -> str | None:
    """Return which figure no measurement can give, or None."""
    contradiction = _readings(trial)
    if contradiction is not None:
        return f"readings: {contradiction}"
    load, requests = trial.slot.arm.load, len(trial.slot.arm.workload.requests)
    for number, window in enumerate(trial.windows):
        contradiction = (
            _counts(window)
            or _requests(window, requests)
            or _connections(window, load, plan.turns)
            or _times(window, load, plan.turns)
            or _clocks(window, trial, plan)
        )
        if contradiction is not None:
            return f"windows[{number}]: {contradiction}"
    return _load(trial, load)


def _readings(trial: Trial) -> str | None:
    readings = trial.readings
    if readings and not any(readings.values()) and trial.total("ok"):
        return f"all {len(readings)} are 0, beside {trial.total('ok'):,} replies"
    for name, value in readings.items():
        # The kernel may set some of its counters back by a little.
        if value < -MOST_BELOW_ZERO and name != "machine.clock_step":
            return f"{name} is {value:g}"
    return _cores(readings) or _cpu(trial)


def _cores(readings: Mapping[str, float]) -> str | None:
    """Return which numbers of cores differ, or None."""
    cores = readings.get("machine.cores")
    if cores is None:
        return None
    if (server := readings.get("server.cores", 0.0)) > cores:
        return f"server.cores is {server:g}, and machine.cores {cores:g}"
    if {"machine.busy", "machine.idle"} <= readings.keys():
        stolen = cores * readings.get("machine.steal", 0.0)
        spent = readings["machine.busy"] + readings["machine.idle"] + stolen
        if abs(spent - cores) > cores / 4:
            return f"{spent:g} cores were busy, idle or stolen, of {cores:g}"
    return None


def _cpu(trial: Trial) -> str | None:
    """Return which of two accounts of CPU contradicts the other, or None."""
    readings, elapsed = trial.readings, trial.readings.get("elapsed")
    cores = readings.get("server.cores", readings.get("machine.cores"))
    used = readings.get("server.cpu_user", 0.0) + readings.get("server.cpu_system", 0.0)
    if elapsed is None or cores is None:
        return None
    if used > 1.05 * elapsed * cores + CPU_ACCOUNT_DELAY:
        return f"the server used {used:g} s of CPU, in {elapsed:g} s on {cores:g} cores"
    busy = readings.get("machine.busy", readings.get("machine.cores", math.inf)) * elapsed
    known = used + sum(window.cpu for window in trial.windows if not window.host)
    known += readings.get("machine.foreign_cpu", 0.0) * elapsed
    if known > 1.05 * busy + CPU_ACCOUNT_DELAY:
        return f"server, load and others used {known:g} s of CPU, and all cores {busy:g} s"
    return None


def _counts(window: Window) -> str | None:
    """Return which two counts of the same replies differ, or None."""
    ok, timed = window.ok, sum(window.latency.values())
    if window.replies and sum(window.replies) != ok:
        return f"ok is {ok:,}, and its connections had {sum(window.replies):,} replies"
    # ab, which does not count by connection, says how long each request took, the wrong ones too.
    if timed != ok and (window.replies or ok > timed > 0):
        return f"ok is {ok:,}, and {timed:,} latencies"
    if window.service and sum(window.service.values()) != ok:
        return f"ok is {ok:,}, and {sum(window.service.values()):,} service times"
    for name, part, whole in (
        ("unfinished requests were queued", window.queued, window.unfinished),
        # One that was due before the window may be sent late in it, on each connection.
        ("requests were sent late", window.late, window.planned + len(window.replies)),
        ("connections that were opened sent a request again", window.retried, window.connections),
        # A reply that ends with its connection may have had its last byte before the window.
        ("bytes received are of correct replies", ok, window.received + len(window.replies)),
    ):
        if part > whole:
            return f"{part:,} of {whole:,} {name}"
    return None


def _connections(window: Window, load: Load, turns: int) -> str | None:
    """Return what that many connections cannot have had, or None."""
    at_once = len(window.replies) or load.connections
    # Each turn begins with requests that were sent before it.
    spare = SPARE_PER_CONNECTION * at_once * turns
    sent = window.ok + sum(window.errors.values()) + window.unfinished + window.retried
    if window.connections > sent + spare:
        return (
            f"{window.connections:,} connections were opened, for {sent:,} requests on {at_once:,} "
            "at once"
        )
    if not load.keepalive and window.ok > window.connections + spare:
        return (
            f"ok is {window.ok:,}, on {window.connections:,} opened connections of one request each"
        )
    waiting = 0 if load.rate is None else window.queued
    # A request that has waited for the timeout is an error, at the latest when the window ends.
    if load.rate and waiting > (due := load.rate * (load.timeout + window.wall)) + spare:
        return f"{waiting:,} requests were queued, and {due:,.0f} were due in that time"
    if window.unfinished > spare + waiting:
        return f"{window.unfinished:,} requests were unfinished, on {at_once:,} connections"
    return None


def _requests(window: Window, requests: int) -> str | None:
    """Return what the answers to several requests do not agree with, or None."""
    if not window.requests:
        return None
    if len(window.requests) != requests:
        return f"{len(window.requests)} requests, of {requests} in run.json"
    answered, failed = Counter[int](), Counter[str]()
    for request in window.requests:
        answered.update(request.latency)
        failed.update(request.errors)
    if answered.total() != window.ok:
        return f"ok is {window.ok:,}, and its requests had {answered.total():,} replies"
    if answered != window.latency:
        return "its latencies are not those of its requests"
    for kind, count in failed.items():
        if count > window.errors.get(kind, 0):
            return f"{count:,} errors of its requests are {kind}, of {window.errors.get(kind, 0):,}"
    return None


def _times(window: Window, load: Load, turns: int) -> str | None:
    """Return which latencies cannot be those of its replies, or None."""
    least = _seconds(window.latency)
    most = (least + sum(window.latency.values()) / 1e6) * (1 + 2 / 256) * (1 + ROUNDING)
    # A bucket is at most 1/128 of its bound wide, and 1 µs at the least.
    if not least * (1 - ROUNDING) <= window.latency_sum <= most + 1e-6:
        return f"latency_sum is {window.latency_sum:g} s, and its latencies add up to {least:g} s"
    if (service := _seconds(window.service)) > window.latency_sum * (1 + ROUNDING) + 1e-6:
        return f"its service times add up to {service:g} s, its latencies to {least:g} s"
    connections = len(window.replies) or load.connections
    longest = max(window.latency, default=0) * 1.01 / 1e6
    took = window.wall + turns * longest
    if load.rate is None and window.latency_sum > 1.01 * connections * took:
        return (
            f"latency_sum is {window.latency_sum:g} s, on {connections} connections in "
            f"{window.wall:g} s"
        )
    return None


def _seconds(histogram: Mapping[int, int]) -> float:
    return sum(us * count for us, count in histogram.items()) / 1e6


def _clocks(window: Window, trial: Trial, plan: Plan) -> str | None:
    """Return which of two clocks contradicts the other, or None."""
    wall, elapsed = window.wall, trial.readings.get("elapsed")
    if trial.slot.arm.load.requests is None and wall < plan.window * (1 - ROUNDING):
        return f"wall is {wall:g} s, of {plan.window:g} s in run.json"
    # The probes begin before the windows do, and end after them.
    if elapsed is not None and wall > elapsed * (1 + ROUNDING) + 0.01:
        return f"wall is {wall:g} s, and the probes looked for {elapsed:g} s"
    if window.cpu + window.wait > 1.05 * wall + CPU_ACCOUNT_DELAY:
        return f"its process ran or waited for {window.cpu + window.wait:g} s, in {wall:g} s"
    return None


def _load(trial: Trial, load: Load) -> str | None:
    """Return what is not what its load asks for, or None."""
    windows = trial.windows
    connections = sum(len(window.replies) for window in windows)
    if connections not in (0, load.connections):
        return f"{connections} connections had replies, of {load.connections} in run.json"
    outcomes = trial.total("ok") + sum(sum(window.errors.values()) for window in windows)
    outcomes += trial.total("unfinished")
    if windows and load.requests is not None and outcomes != load.requests:
        return f"{outcomes:,} requests had an outcome, of {load.requests:,} in run.json"
    planned = trial.total("planned")
    if load.rate is None:
        if planned or any(window.service for window in windows):
            return f"{planned:,} requests were planned, and run.json has no rate"
        return None
    if any(window.ok and not window.service for window in windows):
        return "an open loop without service times"
    if planned > outcomes:
        return f"{planned:,} requests were planned, and {outcomes:,} had an outcome"
    return None
