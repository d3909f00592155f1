"""One trial: a fresh server, a steady load, and one fault planted in its middle."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

from lab.errors import GeneratorError, ServerStartError
from lab.generators.process import EngineGenerator, EngineSession, Recording
from lab.model import Endpoint, Load, Profile, Window, Workload
from lab.runs.environment import Cores
from lab.servers import adapter
from lab.stress.counting import Burst, count, count_burst, first, series
from lab.stress.faults import Fault
from lab.stress.overlay import overlay
from lab.stress.planting import TOUCHED
from lab.stress.result import CONTROL, Outcome
from lab.stress.target import Target
from lab.system import temporary

SLICE = 0.25
"""Seconds of one entry of the series."""

REPEATS = 2
"""A trial that was disturbed is made again at most so often; never one in which the fault did."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long the parts of a trial take at the least; seconds."""

    before: float = 2.0
    """From the begin of the load to the fault."""
    after: float = 1.5
    """From when the fault is over to the end of the load."""
    whole: float = 8.0
    """The load, unless the fault has stopped the server."""
    stopped: float = 2.0
    """From asking the server to stop to the end of the load."""


USUAL = Pace()


@dataclass(frozen=True, slots=True)
class Setting:
    """What all trials have in common."""

    workload: Workload
    load: Load
    """Open loop."""
    cores: Cores | None
    """The server's and the generator's; None for any."""
    quick: Workload | None = None
    """The same application asked for something that takes no time; None where that is unknown."""
    pace: Pace = USUAL


def measure(fault: Fault, profile: Profile, setting: Setting) -> Outcome:
    """
    Plant *fault* in *profile* and count what its clients felt.

    A trial that fails is an outcome that says so. One that something else disturbed is made again:
    requests were lost or late before the fault was planted, or without any, or the generator had
    not the CPU to send them in time. Not one in which they were answered wrongly then: that is the
    application's doing, and it would do so again.

    Raises:
        ProfileError: A command of the profile has a word in braces that is not known.
        LabError: The server could not be stopped.
    """
    if (why := fault.problem(profile)) is not None:
        return _impossible(fault, why)
    if fault.quick and setting.quick is None:
        return _impossible(fault, "it needs a path that is known to take no time")
    try:
        for tries in range(1, 2 + REPEATS):
            outcome, again = _measure(fault, profile, setting)
            outcome = replace(outcome, tries=tries)
            if not again:
                break
    except (ServerStartError, GeneratorError) as error:
        line, _, log = str(error).partition("\n")
        return Outcome(fault.name, problem=f"failed: {line}", log=log)
    return outcome


def _impossible(fault: Fault, why: str) -> Outcome:
    return Outcome(fault.name, problem=f"not possible: {why}", possible=False)


def _measure(fault: Fault, profile: Profile, setting: Setting) -> tuple[Outcome, bool]:
    """Return the outcome of one trial, and whether it is to be made again."""
    pace, load = setting.pace, setting.load
    with ExitStack() as stack:
        folder = stack.enter_context(temporary.folder())
        _prepare(folder)
        changed = overlay(profile, fault.options, folder)
        server = stack.enter_context(
            adapter(changed).start(
                changed, setting.workload, folder, setting.cores and setting.cores[0]
            )
        )
        steady = stack.enter_context(_generator(server.endpoint, setting, setting.workload, load))
        extra: EngineSession | None = None
        if fault.burst:
            at_once = Load(fault.burst, keepalive=False, requests=fault.burst, timeout=load.timeout)
            asked = setting.quick if fault.quick and setting.quick else setting.workload
            extra = stack.enter_context(_generator(server.endpoint, setting, asked, at_once))
        target = Target(server, folder, extra)
        already = Counter(target.told())
        began = steady.record(SLICE)
        _sleep_until(began + pace.before)
        seen = fault.plant(target)
        if not seen.possible:
            return _impossible(fault, seen.note), False
        if fault.stops:
            _sleep_until(target.planted[0] + pace.stopped)
        else:
            _sleep_until(max(began + pace.whole, perf_counter() + pace.after))
        # By then every request has been answered, or its time has run out: none is queued, as there
        # is a connection for each that can be under way.
        recording = steady.finish(load.timeout + 1.0)
        new = (Counter(target.told()) - already).total() if already else None
    before = untouched(fault.name, recording.windows, pace)
    outcome = Outcome(
        fault.name,
        note="; ".join(filter(None, (seen.note, _idle(target)))),
        disturbed=disturbed(before, recording.windows),
        replaced=new if seen.killed is None else seen.replaced,
        killed=seen.killed,
        planted=tuple(round(instant - began, 3) for instant in target.planted),
    )
    stopped = outcome.planted[0] if fault.stops else None
    bursts = [replace(each, ended=each.ended - began) for each in target.bursts]
    outcome = counted(outcome, recording, bursts, stopped)
    idle = target.idle > 0 and target.idle == len(target.bursts)
    outcome = replace(outcome, effect=had_effect(outcome, seen.effect and not idle))
    return outcome, outcome.disturbed and not count(before).wrong


def untouched(fault: str, windows: Sequence[Window], pace: Pace) -> Sequence[Window]:
    """Return the windows in which no fault can have done anything; of the control that is all."""
    return windows if fault == CONTROL else first(windows, pace.before)


def disturbed(before: Sequence[Window], whole: Sequence[Window]) -> bool:
    """
    Return whether something else than the fault was felt.

    Args:
        before: See `untouched`. What its last window leaves unfinished is not lost yet.
        whole: All windows of the trial.
    """
    return count(before).late > 0 or any(window.errors for window in before) or count(whole).starved


def had_effect(outcome: Outcome, seen: bool) -> bool:
    """
    Return whether a fault can have hurt.

    Args:
        outcome: With its counts: who felt it need not be in the burst.
        seen: Whether the server did something about it while the burst was under way.
    """
    felt = outcome.counts is not None and not outcome.counts.clean
    return seen or (felt and bool(outcome.planted))


def counted(
    outcome: Outcome, recording: Recording, bursts: Sequence[Burst], stopped: float | None
) -> Outcome:
    """
    Return *outcome* with the counts of its requests.

    Args:
        outcome: Without counts.
        recording: Of the steady load.
        bursts: Of the requests that were sent at once.
        stopped: Seconds from the begin of the load to when the server was told to stop, if it was.

    Raises:
        GeneratorError: The requests could not be made, for a reason of this machine's own.
    """
    steady = count(recording.windows, stopped)
    assert steady.attempted == recording.attempted, "a request was counted twice, or not at all"
    extra = [count_burst(each, stopped) for each in bursts]
    if any("ports" in each.errors for each in (steady, *extra)):
        raise GeneratorError("this machine has no local port left; try again in a minute")
    return replace(
        outcome,
        steady=steady,
        burst=sum(extra[1:], extra[0]) if extra else None,
        series=series(recording.windows, stopped, bursts),
    )


def _idle(target: Target) -> str:
    """Return that a fault met nothing under way, if so."""
    if not target.idle:
        return ""
    times = "" if len(target.bursts) == 1 else f" {target.idle} of {len(target.bursts)} times"
    return f"nothing of the burst was under way{times}: ask for what takes longer"


def _generator(
    endpoint: Endpoint, setting: Setting, workload: Workload, load: Load
) -> AbstractContextManager[EngineSession]:
    cores = setting.cores and setting.cores[1]
    return EngineGenerator().session(endpoint, workload, load, cores)


def _prepare(folder: Path) -> None:
    """Make the file that the chain reload touches, old enough that the touch is seen."""
    file = folder / TOUCHED
    temporary.write(file, "")
    old = time.time() - 100.0
    os.utime(file, (old, old))


def _sleep_until(instant: float) -> None:
    time.sleep(max(0.0, instant - perf_counter()))
