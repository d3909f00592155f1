"""
The stress test: every fault in every profile, a fresh server for each.

Fault by fault and not profile by profile, so that a test which is ended early has whole rows, and
what stands side by side was measured within a minute.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console
from rich.progress import track

from lab import environment, probes, profiles
from lab.errors import UsageError
from lab.experiment import missing
from lab.generators.process import EngineGenerator
from lab.model import Expectation, Load, Plan, Profile, Workload
from lab.runner import Parts, capture
from lab.servers import adapter
from lab.servers.readiness import fetch
from lab.stress.faults import FAULTS, Fault
from lab.stress.result import CONTROL, FORMAT, Outcome, ProfileResult, Result
from lab.stress.trial import USUAL, Pace, Setting, measure

PROFILES = ("production", "tuned", "baseline")
"""What is put to the test where nothing else is asked for: what to deploy, without its front, and
where the article starts."""

WAITING = Workload("waiting", "/12", Expectation(body=b"12\n"), app="app.waiting:app")
"""12 ms without work: two workers are then busy for a third of the time, at `RATE`."""

QUICK = replace(WAITING, path="/0", expect=Expectation(body=b"0\n"))
"""The same without the waiting: of a thousand at once, 12 ms each, the last would wait for the
workers and not for the accept queue."""

RATE = 50.0
"""Requests a second that every profile has room for: what is felt is the fault, not the load."""

CONNECTIONS, TIMEOUT = 256, 10.0
"""Of the steady load; a service's callers usually give up sooner."""

MACHINE = ("cpu", "machine", "kernel", "python", "uwsgi", "tools")
"""Parts of the environment that a reader of the stored result wants to know."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a user asked for."""

    profiles: Sequence[str] = ()
    """Names or paths; empty for `PROFILES`."""
    faults: Sequence[str] = ()
    """Names; empty for all. The control is always among them."""
    workload: Workload = WAITING
    rate: float = RATE
    pace: Pace = USUAL
    command: Sequence[str] = field(default_factory=lambda: tuple(sys.argv))


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


def stress(wishes: Wishes, console: Console, keep: Callable[[Result], None]) -> Result:
    """
    Plant every fault in every profile.

    Args:
        wishes: What is asked for.
        console: Shows how far it has come.
        keep: Given what is known so far when something ends the test early.

    Raises:
        UsageError: A fault is unknown, no profile can run here, or the workload cannot be judged.
        ProfileError: A profile is unknown or cannot be resolved.
        Interrupted: A signal came; *keep* has what was finished.
    """
    faults = choose(wishes.faults)
    cores = environment.split_cores()
    if cores:
        # As `lab run` has it: a process for each CPU of the server's, two at the least.
        os.environ.setdefault("PROCESSES", str(max(2, len(cores[0]))))
    chosen, skipped = _profiles(wishes.profiles or PROFILES)
    if not chosen:
        raise UsageError("no profile can run here: " + "; ".join(skipped.values()))
    load = Load(CONNECTIONS, timeout=TIMEOUT, rate=wishes.rate)
    quick = QUICK if wishes.workload == WAITING else None
    setting = Setting(
        _judged(wishes.workload, chosen, load), load, cores, quick=quick, pace=wishes.pace
    )
    here = environment.read_environment()
    empty = Result(
        format=FORMAT,
        command=_repeatable(wishes.command),
        machine={name: here[name] for name in MACHINE if name in here},
        workload=f"{wishes.workload.app or wishes.workload.name}, GET {wishes.workload.path}",
        rate=wishes.rate,
        connections=load.connections,
        timeout=load.timeout,
        faults={fault.name: fault.summary for fault in faults},
        profiles=(),
        skipped=skipped,
    )
    found: list[tuple[Profile, Outcome]] = []
    turns = [(fault, profile) for fault in faults for profile in chosen]
    try:
        for fault, profile in track(turns, "planted faults", console=console, transient=True):
            found.append((profile, measure(fault, profile, setting)))
    except BaseException:
        if found:
            keep(_with(empty, chosen, found))
        raise
    return _with(empty, chosen, found)


def _with(
    empty: Result, chosen: Sequence[Profile], found: Sequence[tuple[Profile, Outcome]]
) -> Result:
    results = tuple(
        ProfileResult(
            name=profile.name,
            summary=profile.summary,
            outcomes=tuple(outcome for of, outcome in found if of is profile),
        )
        for profile in chosen
    )
    return replace(empty, profiles=results)


def _profiles(names: Sequence[str]) -> tuple[list[Profile], dict[str, str]]:
    """Return the profiles that can run here, and why the others cannot."""
    chosen: list[Profile] = []
    skipped: dict[str, str] = {}
    for name in dict.fromkeys(names):
        profile = profiles.read(name)
        if profile.name in (each.name for each in chosen):
            raise UsageError(f"two profiles have the name {profile.name}: {name} is one of them")
        if profile.reply is not None:
            skipped[profile.name] = f"{profile.name} serves no application"
        elif (reason := missing(profile)) is not None:
            skipped[profile.name] = reason
        else:
            chosen.append(profile)
    return chosen, skipped


def _judged(workload: Workload, chosen: Sequence[Profile], load: Load) -> Workload:
    """Return *workload* with the reply that is required, asked of the first profile if need be."""
    plan = Plan(
        profiles=tuple(chosen),
        reference=chosen[0].name,
        workload=workload,
        load=load,
        blocks=1,
        warmup=0.0,
        window=0.0,
        seed=0,
    )
    parts = Parts(
        server=adapter,
        generator=EngineGenerator(),
        probes=(),
        facts=probes.facts,
        record=lambda _trial: None,
        environment="",
    )
    return capture(plan, parts, fetch)


def _repeatable(command: Sequence[str]) -> str:
    program = Path(command[0])
    if program.is_relative_to(Path.cwd()):
        program = program.relative_to(Path.cwd())
    return shlex.join([str(program), *command[1:]])
