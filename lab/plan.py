"""
Randomised complete blocks.

Running all of A and then all of B finds a difference in 30-91 % of comparisons of two identical
servers when the machine drifts; interleaved in blocks it is the promised 5 %. Every block holds
each profile once, in an order of its own, and the reference a second time.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from lab.errors import UsageError
from lab.model import Arm, Plan, Slot

OVERHEAD = 1.3
"""Seconds that a trial takes beside its warm-up and window, for the first estimate: a server's
start, its stop, and the probes. The run replaces it by what it sees."""


def slots(plan: Plan) -> Iterator[Slot]:
    """Yield the plan's trials in the order in which they run; the same for the same seed."""
    order = random.Random(plan.seed)
    names = [(profile.name, Arm.PROFILE) for profile in plan.profiles]
    for block in range(plan.blocks):
        arms = [*names, (plan.reference, Arm.AA)]
        order.shuffle(arms)
        for position, (name, arm) in enumerate(arms):
            yield Slot(block, position, name, arm)


def estimate(plan: Plan) -> float:
    """Return the seconds that a run should take, before anything is known of this machine."""
    return plan.blocks * (len(plan.profiles) + 1) * (plan.warmup + plan.window + OVERHEAD)


def validate(plan: Plan) -> None:
    """
    Refuse a plan that cannot give a comparison.

    Raises:
        UsageError: With what to change.
    """
    names = [profile.name for profile in plan.profiles]
    twice = sorted({name for name in names if names.count(name) > 1})
    if not names:
        raise UsageError("no profile to run")
    if twice:
        files = sorted({str(each.path) for each in plan.profiles if each.name == twice[0]})
        if len(files) > 1:
            raise UsageError(f"two profiles are named {twice[0]}: rename one of {', '.join(files)}")
        raise UsageError(f"profile {twice[0]} is named twice; each runs once a block anyway")
    if plan.reference not in names:
        raise UsageError(f"the reference {plan.reference} is not among the profiles")
    if not 1 <= plan.blocks <= 1000:
        raise UsageError(f"--blocks {plan.blocks}: between 1 and 1000")
    if not 0.1 <= plan.window <= 600:
        raise UsageError(f"--window {plan.window:g}: between 0.1 and 600 seconds")
    if not 0 <= plan.warmup <= 60:
        raise UsageError(f"--warmup {plan.warmup:g}: between 0 and 60 seconds")
    if not 1 <= plan.load.connections <= 10_000:
        raise UsageError(f"--connections {plan.load.connections}: between 1 and 10,000")
