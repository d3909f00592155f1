"""One trial of a planted fault, made with the same parts as a run's."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from lab import probes, profiles
from lab.errors import UsageError
from lab.experiment.plan import arm_of
from lab.experiment.runner import Parts, run_trial
from lab.generators.process import EngineGenerator
from lab.model import CounterRun, Finding, Plan, Slot, Trial
from lab.runs import environment
from lab.selftest.cases import PLANTED, Around, Case
from lab.selftest.surroundings import lossy, lossy_problem, strangers
from lab.servers import adapter

WARMUP = 0.5
"""Seconds of unrecorded load at the least."""

Cores = tuple[tuple[int, ...], tuple[int, ...]]


class Silent:
    """An observer of the runner that says nothing."""

    def stage(self, slot: Slot, attempt: int, stage: str) -> None:
        """Pass over a stage."""

    def finished(self, trial: Trial, findings: Sequence[Finding]) -> None:
        """Pass over a trial."""

    def confirming(self, counters: Sequence[CounterRun]) -> None:
        """Pass over counter-runs: there are none."""


def plan_of(case: Case) -> Plan:
    """
    Return a plan of one trial.

    Raises:
        ProfileError: uWSGI refuses the planted profile.
    """
    profile = profiles.read(str(case.path))
    return Plan(
        arms=(arm_of(profile, case.workload, case.load),),
        reference=profile.name,
        blocks=1,
        warmup=WARMUP,
        window=case.window,
        seed=0,
    )


def problem(case: Case, cores: Cores | None) -> str | None:
    """Return why *case* cannot be made on this machine, or None."""
    if cores is None:
        return "server and generator need a CPU each, and there is one in all"
    return lossy_problem() if case.around is Around.LOSS else None


def parts(cores: Cores | None) -> Parts:
    """
    Return what trials are made with: a run's own parts, on *cores* or anywhere.

    Raises:
        UsageError: This is not a checkout, so there are no planted profiles.
    """
    if not PLANTED.is_dir():
        raise UsageError(f"the planted profiles are not there: {PLANTED}; run it in a checkout")
    return Parts(
        server=adapter,
        generator=EngineGenerator(),
        probes=probes.probes(),
        facts=probes.facts,
        record=lambda _trial: None,
        environment=environment.digest({}),
        lab=(os.getpid(),),
        server_cores=cores[0] if cores else None,
        generator_cores=cores[1] if cores else None,
    )


def measure(case: Case, plan: Plan, cores: Cores) -> Trial:
    """
    Plant the fault and make one trial of it.

    Raises:
        ServerStartError: The server did not start.
        GeneratorError: The load could not be made.
    """
    around: AbstractContextManager[None] = nullcontext()
    if case.around is Around.STRANGERS:
        around = strangers(cores[0])
    elif case.around is Around.LOSS:
        around = lossy()
    slot = Slot(0, 0, plan.arms[0])
    with around:
        return run_trial(plan, slot, 0, parts(cores if case.pin else None), Silent())
