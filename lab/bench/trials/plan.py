"""
Randomised complete blocks.

Running all of A and then all of B finds a difference in 30-91 % of comparisons of two identical
servers when the machine drifts; interleaved in blocks it is the promised 5 %. Every block holds
each profile once, in an order of its own, and the reference a second time.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lab.config import servers
from lab.config.interface import ASGI, WSGI
from lab.errors import UsageError
from lab.lint.rules import inert
from lab.model.plan import LONGEST, SHORTEST, Arm, Load, Plan
from lab.model.profile import Profile
from lab.model.request import Expectation
from lab.model.sizes import MOST_BLOCKS, MOST_CONNECTIONS
from lab.model.workload import Workload

OVERHEAD = 0.5
"""Seconds that a trial takes beside its warm-up and window, for the first estimate: a server's
start, its stop, and the probes. In 42 of 47 stored runs the median was 0.23 to 0.50 s; more where
replies take long, or a database is asked. The run replaces it by what it sees."""

SLOWED = 2.2
"""The same of what a slowed server adds: a sample before it is slowed, and one in half windows."""

LEAST_TURN = 0.25
"""Seconds of a turn. Shorter ones are too few ticks of the kernel's clocks."""

TURN = 0.4
"""The same of a turn, where there are several: load that is not measured, and the probes."""

NAMED = frozenset({WSGI, ASGI})
"""The interfaces of an application that the user names."""

EXPECTED_COUNTERS = 3
"""Counter-runs that a ladder usually asks for; a run asks for none of a server without settings
that the lab can change, and without a profile that names another."""


def arm_of(
    profile: Profile, workload: Workload, load: Load, at: Mapping[str, str] | None = None
) -> Arm:
    """Return the arm of *profile* in a run of *workload*: with what it serves, or its own reply."""
    ini, runtime = (
        profile.private_copy and not profile.commands,
        workload.beside or workload.runtime,
    )
    if profile.reply is not None:
        expect = Expectation(body=profile.reply.encode())
        asks = [
            replace(request, expect=Expectation(body=b"") if request.bodiless else expect)
            for request in workload.requests
        ]
        workload = Workload(
            profile.name,
            workload.path,
            expect,
            runtime=runtime,
            host=workload.host,
            requests=tuple(asks),
            seed=workload.seed,
        )
    else:
        app = app_of(profile, workload) or None
        chdir = None if profile.private_copy and app is None else workload.chdir
        if ini and app is None:  # it says by itself in which environment that is served
            runtime = workload.runtime
        workload = replace(workload, app=app, apps={}, chdir=chdir, runtime=runtime, beside=None)
    if profile.private_copy and (over := servers.of(profile).protocol_of(profile)):
        wire, transport = over
        workload = replace(workload, wire=wire, transport=transport)
        load = replace(load, keepalive=load.keepalive and wire.manner.keeps)
    return Arm(named(profile.name, at or {}), profile, workload, load, at or {})


def app_of(profile: Profile, workload: Workload) -> str | None:
    """
    Return the import path of what *profile* serves for *workload*.

    It is empty where the profile names its application, or is one; None where there is none for it.
    """
    profile_apps, named = dict(profile.apps), NAMED if workload.app else (WSGI,)
    apps = workload.apps or dict.fromkeys(named, workload.app or "")
    if workload.family in profile_apps:
        return profile_apps[workload.family]
    return next((apps[interface] for interface in profile.interfaces if interface in apps), None)


def named(name: str, at: Mapping[str, str]) -> str:
    """
    Return the name of an arm.

    >>> named("tuned", {"rate": "50%"}), named("tuned", {})
    ('tuned@50%', 'tuned')
    """
    return "@".join((name, *at.values()))


def alone(arm: Arm, window: float, warmup: float = 0.0) -> Plan:
    """Return the plan of one trial of *arm*, without an A/A arm: none is the reference."""
    return Plan((arm,), reference="", blocks=1, warmup=warmup, window=window, seed=0)


def with_inert(plan: Plan) -> Plan:
    """Return *plan* with `Plan.inert` by the rules of the linter, unless it has that."""
    if plan.inert is not None:
        return plan
    reasons = {profile.name: inert(profile) for profile in plan.profiles}
    return replace(plan, inert={name: some for name, some in reasons.items() if some})


def orders(plan: Plan) -> Iterator[list[Arm]]:
    """Yield the arms of each block in the order in which they run; the same for the same seed."""
    order = random.Random(plan.seed)
    for _ in range(plan.blocks):
        arms = list(plan.block)
        order.shuffle(arms)
        yield arms


PILOT = 4
"""Blocks of a run of minutes after which causes are looked for: before anybody may leave."""


def pilot(plan: Plan) -> int:
    """
    Return after how many blocks causes are looked for, so that the rest confirms them.

    At least three blocks are left, the fewest that give a useful interval; with fewer than five in
    all there is nothing to divide, and it is the number of blocks: never.
    """
    if plan.minutes is not None:
        return PILOT
    return plan.blocks if plan.blocks < 5 else max(2, plan.blocks * 2 // 5)


def trial_seconds(plan: Plan) -> float:
    """Return what a trial should take, before anything is known of this machine."""
    turns = plan.turns * TURN if plan.turns > 1 else 0
    slowed = SLOWED if plan.share < 1 else 0
    return plan.warmup + plan.window + OVERHEAD + slowed + turns


def estimate(plan: Plan, *, confirm: bool = False) -> float:
    """
    Return the seconds that a run should take, before anything is known of this machine.

    Args:
        plan: The run's.
        confirm: Whether counter-runs may join the blocks after the pilot.
    """
    if plan.minutes is not None:
        return plan.minutes * 60
    changeable = [
        profile
        for profile in plan.profiles
        if servers.settings(profile).movable or profile.peer.counters
    ]
    counters = min(EXPECTED_COUNTERS, len(changeable)) * confirm
    trials = plan.blocks * len(plan.block) + counters * (plan.blocks - pilot(plan))
    return trials * trial_seconds(plan)


def validate(plan: Plan) -> None:
    """
    Refuse a plan that cannot give a comparison.

    Raises:
        UsageError: With what to change.
    """
    if not plan.arms:
        raise UsageError("no profile to run")
    check_distinct([(arm.name, arm.profile) for arm in plan.arms])
    if plan.reference not in {profile.name for profile in plan.profiles}:
        raise UsageError(f"the reference {plan.reference} is not among the profiles")
    validate_sizes(plan.blocks, plan.window, plan.warmup)
    for arm in plan.arms:
        validate_load(arm.load)
    if plan.turns > 1:
        validate_turns(plan)


def validate_turns(plan: Plan) -> None:
    """
    Refuse turns that cannot be measured.

    Raises:
        UsageError: They are too short, the load cannot be interrupted, or the servers would not
            be alone with what they need.
    """
    if plan.load.requests is not None or any(arm.load.rate is not None for arm in plan.arms):
        raise UsageError("--turns is for a load that lasts, without --rate")
    if plan.backing:
        names = " and ".join(service.name for service in plan.backing)
        raise UsageError(f"--turns: all servers at once would share {names}; leave it out")
    if plan.window / plan.turns < LEAST_TURN:
        most = int(plan.window / LEAST_TURN)
        raise UsageError(
            f"--turns {plan.turns}: at most {most} in a window of {plan.window:g} s; a turn lasts "
            f"{LEAST_TURN:g} s at least"
        )


def check_distinct(profiles: Sequence[tuple[str, Profile]]) -> None:
    """
    Refuse two profiles with one name.

    Args:
        profiles: The name of each arm, and its profile.

    Raises:
        UsageError: With what to change.
    """
    names = [name for name, _ in profiles]
    twice = next((name for name in sorted(names) if names.count(name) > 1), None)
    if twice is None:
        return
    files = sorted({str(profile.path) for name, profile in profiles if name == twice})
    if len(files) > 1:
        raise UsageError(f"two profiles are named {twice}: rename one of {', '.join(files)}")
    raise UsageError(f"profile {twice} is named twice: name it once")


def validate_sizes(blocks: int, window: float, warmup: float) -> None:
    """
    Refuse an amount of work that no run can have.

    Args:
        blocks: Number of blocks.
        window: Seconds that are measured.
        warmup: Seconds before them.

    Raises:
        UsageError: One of them is out of range.
    """
    if not 1 <= blocks <= MOST_BLOCKS:
        raise UsageError(f"--blocks {blocks}: between 1 and {MOST_BLOCKS}")
    if not SHORTEST <= window <= LONGEST:
        problem = f"--window {window:g}: between {SHORTEST:g} and {LONGEST:g} seconds"
        raise UsageError(problem)
    if not 0 <= warmup <= 60:
        raise UsageError(f"--warmup {warmup:g}: between 0 and 60 seconds")


def validate_load(load: Load) -> None:
    """
    Refuse a load that the generators cannot make.

    Raises:
        UsageError: Its connections or its rate are out of range.
    """
    if not 1 <= load.connections <= MOST_CONNECTIONS:
        raise UsageError(f"--connections {load.connections}: between 1 and {MOST_CONNECTIONS:,}")
    if load.rate is not None:
        check_lasts(load)
        validate_rate(load.rate)


def check_lasts(load: Load) -> None:
    """
    Refuse a load that cannot have a rate, because it ends with its last request.

    Raises:
        UsageError: It counts its requests.
    """
    if load.requests is not None:
        raise UsageError("--rate is for a load that lasts, and this --load counts its requests")


def validate_rate(rate: float) -> None:
    """
    Refuse a rate that no generator of ours keeps.

    Raises:
        UsageError: It is out of range.
    """
    if not 1 <= rate <= 100_000:
        raise UsageError(f"--rate {rate:g}: between 1 and 100,000 requests per second")
