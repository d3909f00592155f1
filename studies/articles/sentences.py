"""The sentences on a claim's verdict: what a decision means, and why figures do not count."""

from __future__ import annotations

from collections.abc import Sequence

from lab.analysis.summary import Row, Summary
from lab.model.comparison import Comparison
from lab.model.finding import Gate
from lab.model.metric import METRICS
from lab.report.thresholds import figures
from studies.articles.claim import Claim, Decision


def figures_of(comparison: Comparison) -> str:
    """Return the ratio with its interval, or its two ends."""
    return (
        str(comparison.between)
        if comparison.ratio is None
        else f"{comparison.bound}{figures(comparison.ratio)}"
    )


def meaning(decision: Decision, claim: Claim, noise: str, *, bound: bool) -> str:
    """Say what a decision means for what the article says; *bound*: only an end is known."""
    if claim.of_nearness:
        return {
            Decision.REPRODUCED: "they are as near as that.",
            Decision.LARGER: "they are further apart.",
        }.get(decision, "that leaves it open.")
    if bound and decision in (Decision.NOT_SEEN, Decision.INCONCLUSIVE):
        excluded = "an effect of that size is excluded, and which there is stays open."
        return excluded if decision is Decision.NOT_SEEN else "that leaves it open."
    return {
        Decision.REPRODUCED: f"the effect is there, beyond {noise}"
        + (", and no smaller." if bound else "."),
        Decision.LARGER: f"the effect is there, beyond {noise}, and larger.",
        Decision.SMALLER: f"the effect is there, beyond {noise}, and smaller.",
        Decision.NOT_SEEN: f"an effect of that size is excluded, and no other exceeds {noise}.",
        Decision.OPPOSITE: f"the effect is the other way round, beyond {noise}.",
    }.get(decision, "an effect of that size is as possible as no effect.")


def withheld(claim: Claim, summary: Summary) -> str:
    """Say which gates withhold the metric, with their numbers, and what can be said instead."""
    by_name = {row.profile.name: row for row in summary.rows}
    rows = [by_name[claim.reference], by_name[claim.changed]]
    withheld = (
        tally.gate for row in rows for tally in row.tallies if claim.metric in tally.withheld
    )
    reasons = "; ".join(_gate(gate, rows) for gate in dict.fromkeys(withheld))
    sentence = f"{METRICS[claim.metric].title} cannot be compared under this load: "
    sentence += f"{reasons or 'too few blocks have both'}."
    walls = [f"{wall:.3g} s with {name}" for name, wall in _walls(claim, summary).items()]
    if len(walls) == 2:
        sentence += f" All requests together took {' and '.join(walls)}."
    cost = summary.compare("cpu", claim.changed, claim.reference)
    if cost.ratio is not None:
        sentence += f" CPU per request: {figures(cost.ratio)}, {cost.verdict_text}."
    return sentence


def _walls(claim: Claim, summary: Summary) -> dict[str, float]:
    """Return the seconds that all requests together took, reference first, where they are known."""
    walls = {row.profile.name: row.wall for row in summary.rows if row.wall is not None}
    return {name: walls[name] for name in (claim.reference, claim.changed) if name in walls}


def uncounted(claim: Claim, summary: Summary) -> str:
    """Return the ratio of requests/s as a tool prints it that divides by the whole time."""
    walls = list(_walls(claim, summary).values())
    if claim.metric != "throughput" or len(walls) != 2:
        return ""
    return f"not counted: {walls[0] / walls[1]:.2f}x by the time for all requests"


def _gate(gate: Gate, rows: Sequence[Row]) -> str:
    """Say in how many trials of each side a gate fired, with the numbers of one trial."""
    pairs = [(row, tally) for row in rows for tally in row.tallies if tally.gate is gate]
    where = ", ".join(f"{row.profile.name} {tally.trials}/{row.total}" for row, tally in pairs)
    row, tally = pairs[-1]
    return f"{gate.name} ({where} trials), with {row.profile.name} {tally.example.reason}"
