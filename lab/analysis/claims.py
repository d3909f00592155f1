"""
What a run says to a published claim: from the interval of the ratio, never from its middle.

The published ratio P and no effect at all are two hypotheses, and the interval may exclude either,
both or none. An effect counts as one only beyond the run's floor, as in every comparison.
"""

from __future__ import annotations

from collections.abc import Sequence

from lab.analysis.compare import compare, own
from lab.analysis.confirm import limited_by
from lab.analysis.summary import Row, Summary, Tally
from lab.model import (
    METRICS,
    Claim,
    ClaimVerdict,
    Comparison,
    Decision,
    Estimate,
    Load,
    Plan,
    Standing,
    Verdict,
)

EQUAL = 0.05
"""A published ratio within so much of 1 claims that nothing changes."""

LIFETIME = "ladder-max-worker-lifetime"
"""The claim about an option that can be counted at work: it replaces workers."""

_STATED = {"above": "above 1", "below": "below 1", "same": "no difference"}


def missing(claim: Claim, plan: Plan, path: str | None = None) -> str | None:
    """
    Return what a run by *plan* lacks to decide *claim*; None if nothing.

    Args:
        claim: The claim.
        plan: The run's.
        path: Request target of the claim's workload; None for any.
    """
    if plan.workload.name != claim.workload:
        return f"it has the workload {plan.workload.name}, not {claim.workload}"
    if path is not None and plan.workload.path != path:
        return f"it asks for {plan.workload.path}, not for {path}"
    if claim.metric == "throughput" and plan.load.rate is not None:
        return "in an open loop throughput is the plan's"
    names = {profile.name for profile in plan.profiles}
    lacking = [name for name in (claim.reference, claim.changed) if name not in names]
    return f"it has no {' and no '.join(lacking)}" if lacking else None


def decide(claim: Claim, summary: Summary) -> ClaimVerdict:
    """
    Decide *claim* by one run.

    Args:
        claim: The claim.
        summary: The run's.
    """
    run = summary.run
    load = describe(run.plan)
    if (lack := missing(claim, run.plan)) is not None:
        return ClaimVerdict(claim, Decision.UNTESTABLE, f"{lack}.", run.name, load)
    floor = summary.floors[claim.metric]
    sides = own(claim.changed), own(claim.reference)
    found = compare(summary.observations, claim.metric, *sides, floor)
    decision = decision_of(claim, found, floor)
    if found.ratio is None:
        sentence = _withheld(claim, summary)
    else:
        sentence = f"{_figures(found.ratio)} where the article says {stated(claim)}: "
        sentence += _meaning(decision, claim, floor)
    if (witness := _lifetime(claim, summary)) is not None:
        sentence += f" {witness}"
        if decision is Decision.UNDECIDED:
            decision = Decision.NONE  # what did not happen has no effect, whatever the noise
            sentence += " The count decides where the interval cannot."
    else:
        sentence += _inert(claim, summary)
    if cause := cause_of(claim, summary):
        sentence += f" Limited by: {cause}."
    return ClaimVerdict(claim, decision, sentence, run.name, load, found, cause)


def decision_of(claim: Claim, found: Comparison, floor: float) -> Decision:
    """Return what the interval allows to be said of the published ratio or direction."""
    if found.ratio is None:
        return Decision.UNTESTABLE
    if claims_equality(claim):
        return {
            Verdict.SAME: Decision.REPRODUCED,
            Verdict.UNDECIDED: Decision.UNDECIDED,
        }.get(found.verdict, Decision.REVERSED)
    low, high, published = found.ratio.low, found.ratio.high, claim.ratio
    falls = claim.direction == "below" if published is None else published < 1
    if falls:  # the mirror image: how many times less
        low, high = 1 / high, 1 / low
        published = None if published is None else 1 / published
    if high < 1 / (1 + floor):
        return Decision.REVERSED
    if low > 1 + floor:
        within = published is None or high >= published
        return Decision.REPRODUCED if within else Decision.SMALLER
    if published is None:
        return Decision.NONE if found.verdict is Verdict.SAME else Decision.UNDECIDED
    return Decision.NONE if high < published else Decision.UNDECIDED


def claims_equality(claim: Claim) -> bool:
    """Return whether the claim is that nothing changes."""
    if claim.ratio is None:
        return claim.direction == "same"
    return 1 / (1 + EQUAL) <= claim.ratio <= 1 + EQUAL


def stated(claim: Claim) -> str:
    """Return the article's figure: a ratio, or the direction of its chart."""
    if claim.ratio is None:
        return _STATED[claim.direction or "above"]
    return f"{claim.ratio:.2f}x"


def describe(plan: Plan) -> str:
    """Return the load of a run, for people."""
    load: Load = plan.load
    if load.requests is not None:
        return f"{load.requests:,} requests, {load.connections:,} at once"
    if load.rate is not None:
        return f"{load.rate:,.0f} requests/s, {plan.window:g} s"
    return f"{load.connections:,} connections, {plan.window:g} s"


def cause_of(claim: Claim, summary: Summary) -> str:
    """Return what limited the two sides: once where it is the same, empty where unknown."""
    sides = [
        (name, found.cause.name, found.standing)
        for name in (claim.reference, claim.changed)
        if (found := limited_by(summary.diagnoses.get(name, ()))) is not None
    ]
    if len(sides) == 2 and sides[0][1] == sides[1][1]:
        weaker = next((s[2] for s in sides if s[2] is not Standing.CONFIRMED), Standing.CONFIRMED)
        return f"{sides[0][1]} in both ({weaker})"
    return "; ".join(f"{name}: {cause} ({standing})" for name, cause, standing in sides)


def _figures(ratio: Estimate) -> str:
    return f"{ratio.value:.3g}x [{ratio.low:.3g}, {ratio.high:.3g}]"


def _meaning(decision: Decision, claim: Claim, floor: float) -> str:
    noise = f"the noise of {floor:.1%}"
    if claims_equality(claim):
        return {
            Decision.REPRODUCED: f"they are the same, within {noise}.",
            Decision.REVERSED: f"they differ, beyond {noise}.",
        }.get(decision, "a difference is as possible as none.")
    return {
        Decision.REPRODUCED: f"the effect is there, beyond {noise}, and no smaller.",
        Decision.SMALLER: f"the effect is there, beyond {noise}, and smaller.",
        Decision.NONE: f"an effect of that size is excluded, and no other exceeds {noise}.",
        Decision.REVERSED: f"the effect is the other way round, beyond {noise}.",
    }.get(decision, "an effect of that size is as possible as no effect.")


def _withheld(claim: Claim, summary: Summary) -> str:
    """Say which gate withholds the metric, with its numbers, and what can be said instead."""
    rows = [
        row
        for name in (claim.reference, claim.changed)
        for row in summary.rows
        if row.profile.name == name
    ]
    gates = list(
        dict.fromkeys(
            tally.gate for row in rows for tally in row.tallies if _withholds(tally, claim.metric)
        )
    )
    reasons = "; ".join(_gate(gate, rows) for gate in gates) or "too few blocks have both"
    sentence = f"{METRICS[claim.metric].title} cannot be compared under this load: {reasons}."
    walls = [f"{row.wall:.3g} s with {row.profile.name}" for row in rows if row.wall is not None]
    if len(walls) == 2:
        sentence += f" All requests together took {' and '.join(walls)}."
    sides = own(claim.changed), own(claim.reference)
    cost = compare(summary.observations, "cpu", *sides, summary.floors["cpu"])
    if cost.ratio is not None:
        sentence += f" CPU a request: {_figures(cost.ratio)}, {cost.verdict}."
    return sentence


def _withholds(tally: Tally, metric: str) -> bool:
    return tally.example.withholds is None or metric in tally.example.withholds


def _gate(gate: str, rows: Sequence[Row]) -> str:
    """Say in how many trials of each side a gate fired, with the numbers of one trial."""
    found = [(row, tally) for row in rows for tally in row.tallies if tally.gate == gate]
    where = ", ".join(f"{row.profile.name} {tally.trials}/{row.total}" for row, tally in found)
    row, tally = found[-1]
    return f"{gate} ({where} trials), with {row.profile.name} {tally.example.reason}"


def _lifetime(claim: Claim, summary: Summary) -> str | None:
    """
    Say how many workers were replaced, in a run whose windows are longer than their lifetime.

    None for another claim, for shorter windows, and where nothing shows that the count works: it
    takes a profile with a master whose workers were replaced.
    """
    rows = {row.profile.name: row for row in summary.rows}
    if claim.id != LIFETIME or "master" not in rows:
        return None
    options = dict(rows[claim.changed].profile.options)
    lifetime = int(options.get("max-worker-lifetime", "0"))
    changed = rows[claim.changed].values.get("respawns")
    master = rows["master"].values.get("respawns")
    if not 0 < lifetime < summary.run.plan.window or changed != 0 or not master:
        return None
    return (
        f"In windows of {summary.run.plan.window:g} s no worker of {claim.changed} was replaced, "
        f"where its limit is {lifetime} s; with a master, {master:g} were: without one the option "
        "has no effect."
    )


def _inert(claim: Claim, summary: Summary) -> str:
    """Name the options that the changed profile has, to no effect, and the other has not."""
    before = set(summary.inert.get(claim.reference, ()))
    found = [each for each in summary.inert.get(claim.changed, ()) if each not in before]
    return f" Without effect in {claim.changed}: {' '.join(found)}" if found else ""
