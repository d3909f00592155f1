"""The lines that are printed before a run: what it will do, and how long it takes."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address

from lab.bench.machine.cpus import cpu_list, deal
from lab.bench.machine.slowdown import obstacle
from lab.bench.trials.conduct import PreparedRun
from lab.bench.trials.plan import estimate
from lab.model.plan import Plan
from lab.model.wording import counted, duration


def announcement(prepared: PreparedRun) -> Iterator[str]:
    """Yield the lines: skipped profiles, remarks, warnings, the plan, the CPUs."""
    plan = prepared.plan
    for name, reason in prepared.skipped.items():
        yield f"skipped: {name} {reason}"
    yield from prepared.remarks
    for line in prepared.warnings:
        yield f"warning: {line}"
    if not ip_address(bind := plan.workload.runtime.bind).is_loopback:
        yield f"warning: the servers of this run are reachable from the network at {bind}"
    requests = plan.load.requests
    length = (
        f"windows of {plan.window:g} s" if requests is None else f"{requests:,} requests per trial"
    )
    values = len(plan.arms) // len(plan.profiles)
    at_values = f" at {values} values" if values > 1 else ""
    yield (
        f"{counted(len(plan.profiles), 'profile')}{at_values}, {_blocks(plan)}, {length}, "
        f"seed {plan.seed}. {_duration(prepared)}"
    )
    yield f"CPUs: {_cpus(prepared)}"
    for service in plan.backing:
        yield f"backing service: {service}"


def _blocks(plan: Plan) -> str:
    """Return the number of blocks, unless the time decides it, and the reference."""
    if plan.minutes is not None:
        return f"{plan.reference} twice in each block"
    pronoun = "it" if plan.blocks == 1 else "each"
    return f"{counted(plan.blocks, 'block')} with {plan.reference} twice in {pronoun}"


def _duration(prepared: PreparedRun) -> str:
    if prepared.plan.minutes is None:
        counters = prepared.seconds > estimate(prepared.plan)
        included = ", counter-runs included" if counters else ""
        return f"This takes about {duration(prepared.seconds)}{included}."
    minutes, seconds = divmod(round(prepared.seconds), 60)
    looks = prepared.plan.looks
    return (
        f"This takes at most {minutes} min{f' {seconds} s' if seconds else ''}: after {looks[0]}, "
        f"{looks[1]}, {looks[2]}, ... blocks profiles with a decided comparison are left out."
    )


def varying_replies(plan: Plan) -> Iterator[str]:
    """Yield a line for each request whose replies vary: what `lab` requires of them."""
    for ask in plan.workload.asks:
        if ask.expect.varies:
            yield f"{ask}: {ask.expect.varies} Use --check 'REGEX' to require something else."


def _cpus(prepared: PreparedRun) -> str:
    """Return the CPUs of the server, and those of each load generator."""
    count = prepared.generators
    generators = "load generator" if count == 1 else counted(count, "load generator")
    if prepared.cores is None:
        return f"server and {generators} on any CPU"
    server, generator = prepared.cores
    if prepared.plan.share < 1:
        share = f"{prepared.plan.share:.0%} of the time"
        return f"server on {cpu_list(server)} for {share}, {generators} in the rest"
    shares = " and ".join(cpu_list(cpus) for cpus in deal(generator, count) if cpus is not None)
    shared = "; they share CPUs, so requests/s are a range" if {*server} & {*generator} else ""
    line = f"server on {cpu_list(server)}, {generators} on {shares}{shared}"
    if len(server) == 1 and obstacle() is not None:
        line += "; as root, the server can have both (--server-share)"
    return line
