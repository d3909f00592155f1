"""
The self-test: plant every fault several times, and count what the lab says of it.

The order is interleaved over the cases, so that a machine that is busy for a minute spoils one
trial of several cases and not all of one. A trial that something outside disturbed is made again,
as in any run; the last one counts, unless it was disturbed so much that it counts for nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import track

from lab.errors import GeneratorError, ServerStartError, UsageError
from lab.experiment.runner import REPEATS
from lab.model import Plan
from lab.profiles import read_header
from lab.runs import environment
from lab.selftest.cases import CASES, Around, Case
from lab.selftest.effects import measure_effects
from lab.selftest.judging import Answer, answer
from lab.selftest.result import FORMAT, CaseResult, EffectResult, Miss, Result, write
from lab.selftest.show import show
from lab.selftest.trials import Cores, measure, plan_of, problem
from lab.system.temporary import swept

TRIALS, TRIALS_QUICK = 10, 2
"""Trials of each case; nine of ten is the goal, and two show that everything works."""

NOT_MADE = "no trial"
"""Said of a trial whose server did not start, or whose load could not be made."""

MACHINE = ("cpu", "kernel", "python", "virtualisation")
"""Parts of the environment that a reader of the stored result wants to know."""


@dataclass(slots=True)
class _Tally:
    """A case, and what was said of its trials so far."""

    case: Case
    plan: Plan
    found: Counter[str] = field(default_factory=Counter)
    disturbed: int = 0
    evidence: str = ""
    misses: list[Miss] = field(default_factory=list)

    def add(self, said: Answer) -> None:
        self.found[said.label] += 1
        if said.label == self.case.expected:
            self.evidence = said.evidence
        else:
            self.misses.append(Miss(said.label, said.evidence, said.figures))


def selftest(
    *,
    quick: bool = False,
    names: Sequence[str] = (),
    console: Console | None = None,
    output: Path | None = None,
    verbose: bool = False,
) -> int:
    """
    Run the self-test and print what was found.

    Args:
        quick: The clear-cut cases only, two trials of each.
        names: Cases to run, without the planted differences; empty for all.
        console: Where to print.
        output: JSON file to write the result to, with the evidence.
        verbose: Print the evidence of every case, and the readings of every miss.

    Returns:
        Exit status: 0 when the lab may be trusted here, 1 when it said something wrong, 3 when too
        little could be judged: this machine was too busy, or lacks what the cases need.

    Raises:
        UsageError: A case is unknown, or this is not a checkout.
        LabError: uWSGI is not installed, or *output* cannot be written.
    """
    console = console or Console()
    result = examine(quick=quick, names=names, console=console)
    show(result, console, verbose=verbose)
    if output is not None:
        write(result, output)
    return result.status


@swept()
def examine(*, quick: bool, names: Sequence[str], console: Console) -> Result:
    """Run the chosen cases, and return what was found."""
    chosen = _choose(names, quick=quick)
    cores = environment.split_cores()
    skipped = {case.name: why for case in chosen if (why := problem(case, cores)) is not None}
    made = [_Tally(case, plan_of(case)) for case in chosen if case.name not in skipped]
    effects: tuple[EffectResult, ...] = ()
    if cores is not None:
        turns = [tally for _ in range(TRIALS_QUICK if quick else TRIALS) for tally in made]
        for tally in track(turns, "planted causes", console=console, transient=True):
            _one(tally, cores)
        if not names:
            with console.status("planted differences"):
                effects = measure_effects(cores, quick=quick)
    tallies = {tally.case.name: tally for tally in made}
    here = environment.read_environment()
    return Result(
        format=FORMAT,
        quick=quick,
        machine={name: here[name] for name in MACHINE if name in here},
        cases=tuple(_result(case, tallies.get(case.name), skipped) for case in chosen),
        effects=effects,
    )


def _choose(names: Sequence[str], *, quick: bool) -> list[Case]:
    known = {case.name: case for case in CASES}
    if unknown := [name for name in names if name not in known]:
        there = ", ".join(f'"{name}"' for name in known)
        raise UsageError(f'no case "{unknown[0]}"; there are {there}')
    if names:
        return [known[name] for name in names]
    return [case for case in CASES if case.quick or not quick]


def _one(tally: _Tally, cores: Cores) -> None:
    """Make one trial, again if it was disturbed, and count what is said of it."""
    planted = tally.case.around is Around.STRANGERS
    for _ in range(1 + REPEATS):
        try:
            trial = measure(tally.case, tally.plan, cores)
        except (ServerStartError, GeneratorError) as error:
            tally.add(Answer(NOT_MADE, str(error), disturbed=False, figures={}))
            return
        said = answer(trial)
        if planted or not said.disturbed:
            tally.add(said)
            return
        tally.disturbed += 1
    if said.label != "machine":
        tally.add(said)


def _result(case: Case, tally: _Tally | None, skipped: dict[str, str]) -> CaseResult:
    summary = read_header(case.path).summary or case.profile
    if tally is None:
        return CaseResult(case.name, case.expected, summary, {}, skipped=skipped[case.name])
    return CaseResult(
        name=case.name,
        expected=case.expected,
        summary=summary,
        found=dict(tally.found),
        disturbed=tally.disturbed,
        evidence=tally.evidence,
        misses=tuple(tally.misses),
    )
