"""
The stress test: every fault in every profile, a fresh server for each.

Fault by fault and not profile by profile, so that a test which is ended early has whole rows, and
what stands side by side was measured within a minute.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any

from rich.console import Console
from rich.progress import track

from lab.bench.load.descriptors import most_connections
from lab.bench.machine.temporary import swept
from lab.bench.servers.fetch import fetch
from lab.bench.servers.runner import ServerRunner
from lab.bench.store import environment
from lab.bench.trials.available import Installation, available, import_applications, warnings
from lab.bench.trials.conduct import repeatable
from lab.bench.trials.cores import assign_cores
from lab.bench.trials.plan import arm_of
from lab.bench.trials.replies import capture, requiring
from lab.bench.trials.same_application import remarks
from lab.cli.stress.faults import FAULTS, QUEUE, Fault
from lab.cli.stress.result import CONTROL, FaultOutcome, ProfileResult, StressResult
from lab.cli.stress.text import progress
from lab.cli.stress.trial import USUAL, Conditions, Pace, measure
from lab.config import servers
from lab.config.interface import ASGI
from lab.errors import UsageError
from lab.model.plan import Arm, Load
from lab.model.profile import Profile
from lab.model.request import Expectation
from lab.model.runtime import without_values
from lab.model.workload import Workload

PROFILES = ("production", "tuned", "baseline")
"""What is put to the test where nothing else is asked for: what to deploy, without its front, and
where the article starts."""

WAITING = Workload(
    "waiting",
    "/12",
    Expectation(body=b"12\n"),
    app="loadtests.workloads.waiting:app",
    apps={
        "wsgi": "loadtests.workloads.waiting:app",
        "asgi": "loadtests.workloads.waiting._asgi:app",
    },
)
"""12 ms without work: two workers are then busy for a third of the time, at `RATE`."""

IN_LOOPS = replace(WAITING, path="/100", expect=Expectation(body=b"100\n"))
"""The same where all profiles have event loops: these wait for a whole burst at once, and what
takes 12 ms would be over before the fault."""

QUICK = replace(WAITING, path="/0", expect=Expectation(body=b"0\n"))
"""The same without the waiting: of a thousand at once, 12 ms each, the last would wait for the
workers and not for the accept queue."""

RATE = 50.0
"""Requests per second that every profile has room for: what is felt is the fault, not the load."""

TIMEOUT = 10.0
"""Seconds; a service's callers usually give up sooner."""

SPARE = 16
"""Connections beyond those that can wait for a reply until their time has run out."""

MACHINE = ("cpu", "machine", "kernel", "python", "uwsgi", "tools")
"""Parts of the environment that a reader of the stored result wants to know."""

NOT_RUN = "not run: its control was not clean"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a user asked for."""

    profiles: Sequence[str] = PROFILES
    """Names or paths."""
    faults: Sequence[str] = ()
    """Names; empty for all. The control is always among them."""
    workload: Workload = WAITING
    quick: Workload | None = None
    """What is asked of an application of the user's by all clients at once; None where nothing is
    known to take no time."""
    queue: int = QUEUE
    """How many clients those are."""
    rate: float = RATE
    pace: Pace = USUAL
    required: Collection[str] = ()
    """Names of profiles that must be tested."""
    command: Sequence[str] = field(default_factory=lambda: without_values(sys.argv))


def choose(names: Sequence[str]) -> tuple[Fault, ...]:
    """
    Return the faults with these names in the order of the table, the control first.

    Raises:
        UsageError: There is no such fault.
    """
    known = [fault.name for fault in FAULTS]
    for name in names:
        if name not in known:
            raise UsageError(f"no fault {name!r}; there are {', '.join(known)}")
    return tuple(fault for fault in FAULTS if not names or fault.name in {CONTROL, *names})


@swept()
def stress(wishes: Wishes, console: Console, keep: Callable[[StressResult], None]) -> StressResult:
    """
    Plant every fault in every profile.

    Args:
        wishes: What is asked for.
        console: Shows how far it has come.
        keep: Given what is known so far when something ends the test early.

    Raises:
        ApplicationError: An application cannot be imported.
        UsageError: A fault is unknown, no profile can run here, one that is required cannot, or the
            workload cannot be judged.
        ProfileError: A profile is unknown or cannot be resolved.
        Interrupted: A signal came; *keep* has what was finished.
    """
    faults = [
        fault.sized(wishes.queue) if fault.quick else fault for fault in choose(wishes.faults)
    ]
    cores = assign_cores()
    installations, skipped, workload, theirs = _profiles(wishes)
    chosen = [installation.profile for installation in installations]
    for line in remarks(chosen, cores[0] if cores else None, workload):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    for line in warnings(installations, workload.runtime):
        console.print(f"warning: {line}", markup=False, highlight=False, soft_wrap=True)
    wishes = replace(wishes, workload=long_enough(workload, chosen))
    arms = _arms(wishes, chosen)
    conditions = Conditions(cores, quick=_quick(wishes, arms[0], chosen), pace=wishes.pace)
    result = _empty(wishes, faults, arms, skipped)
    result = replace(result, machine={**result.machine, **theirs})
    turns = [(fault, arm) for fault in faults for arm in arms]
    try:
        for fault, arm in track(turns, "planted faults", console=console, transient=True):
            if arm.name in result.dirty():
                outcome = FaultOutcome(fault.name, problem=NOT_RUN, made=False)
            else:
                outcome = measure(fault, arm, conditions)
            result = result.plus(arm.name, outcome)
            console.print(progress(arm.name, outcome), markup=False, highlight=False)
    except BaseException as error:
        if any(profile.outcomes for profile in result.profiles):
            try:
                keep(result)
            except Exception as other:  # noqa: BLE001 - what ended the test is said first
                error.add_note(f"lab: {other}")
        raise
    return result


def arms_of(wishes: Wishes) -> list[Arm]:
    """
    Return an arm for each profile that is asked for, with the reply that is right.

    Raises:
        LabError: As `stress`.
    """
    installations, _, workload, _ = _profiles(wishes)
    return _arms(
        replace(wishes, workload=workload), [installation.profile for installation in installations]
    )


def _arms(wishes: Wishes, chosen: Sequence[Profile]) -> list[Arm]:
    """Return an arm for each profile."""
    # One for each request that can be under way: with fewer, those that are due would queue here,
    # and a server that hangs would be asked no more.
    connections = min(ceil(wishes.rate * TIMEOUT) + SPARE, most_connections())
    load = Load(connections, timeout=TIMEOUT, rate=wishes.rate)
    arms = [arm_of(profile, wishes.workload, load) for profile in chosen]
    known = capture(arms[0].workload, chosen, ServerRunner(), fetch)
    return [replace(arm, workload=requiring(arm.workload, known)) for arm in arms]


def long_enough(workload: Workload, chosen: Sequence[Profile]) -> Workload:
    """Return what is asked of *chosen*: of our own what takes longer, if all have event loops."""
    loops = all(servers.of(profile).interface(profile) == ASGI for profile in chosen)
    if workload.name != WAITING.name or not loops:
        return workload
    return replace(workload, path=IN_LOOPS.path, expect=IN_LOOPS.expect)


def _quick(wishes: Wishes, arm: Arm, chosen: Sequence[Profile]) -> Workload | None:
    """Return what all clients ask at once, with the reply that is right; None where not known."""
    if wishes.workload.name == WAITING.name:
        return replace(QUICK, runtime=wishes.workload.runtime)
    quick, known = wishes.quick, arm.workload
    if quick is None or quick.target_text == known.target_text:
        return quick and known
    workload = replace(known, path=quick.path, expect=quick.expect, requests=quick.requests)
    return capture(workload, chosen, ServerRunner(), fetch)


def _empty(
    wishes: Wishes, faults: Sequence[Fault], arms: Sequence[Arm], skipped: Mapping[str, str]
) -> StressResult:
    """Return the result of a test that has not begun."""
    here = environment.read_environment()
    load = arms[0].load
    apps = dict.fromkeys(arm.workload.app or arm.workload.name for arm in arms)
    get = "GET " * (wishes.workload.asks[0].method == "GET")
    return StressResult(
        format=StressResult.FORMAT,
        command=repeatable(wishes.command),
        machine={name: here[name] for name in MACHINE if name in here},
        workload=f"{' and '.join(apps)}, {get}{wishes.workload.target_text}",
        rate=wishes.rate,
        connections=load.connections,
        timeout=load.timeout,
        faults={fault.name: fault.summary for fault in faults},
        profiles=tuple(ProfileResult(arm.name, arm.profile.summary, ()) for arm in arms),
        skipped=skipped,
    )


def _profiles(
    wishes: Wishes,
) -> tuple[list[Installation], dict[str, str], Workload, dict[str, Any]]:
    """Return the profiles that can be tested, why others cannot, what is asked and runs them."""
    names = tuple(dict.fromkeys(wishes.profiles))
    installations, skipped, workload = available(names, wishes.workload)
    chosen = [installation.profile for installation in installations]
    for profile in chosen:
        if [profile.name for profile in chosen].count(profile.name) > 1:
            raise UsageError(f"two profiles have the name {profile.name}: rename one of them")
        if profile.reply is not None:
            skipped[profile.name] = "serves no application"
    serving = [installation for installation in installations if installation.profile.reply is None]
    if not serving:
        reasons = "; ".join(f"{name} {reason}" for name, reason in skipped.items())
        raise UsageError(f"no profile can be tested: {reasons}")
    for name in wishes.required:
        if name in skipped:
            raise UsageError(f"--require {name}: it cannot be tested: {skipped[name]}")
    theirs = import_applications(installations, workload, warnings(serving, workload.runtime))
    return serving, skipped, workload, {"runtime": theirs} if theirs else {}
