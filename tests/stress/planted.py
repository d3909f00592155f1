"""Faults that are really planted, in trials as short as can be."""

from dataclasses import replace

from lab.bench import profiles
from lab.bench.trials.plan import arm_of
from lab.cli.stress.faults import FAULTS
from lab.cli.stress.run import QUICK, WAITING, long_enough
from lab.cli.stress.trial import Conditions, Pace, measure
from lab.model.plan import Load

SHORT = Pace(before=0.3, after=0.1, whole=0.4, stopped=0.5)
FREE = Conditions(cores=None, pace=SHORT)
NAMED = {fault.name: fault for fault in FAULTS}


def trial_of(fault, profile, timeout=10.0, quick=None):
    """Return the outcome of a short trial; *fault* is one, or the name of one."""
    chosen = NAMED[fault] if isinstance(fault, str) else fault
    read = profiles.read(profile)
    workload = long_enough(WAITING, [read])
    arm = arm_of(read, workload, Load(64, rate=50.0, timeout=timeout))
    return measure(chosen, arm, replace(FREE, quick=quick))


def plant(fault, profile, timeout=10.0):
    """Return what clients felt of a fault."""
    outcome = trial_of(fault, profile, timeout, QUICK)
    assert outcome.problem is None, outcome.problem
    return outcome
