"""What is going to happen, before a comparison begins."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address

from lab.bench.machine.cpus import deal, written
from lab.bench.trials.conduct import PreparedRun
from lab.model.plan import Plan
from lab.model.wording import counted


def announcement(prepared: PreparedRun) -> Iterator[str]:
    """Yield what is going to happen, in lines."""
    plan = prepared.plan
    for name, reason in prepared.skipped.items():
        yield f"skipped: {name} {reason}"
    yield from prepared.remarks
    for line in prepared.warnings:
        yield f"warning: {line}"
    if not ip_address(bind := plan.workload.runtime.bind).is_loopback:
        yield f"warning: the servers of this run are reachable from the network at {bind}"
    requests = plan.load.requests
    what = (
        f"windows of {plan.window:g} s" if requests is None else f"{requests:,} requests per trial"
    )
    several = len(plan.arms) // len(plan.profiles)
    rates = f" at {several} values" if several > 1 else ""
    yield (
        f"{counted(len(plan.profiles), 'profile')}{rates}, {_blocks(plan)}, {what}, "
        f"seed {plan.seed}. {_time(prepared)}"
    )
    yield f"CPUs: {_cpus(prepared)}"
    for service in plan.backing:
        yield f"backing service: {service}"


def _blocks(plan: Plan) -> str:
    """Say how many blocks there are, and what is in them."""
    if plan.minutes is not None:
        return f"{plan.reference} twice in each block"
    each = "it" if plan.blocks == 1 else "each"
    return f"{counted(plan.blocks, 'block')} with {plan.reference} twice in {each}"


def _time(prepared: PreparedRun) -> str:
    """Say how long the run takes."""
    minutes, seconds = divmod(round(prepared.seconds), 60)
    if prepared.plan.minutes is None:
        return f"This takes about {minutes} min {seconds} s."
    looks = prepared.plan.looks
    return (
        f"This takes at most {minutes} min{f' {seconds} s' if seconds else ''}: after {looks[0]}, "
        f"{looks[1]}, {looks[2]}, ... blocks profiles with a decided comparison are left out."
    )


def varying(plan: Plan) -> Iterator[str]:
    """Yield what is required of each reply that varies, in lines."""
    for ask in plan.workload.asks:
        if ask.expect.varies:
            yield f"{ask}: {ask.expect.varies} Use --check 'REGEX' to require something else."


def _cpus(prepared: PreparedRun) -> str:
    """Say which CPUs the server has, and which each process that makes the load."""
    count = prepared.generators
    who = "load generator" if count == 1 else counted(count, "load generator")
    if prepared.cores is None:
        return f"server and {who} on any CPU"
    server, generator = prepared.cores
    seats = " and ".join(written(seat) for seat in deal(generator, count) if seat is not None)
    return f"server on {written(server)}, {who} on {seats}"
