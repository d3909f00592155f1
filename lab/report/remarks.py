"""What is said around the tables: the plan above, footnotes and the legend below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lab.analysis.compare import BELOW
from lab.analysis.gates.common import BUSY, generator_may_grow
from lab.analysis.stats import percent
from lab.analysis.summary import Row, Summary, Tally, reference_lines
from lab.model.comparison import Comparison, Verdict
from lab.model.finding import Gate
from lab.model.measured import METRICS, Run
from lab.model.plan import SMALLEST, Plan
from lab.model.request import Request
from lab.model.wording import counted
from lab.model.workload import Wire
from lab.report.causes import inert_notes
from lab.report.minutes import left_early, level_words, outlook
from lab.report.numbers import figure, share

RETRIED = 0.01
"""Share of requests sent again from which it is worth a note: below, a recycled worker does it."""

WIRES = {
    Wire.HTTP: "HTTP",
    Wire.UWSGI: "the uwsgi protocol, as nginx's uwsgi_pass asks, a connection for each request",
}
"""How those are asked that can be compared with each other."""


def plan_line(summary: Summary) -> str:
    """Say what load the servers had, and how often."""
    plan, load = summary.run.plan, summary.run.plan.load
    kept = "keep-alive offered" if load.keepalive else "a connection for each request"
    if load.rate is not None:
        work = (
            f"open loop: {load.rate:,g} requests/s, each due on the clock whatever the server "
            f"does, on at most {counted(load.connections, 'connection')}, {kept}"
        )
    elif load.requests is None:
        work = f"{counted(load.connections, 'client')} at full load, {kept}"
    else:
        work = f"{load.requests:,} requests, {load.connections:,} at once, {kept}"
    said = counted(blocks(summary.run), "block")
    each = "" if load.requests is not None else f" of {plan.window:g} s"
    time = "" if plan.minutes is None else f", in at most {plan.minutes:g} minutes,"
    cores = ""
    if plan.server_cores is not None:
        beside = "" if summary.run.hosts else f", load on {plan.generator_cores}"
        cores = f"; server on {plan.server_cores}{beside}"
    cores += ", cores shared" if summary.run.shares_cores else ""
    generator = summary.run.generator
    return f"{work}; {said}{each}{time} {order(plan)}; generator: {generator}{cores}"


def order(plan: Plan) -> str:
    """Say how trials followed one another, and which differences they are for if anybody said."""
    said = "in random order"
    if plan.smallest != SMALLEST:
        said += f", for differences of {percent(plan.smallest)} or more"
    return said


def blocks(run: Run) -> int:
    """Return how many blocks a run has: what was planned, or what its minutes allowed."""
    return run.plan.blocks if run.plan.minutes is None else run.blocks


def marks(summary: Summary) -> dict[Gate, int]:
    """Return the number of each gate's footnote, in order of appearance."""
    gates = dict.fromkeys(tally.gate for row in summary.rows for tally in row.tallies)
    return {gate: number for number, gate in enumerate(gates, 1)}


def notes(summary: Summary, metrics: Sequence[str]) -> list[str]:
    """
    Return the footnotes: gates by number, what is open, what has no effect, what was not run.

    Args:
        summary: What to explain.
        metrics: Names of those in the tables of changes.
    """
    found = [_gate(summary, gate, number) for gate, number in marks(summary).items()]
    repeats = sum(trial.attempt > 0 for trial in summary.run.trials)
    if repeats:
        were = "trial was" if repeats == 1 else "trials were"
        found.append(
            f"{repeats} {were} made again, as a tenth of all may be: "
            "something outside disturbed the first attempt; the last one counts, all are kept."
        )
    found += [*left_early(summary, metrics), *outlook(summary)]
    found += _undecided(summary, metrics)
    if any(each.fragile for each in _comparisons(summary, metrics)):
        found.append(
            "fragile: an estimate by ranks disagrees with the mean, so one or two blocks decide "
            "it. Give the run more blocks."
        )
    found += generator_limit(summary, metrics)
    retried = [
        f"{row.profile.name} {share(row.retried_share)}"
        for row in summary.rows
        if row.retried_share is not None and row.retried_share >= RETRIED
    ]
    if retried:
        found.append(
            "Requests sent again, because the server closed a connection that the client meant to "
            f"keep: {', '.join(retried)}. Its clients pay for new connections."
        )
    found += [
        f"{step.profile} / {step.before}: more than one setting; {step.profile} is one step from "
        f"{step.instead_of}, which is not in this run."
        for step in summary.steps
        if step.instead_of is not None and step.before is not None
    ]
    found += _late(summary)
    found += [f"{e}: {e.expect.varies}" for e in summary.run.plan.workload.asks if e.expect.varies]
    found += _told(summary.run.plan.workload.asks)
    found += inert_notes(summary.inert)
    found += _protocols(summary.run)
    found += [f"Backing service {each}." for each in summary.run.plan.backing]
    found += [f"Not run: {name}: {why}." for name, why in sorted(summary.run.skipped.items())]
    return found


def legend(summary: Summary) -> tuple[str, ...]:
    """Explain the tables in a few lines."""
    load = summary.run.plan.load
    if load.requests is not None:
        last = (
            "all requests: until the last had its outcome; shown for trials that do not count, too."
        )
    elif load.rate is not None:
        last = (
            "p50, p90, p99: from when a request was due, as a user waits; service: from sending it."
        )
    else:
        last = "p50, p99: measured at saturation, so not what a user sees at normal load."
    names = ", ".join(profile.name for profile in reference_lines(summary.run.plan))
    said = (
        f"{names}: reference lines, the same reply to every request: what the server itself needs."
    )
    return (
        "Medians over the trials that count; -: not known, or withheld for the reason given last.",
        (
            "1.42x [1.31, 1.55]: mean ratio within a block, so not of the medians above, and its "
            f"{level_words(summary)} over n blocks; ~: it may be 1."
        ),
        "better, worse: all beyond the A/A noise (at least 2%); same: within; undecided: neither.",
        "undecided, but below 5%: a change of 5% or more is excluded.",
        last,
        *((said,) if names else ()),
    )


def _told(asked: Sequence[Request]) -> Iterator[str]:
    """Say which values stand in a run's files that nobody else should read."""
    if names := sorted({name for each in asked for name in each.telling}):
        yield (
            f"Before you share it: the values of {', '.join(names)} stand in this run's folder, "
            "and those of a query in its report. Ask with values that may be known."
        )


def _gate(summary: Summary, gate: Gate, number: int) -> str:
    """Say where a gate fired, with the numbers of one trial, and what to do."""
    tallies = [(row, tally) for row in summary.rows for tally in row.tallies if tally.gate is gate]
    where = ", ".join(f"{row.profile.name} {tally.trials}/{row.total}" for row, tally in tallies)
    row, worst = max(tallies, key=lambda each: len(each[1].withheld))
    names = worst.example.withholds
    if names is None:
        effect = "nothing of these trials counts"
    elif names:
        titles = (metric.title for name, metric in METRICS.items() if name in names)
        effect = f"withheld: {', '.join(titles)}"
    else:
        effect = "the trials count"
    if not all(each.example.withholds == names and _alike(of, each) for of, each in tallies):
        effect = f"at worst: {effect.replace('these trials', 'a trial')}"
    return (
        f"[{number}] {gate.name} ({where}; {effect}). {row.profile.name}: {worst.example.reason}. "
        f"{worst.example.advice}"
    )


def _alike(row: Row, tally: Tally) -> bool:
    """
    Return whether each of the trials surely lacks all that the example lacks.

    A tally keeps the worst of its findings only. What the milder ones left is counted, unless
    another gate withheld it: then nothing is sure.
    """
    names = tally.withheld
    if tally.trials == 1 or not names:
        return True
    if any(names & other.withheld for other in row.tallies if other is not tally):
        return False
    most = max(row.counts.get(name, 0) for name in names)
    return most <= row.total - tally.trials


def _protocols(run: Run) -> list[str]:
    """Say who is asked in which protocol, where not all are asked in one."""
    asked: dict[Wire, dict[str, None]] = {}
    for arm in run.plan.arms:
        asked.setdefault(arm.workload.wire, {})[arm.profile.name] = None
    if len(asked) < 2:
        return []
    who = "; ".join(f"{WIRES.get(wire, wire)}: {', '.join(names)}" for wire, names in asked.items())
    return [f"Asked in two protocols, so a ratio across holds their difference as well: {who}."]


def _late(summary: Summary) -> list[str]:
    """Say for an open loop how many requests its own generator sent late."""
    if summary.run.plan.load.rate is None:
        return []
    shares = {}
    for row in summary.rows:
        name = row.profile.name
        trials = [trial for trial in summary.run.trials if trial.slot.arm.name == name]
        if planned := sum(trial.total("planned") for trial in trials):
            shares[name] = sum(trial.total("late") for trial in trials) / planned
    if not shares:
        return []
    worst = max(shares, key=lambda name: shares[name])
    if shares[worst] == 0:
        return ["The generator sent every request when it was due."]
    said = "Sent late by the generator itself, and not for want of a connection: at most"
    return [f"{said} {shares[worst]:.2%} of the requests ({worst})."]


def generator_limit(summary: Summary, metrics: Sequence[str]) -> list[str]:
    """
    Return a remark on throughputs that are the least that they can be; none where none is.

    Args:
        summary: What to explain.
        metrics: Names of those whose ratios are shown.
    """
    said = []
    if rows := [row for row in summary.rows if row.at_least("throughput")]:
        busy = ", ".join(f"{row.profile.name} {share(row.generator)}" for row in rows)
        said.append(
            f"at least: the busiest generator process was at its limit, {BUSY:.0%} of the time or "
            f"more ({busy}), so the server may be faster still. "
            f"Use {_more(summary.run)}, or read CPU per request, which does not depend on "
            "it."
        )
    ratios: dict[str, dict[str, None]] = {}
    for each in _comparisons(summary, metrics):
        if each.caveat:
            ratios.setdefault(each.caveat, {})[f"{each.changed} / {each.reference}"] = None
    if ratios:
        which = "; ".join(f"{caveat} ({', '.join(names)})" for caveat, names in ratios.items())
        said.append(f"Ratios: {which}.")
    return [" ".join(said)] if said else []


def _more(run: Run) -> str:
    """Say how the load of *run* gets another process, or what else gives it more."""
    name, _, count = run.generator.partition(" x")
    if name == "ab":
        return "the lab's engine instead of ab"
    if name != "engine":
        return f"--processes {int(count or 1) + 1} where the generator has a CPU for each"
    if any(generator_may_grow(trial) for trial in run.trials if trial.windows):
        return f"--generators {int(count or 1) + 1} where the generator has a CPU for each"
    return "a machine with more cores"


def _undecided(summary: Summary, metrics: Sequence[str]) -> list[str]:
    """Say by metric how many steps stay open, what would have been found, and what decides next."""
    found = []
    for name in metrics:
        steps = [(step.profile, step.step[name]) for step in summary.steps if name in step.step]
        undecided = [(who, each) for who, each in steps if each.verdict is Verdict.UNDECIDED]
        # What is told from 1 has no verdict yet: that needs the floor on top.
        sizes = sorted(
            each.detectable * (1 + summary.floors[name])
            for _, each in undecided
            if each.detectable is not None
        )
        if not sizes:
            continue
        span = f"{figure(sizes[0])}x" + (f" to {figure(sizes[-1])}x" if len(sizes) > 1 else "")
        small = sum(each.below is not None for _, each in undecided)
        below = f", {small} of them below {max(BELOW):.0%}" if small else ""
        text = (
            f"{METRICS[name].title}: {len(undecided)} of {len(steps)} steps undecided{below}. This "
            f"many blocks detect changes of {span} with 80% power."
        )
        needs = sorted((each.blocks_needed, who) for who, each in undecided if each.blocks_needed)
        if needs and summary.run.plan.minutes is None:  # else `outlook` says it in minutes
            text += f" Soonest decided: {needs[0][1]}, with about {needs[0][0]:,} blocks."
        found.append(text)
    return found


def _comparisons(summary: Summary, metrics: Sequence[str]) -> Iterator[Comparison]:
    for step in summary.steps:
        for comparisons in (step.step, step.baseline):
            yield from (each for name, each in comparisons.items() if name in metrics)
