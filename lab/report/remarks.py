"""What is said around the tables: the plan above, and the footnotes below."""

from __future__ import annotations

from lab.analysis.conclusion import Conclusion
from lab.model.numbers import percent
from lab.model.plan import SMALLEST, Plan
from lab.model.wording import counted
from lab.report.remedies import with_remedy


def plan_line(conclusion: Conclusion) -> str:
    """Say what load the servers had, and how often."""
    run = conclusion.summary.run
    plan = run.plan
    blocks = counted(run.allotted, "block")
    time = "" if plan.minutes is None else f", in at most {plan.minutes:g} minutes,"
    cores = ""
    if plan.server_cores is not None:
        beside = "" if run.hosts else f", load on {plan.generator_cores}"
        cores = f"; server on {plan.server_cores}{beside}"
    if plan.share < 1:
        cores = f"; {slowed(plan)}"
    cores += ", shared cores" if run.shares_cores else ""
    how = f"{blocks}{window_words(plan)}{time} {order(plan)}; generator: {run.generator}{cores}"
    return f"{load_words(plan)}; {how}"


def window_words(plan: Plan) -> str:
    """Say how long a trial is measured, as in "10 blocks of 3 s"; nothing of a counted load."""
    if plan.load.requests is not None:
        return ""
    return f" of {plan.window:g} s" + (f" in {plan.turns} turns" if plan.turns > 1 else "")


def load_words(plan: Plan) -> str:
    """Say what load the servers had."""
    load = plan.load
    kept = "keep-alive" if load.keepalive else "one connection per request"
    if load.rate is not None:
        return (
            f"open loop: {load.rate:,g} requests/s, each due on the clock whatever the server "
            f"does, on at most {counted(load.connections, 'connection')}, {kept}"
        )
    if load.requests is None:
        return f"{counted(load.connections, 'client')} at full load, {kept}"
    return f"{load.requests:,} requests, {load.connections:,} in flight, {kept}"


def slowed(plan: Plan) -> str:
    """Say which CPUs a server that was slowed down had, and when."""
    return f"server on {plan.server_cores} for {plan.share:.0%} of the time, load in the rest"


def order(plan: Plan) -> str:
    """Say how trials followed one another, and which differences they are for if anybody said."""
    phrase = "in shuffled order"
    if plan.smallest != SMALLEST:
        phrase += f", for differences of {percent(plan.smallest)} or more"
    return phrase


def notes(conclusion: Conclusion) -> list[str]:
    """Return the footnotes: the gates by number, then the others."""
    gates = (f"[{number}] {with_remedy(gate)}" for number, gate in enumerate(conclusion.gates, 1))
    return [*gates, *map(with_remedy, conclusion.notices)]
