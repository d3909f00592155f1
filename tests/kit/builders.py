"""Small synthetic trials and runs, with every figure chosen by the test."""

import random
from dataclasses import replace
from pathlib import Path

from lab.bench.trials.plan import arm_of
from lab.model.measurement import Run, Trial
from lab.model.plan import Load, Plan, Role, Slot
from lab.model.profile import Profile
from lab.model.request import Expectation
from lab.model.workload import Workload
from tools.pages.gate_examples import READINGS, window

CONNECTIONS = 64


def profile(name, against=None, server="uwsgi"):
    """Return a uWSGI profile with one option."""
    return Profile(
        name=name,
        server=server,
        path=Path(f"profiles/{name}.ini"),
        summary=f"Summary of {name}",
        against=against,
        options=(("listen", "100"),),
        digest=f"digest-{name}",
    )


def started_by(profile, *commands):
    """Return *profile* with other commands."""
    return replace(profile, peer=replace(profile.peer, commands=commands))


FIB = Workload("fib", "/9000", Expectation(body=b"x"))


def arm(the_profile, load=None, role=Role.PROFILE):
    """Return an arm of a profile, asked for `FIB` by `CONNECTIONS` unless told otherwise."""
    return replace(arm_of(the_profile, FIB, load or Load(connections=CONNECTIONS)), role=role)


def plan(*profiles, blocks=10, load=None):
    """Return a plan whose reference is its first profile."""
    profiles = profiles or (profile("baseline"),)
    return Plan(
        arms=tuple(arm(the_profile, load) for the_profile in profiles),
        reference=profiles[0].name,
        blocks=blocks,
        warmup=0.7,
        window=2.0,
        seed=7,
    )


def altered(the_plan, profiles=None, workload=None, load=None):
    """Return *the_plan* with other profiles, another question or another load in its arms."""
    arms = tuple(
        arm_of(the_profile, workload or the_plan.workload, load or the_plan.load)
        for the_profile in profiles or the_plan.profiles
    )
    return replace(the_plan, arms=arms)


def trial(
    *windows, block=0, position=0, name="baseline", role=Role.PROFILE, of=None, load=None, **changes
):
    """Return a trial of sound windows and readings, but for *changes*; *of* is its profile."""
    of = of or profile(name)
    values = {
        "slot": Slot(block, position, arm(of, load, role)),
        "attempt": 0,
        "started_at": 1_800_000_000.0,
        "digest": of.digest,
        "environment": "here",
        "windows": windows or (window(),),
        "readings": READINGS,
        "facts": {"fib": "pure"},
    }
    return Trial(**(values | changes))


def under(the_trial, plan=None, load=None):
    """Return a trial as it would be in *plan*, by its first arm if no other has its name."""
    the_arm = the_trial.slot.arm
    if plan is not None:
        the_arm = next(
            (candidate for candidate in plan.arms if candidate.name == the_arm.name), plan.arms[0]
        )
    if load is not None:
        the_arm = replace(the_arm, load=load)
    return replace(the_trial, slot=replace(the_trial.slot, arm=the_arm))


def paced(speed, cpu, **changes):
    """Return a trial of *speed* requests per second at *cpu* seconds each."""
    ok = round(speed * 2)
    per_connection = ok // CONNECTIONS
    latency = int(CONNECTIONS / speed * 1e6)
    served = window(
        ok=ok,
        replies=(per_connection,) * (CONNECTIONS - 1) + (ok - per_connection * (CONNECTIONS - 1),),
        latency={latency: ok - 20, latency * 2: 20},
        latency_sum=latency * (ok + 20) / 1e6,
    )
    busy = cpu * ok / 2.0 * READINGS["elapsed"]
    readings = READINGS | {"server.cpu_user": busy * 0.75, "server.cpu_system": busy * 0.25}
    return trial(served, readings=readings | changes.pop("readings", {}), **changes)


def run(the_plan, trials, **changes):
    """Return a run as it is read from disk."""
    values = {
        "name": "20260101-120000-fib",
        "command": "lab run --quick",
        "plan": the_plan,
        "environments": {"here": {}},
        "trials": tuple(trials),
    }
    return Run(**(values | changes))


def ladder_run(speeds, *, noise=0.01, blocks=10, seed=1, load=None, environments=None):
    """
    Return a run of profiles, each against the one before.

    *speeds* is profile -> (requests per second, CPU seconds a request), and *noise* the standard
    deviation of each trial's logarithm.
    """
    chance = random.Random(seed)
    names = list(speeds)
    chain = tuple(profile(b, against=a) for a, b in zip([None, *names], names, strict=False))
    trials = []
    for block in range(blocks):
        arms = [(the_profile, Role.PROFILE) for the_profile in chain] + [(chain[0], Role.AA)]
        for position, (the_profile, role) in enumerate(arms):
            speed, cpu = speeds[the_profile.name]
            trials.append(
                paced(
                    speed * chance.lognormvariate(0, noise),
                    cpu * chance.lognormvariate(0, noise),
                    block=block,
                    position=position,
                    of=the_profile,
                    role=role,
                    load=load,
                )
            )
    return run(
        plan(*chain, blocks=blocks, load=load), trials, environments=environments or {"here": {}}
    )


def serving(the_run, applications):
    """Return *the_run* with profiles that serve *applications*: name -> module:callable."""
    altered_ones = [
        replace(
            the_profile, options=(*the_profile.options, ("module", applications[the_profile.name]))
        )
        for the_profile in the_run.plan.profiles
    ]
    return replace(the_run, plan=altered(the_run.plan, profiles=altered_ones))
