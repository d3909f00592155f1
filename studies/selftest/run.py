"""
The self-test: plant every fault several times, and count what the lab says of it.

The order is interleaved over the cases, so that a machine that is busy for a minute spoils one
trial of several cases and not all of one. A trial that something outside disturbed is repeated,
as in any run; the last one counts, unless it was disturbed so much that it counts for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import track

from lab.bench.load.process import EngineGenerator
from lab.bench.machine.temporary import swept
from lab.bench.store import environment
from lab.bench.store.environment import Cores
from lab.bench.store.folder import write_json
from lab.bench.trials.conduct import real_parts
from lab.bench.trials.runner import Silent, run
from lab.errors import UsageError
from lab.model.measurement import Trial
from lab.model.plan import Plan
from studies.selftest.bounds import BOUNDS, measure_bounds
from studies.selftest.cases import CASES, Around, PlantedCase
from studies.selftest.effects import measure_effects
from studies.selftest.judging import case_result
from studies.selftest.result import EffectResult, SelfTestResult
from studies.selftest.show import show
from studies.selftest.surroundings import lossy, lossy_problem, strangers

TRIALS, TRIALS_QUICK = 10, 2
"""Trials of each case; nine of ten is the goal, and two show that everything works."""

MACHINE = ("cpu", "kernel", "python", "virtualisation")
"""Parts of the environment that a reader of the stored result wants to know."""


def selftest(
    *,
    console: Console,
    quick: bool = False,
    names: Sequence[str] = (),
    output: Path | None = None,
    verbose: bool = False,
) -> int:
    """
    Run the self-test and print what was found.

    Args:
        console: Where to print.
        quick: The clear-cut cases only, two trials of each.
        names: Cases to run, without the planted differences; empty for all. `BOUNDS` is one.
        output: JSON file to write the result to, with the evidence.
        verbose: Print the evidence of every case, and the readings of every miss.

    Returns:
        Exit status: 0 when the lab may be trusted here, 1 when it said something wrong, 3 when too
        little could be judged: this machine was too busy, or lacks what the cases need.

    Raises:
        UsageError: A case is unknown, or this is not a checkout.
        LabError: uWSGI is not installed, or *output* cannot be written.
    """
    result = examine(quick=quick, names=names, console=console)
    show(result, console, verbose=verbose)
    if output is not None:
        write_json(output, result)
    return result.status


@swept()
def examine(*, quick: bool, names: Sequence[str], console: Console) -> SelfTestResult:
    """Run the chosen cases, and return what was found."""
    chosen = _choose(names, quick=quick)
    cores = environment.split_cores()
    skipped = {case.name: why for case in chosen if (why := _problem(case, cores)) is not None}
    plans = {case.name: case.plan() for case in chosen}
    turns: dict[str, list[Sequence[Trial]]] = {case.name: [] for case in chosen}
    made = [case for case in chosen if case.name not in skipped]
    order = made * (TRIALS_QUICK if quick else TRIALS)
    for case in track(order, "planted causes", console=console, transient=True):
        turns[case.name].append(measure(case, plans[case.name], cores))
    effects: tuple[EffectResult, ...] = ()
    if cores is not None and not names:
        with console.status("planted differences"):
            effects = measure_effects(cores, quick=quick)
    if cores is not None and (BOUNDS in names or not (names or quick)):
        with console.status("bounds of shared cores"):
            effects += measure_bounds(cores, quick=quick)
    here = environment.read_environment()
    return SelfTestResult(
        format=SelfTestResult.FORMAT,
        quick=quick,
        machine={name: here[name] for name in MACHINE if name in here},
        cases=tuple(
            case_result(case, plans[case.name], turns[case.name], skipped.get(case.name))
            for case in chosen
        ),
        effects=effects,
    )


def measure(case: PlantedCase, plan: Plan, cores: Cores | None) -> Sequence[Trial]:
    """Plant the fault and make one trial of it, and again if something else disturbed it."""
    trials: list[Trial] = []
    parts = real_parts(EngineGenerator(), cores if case.pin else None, trials.append)
    with ExitStack() as stack:
        if case.around is Around.LOSS:
            stack.enter_context(lossy())
        elif case.around is Around.STRANGERS and cores is not None:
            stack.enter_context(strangers(cores[0]))
            parts = replace(parts, judge=lambda _trial: ())  # what disturbs it is what is planted
        run(plan, parts, Silent())
    return trials


def _problem(case: PlantedCase, cores: Cores | None) -> str | None:
    """Return why *case* cannot be made on this machine, or None."""
    if cores is None:
        return "server and generator need a CPU each, and there is one in all"
    return lossy_problem() if case.around is Around.LOSS else None


def _choose(names: Sequence[str], *, quick: bool) -> list[PlantedCase]:
    known = {case.name: case for case in CASES}
    if unknown := [name for name in names if name not in {*known, BOUNDS}]:
        there = ", ".join(f'"{name}"' for name in (*known, BOUNDS))
        raise UsageError(f'no case "{unknown[0]}"; there are {there}')
    if names:
        return [known[name] for name in names if name != BOUNDS]
    return [case for case in CASES if case.quick or not quick]
