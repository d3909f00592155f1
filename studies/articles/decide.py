"""
What runs say to the published claims: from the interval of a ratio, never from its middle.

A claim is a range with a source: what a printed figure or a word stands for (`Claim.limits`). That
range and no effect at all are two hypotheses, and the interval may exclude either, both or none. An
effect counts as one only beyond the run's floor, as in every comparison.

A claim is decided by every run that has its workload, both its profiles and, for throughput, a
closed loop: the same step may be one thing under a burst of clients and another under a load that
lasts. A run that ended early, or failed its noise check, decides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from lab.analysis.compare import MOST_SAME, same_within, verdict_of
from lab.analysis.confirm import limited_by
from lab.analysis.gates.effort import GENERATOR_BOUND
from lab.analysis.judging import planned
from lab.analysis.points import points
from lab.analysis.summary import Summary, summarise
from lab.bench import profiles, workloads
from lab.model.comparison import Between, Comparison, MayBe, Verdict
from lab.model.diagnosis import Standing
from lab.model.measurement import Run
from lab.model.metric import METRICS
from lab.model.nested import flatten, worded
from lab.model.plan import Better, Plan
from studies.articles.batches import Batch
from studies.articles.claim import Claim, ClaimVerdict, Decision
from studies.articles.conditions import server_cores, unmet, unsound, wanted
from studies.articles.read import load
from studies.articles.sentences import figures_of, meaning, uncounted, withheld

_KNOWN: Mapping[str, Callable[[], Collection[str]]] = {
    "workload": workloads.find,
    "profile": profiles.find,
}
"""Kinds of parts, and what finds those that this lab has."""


def verdicts(
    runs: Sequence[Run], claims: Sequence[Claim] | None = None
) -> tuple[ClaimVerdict, ...]:
    """
    Decide the claims (all of ours by default) by every run that can, in the claims' order.

    A claim that no run decides has its test's verdict, too; without any it is open, and the verdict
    says what it takes.
    """
    chosen_claims = load() if claims is None else claims
    return by_summaries(relevant(runs, chosen_claims), chosen_claims)


def relevant(runs: Sequence[Run], claims: Sequence[Claim]) -> list[Summary]:
    """Return what *runs* found, for each value by itself, where one of *claims* is about it."""
    return [
        summarise(point)
        for run in runs
        for point in points(run)
        if any(is_about(claim, point.plan) for claim in claims)
    ]


def by_summaries(seen: Sequence[Summary], claims: Sequence[Claim]) -> tuple[ClaimVerdict, ...]:
    """Decide *claims* by what runs found: see `verdicts`."""
    all_verdicts: list[ClaimVerdict] = []
    for claim in claims:
        claim_verdicts = [
            decide(claim, summary) for summary in seen if is_about(claim, summary.run.plan)
        ]
        if not claim_verdicts or (
            claim.holds is not None and all(verdict.decision.is_open for verdict in claim_verdicts)
        ):
            claim_verdicts.append(_without_run(claim))
        all_verdicts += claim_verdicts
    return tuple(all_verdicts)


def decided(summary: Summary) -> tuple[ClaimVerdict, ...]:
    """Return the verdicts that a run by itself gives; none for one that no claim is about."""
    plan = summary.run.plan
    return tuple(decide(claim, summary) for claim in load() if is_about(claim, plan))


def is_about(claim: Claim, plan: Plan) -> bool:
    """Return whether a run by *plan* has what it takes to decide *claim*."""
    # What is served from a copy has other options than the profile that the claim names.
    workload, names = (
        plan.workload,
        {profile.name for profile in plan.profiles if not profile.private_copy},
    )
    if workload.name != claim.workload or not {claim.reference, claim.changed} <= names:
        return False
    # A number of its own is other work by the same name.
    known = workload.name in workloads.find()
    path = workloads.workload(workload.name).path if known else workload.path
    return workload.path == path and not planned(claim.metric, plan.load)


def decide(claim: Claim, summary: Summary) -> ClaimVerdict:
    """Decide *claim* by one run that has what it takes: see `is_about`."""
    comparison = _compared(claim, summary)
    decision = decision_of(claim, comparison, summary.floors[comparison.metric])
    lacking = [*unmet(claim, summary), *unsound(summary)]
    if lacking:
        decision = _left_open(claim, {needs for needs, _ in lacking})
    sentences = _opening(claim, summary, comparison, decision, lacking)
    if idle := _idle(claim, summary):
        sentences.append(idle)
        if decision is Decision.INCONCLUSIVE:
            decision = Decision.NOT_SEEN  # what did not happen has no effect, whatever the noise
            sentences.append("The count decides where the interval cannot.")
    elif inert := _inert(claim, summary):
        sentences.append(f"Without effect in {claim.changed}: {' '.join(inert)}")
    if cause := cause_of(claim, summary):
        sentences.append(f"Limited by: {cause}.")
    run = summary.run
    return ClaimVerdict(
        claim,
        decision,
        sentence=" ".join(sentences),
        run=run.name,
        load=describe(run),
        machine=machine(run.environments),
        comparison=comparison,
        uncounted=uncounted(claim, summary) if comparison.verdict is Verdict.INVALID else "",
        cause=cause,
        takes=_takes(claim, comparison, decision, [needs for needs, _ in lacking]),
        warnings=summary.warnings,
    )


def _left_open(claim: Claim, lacking: Collection[str]) -> Decision:
    """Return what comes of a claim by a run that does not have what the claim needs."""
    needs = wanted(claim)
    if needs.get("variable") in lacking:
        return Decision.UNTESTABLE
    another_load = any(needs.get(name) in lacking for name in ("connections", "rate"))
    return Decision.NO_RUN if another_load else Decision.INCONCLUSIVE


def _takes(
    claim: Claim, comparison: Comparison, decision: Decision, lacking: Sequence[str]
) -> tuple[str, ...]:
    """Return the run that would decide what is open, and what it must have; else nothing."""
    if not decision.is_open:
        return ()
    if not lacking:
        lacking = [_wanting(claim, comparison)]
    return (Batch((claim,)).command, *_beside_command(claim, lacking))


def _beside_command(claim: Claim, lacking: Sequence[str]) -> list[str]:
    """Return what of *lacking* the command of a claim's run does not say."""
    texts = [text for name, text in wanted(claim).items() if name in ("connections", "rate")]
    return [need for need in lacking if need not in texts]


def _wanting(claim: Claim, comparison: Comparison) -> str:
    """Return what would decide a comparison that leaves its claim open."""
    if comparison.verdict is Verdict.INVALID:
        return f"a run in which {METRICS[claim.metric].title} count"
    if comparison.between is not None:
        return "a core of its own for the load"
    return "more blocks" if comparison.may_be is None else "more cores for the load"


def _opening(
    claim: Claim,
    summary: Summary,
    comparison: Comparison,
    decision: Decision,
    lacking: Sequence[tuple[str, str]],
) -> list[str]:
    """Return the sentences on what was measured, and on what the run lacks to decide."""
    if lacking:
        sentences = [f"the claim needs {needs}, this run {had}." for needs, had in lacking]
        if comparison.verdict is not Verdict.INVALID:
            sentences.append(f"Measured all the same: {figures_of(comparison)}.")
    elif comparison.verdict is Verdict.INVALID:
        sentences = [withheld(claim, summary)]
    else:
        noise = f"the noise of {summary.floors[comparison.metric]:.1%}"
        bound = comparison.ratio is None or comparison.may_be is not None
        means = meaning(decision, claim, noise, bound=bound)
        by = "by CPU per request, " if comparison.metric != claim.metric else ""
        stands = "" if claim.meaning is None else f", which stands for {claim.meaning}"
        sentences = [
            f"{by}{figures_of(comparison)} where the article says {claim.stated}{stands}: {means}"
        ]
    if comparison.caveat:
        sentences.append(f"{comparison.caveat[:1].upper()}{comparison.caveat[1:]}.")
    return sentences


def _compared(claim: Claim, summary: Summary) -> Comparison:
    """
    Return the comparison that decides *claim*: by its metric, or by what stands for throughput.

    Where nothing but the generator's limit kept throughput from counting, that is CPU per request,
    if the server had one core, which any server can fill. One that waits for its clients needs more
    CPU per request than a busy one: the ratio is a bound. With both sides kept so it is none.
    """
    sides = claim.changed, claim.reference
    # "Better" is no answer to "as large as published?": all pairs count, also those after a look.
    comparison = summary.compare_whole(claim.metric, *sides)
    if claim.metric != "throughput" or comparison.verdict is not Verdict.INVALID:
        return comparison
    withheld = (
        tally.gate
        for row in summary.rows
        for tally in row.tallies
        if row.profile.name in sides and "throughput" in (tally.example.withholds or ())
    )
    by_cpu = summary.compare_whole("capacity", *sides)
    ratio = by_cpu.ratio
    if ratio is None or {*withheld} != {GENERATOR_BOUND} or server_cores(summary.run, sides) != 1:
        return comparison
    low = ratio.low if by_cpu.may_be is MayBe.LARGER else None
    high = ratio.high if by_cpu.may_be is MayBe.SMALLER else None
    if low is None and high is None:
        return comparison
    return replace(by_cpu, ratio=None, between=Between(low, high, ratio.n, ratio.level))


def decision_of(claim: Claim, comparison: Comparison, floor: float) -> Decision:
    """
    Return what the interval allows to be said of what the article says.

    Of a ratio of which ends are known: what all ratios between them have in common. So, too, of one
    that may be larger or smaller, as the generator was at its limit.
    """
    ratio, ends, may_be = comparison.ratio, comparison.between, comparison.may_be
    exact = ratio is not None and may_be is None
    if ratio is not None:
        low, high = (ratio.low, ratio.high) if may_be is None else may_be.ends(ratio)
    elif ends is not None:
        low, high = ends.low or 0.0, ends.high or math.inf
    else:
        return Decision.INCONCLUSIVE
    least, most = claim.limits
    if claim.of_nearness:
        return _of_nearness(low, high, least, most)
    if most <= 1:  # the mirror image: how many times less
        low, high = 1 / high, 1 / low if low else math.inf
        least, most = 1 / most, 1 / least if least else math.inf
    verdict = verdict_of(low, high, floor, Better.HIGHER)
    if verdict is Verdict.WORSE:
        return Decision.OPPOSITE
    if verdict is Verdict.BETTER:
        if low > most:
            return Decision.LARGER
        if high < least:
            return Decision.SMALLER
        # Of an interval the far end counts; where the ends are all that is known, the near one.
        return Decision.REPRODUCED if exact or low >= least else Decision.INCONCLUSIVE
    # A direction says that there is a gain: one as small as makes no difference is none.
    same = high <= 1 + same_within(floor) or (comparison.below or math.inf) <= MOST_SAME
    excluded = same if least == 1 else high < least
    return Decision.NOT_SEEN if excluded else Decision.INCONCLUSIVE


def _of_nearness(low: float, high: float, least: float, most: float) -> Decision:
    """Return what an interval says of two that the article calls alike, within these limits."""
    if low > most or high < least:
        return Decision.LARGER
    return Decision.REPRODUCED if least <= low and high <= most else Decision.INCONCLUSIVE


def describe(run: Run) -> str:
    """Return the load of a run, for people."""
    load_, window = run.plan.load, run.plan.window
    cores = ", shared cores" if run.shares_cores else ""
    if run.plan.share < 1:
        cores = f", server slowed down to {run.plan.share:.0%}"
    if load_.requests is not None:
        return f"{load_.requests:,} requests, {load_.connections:,} at once{cores}"
    if load_.rate is not None:
        return f"{load_.rate:,.0f} requests/s, {window:g} s{cores}"
    return f"{load_.connections:,} connections, {window:g} s{cores}"


def machine(environments: Mapping[str, Mapping[str, object]]) -> str:
    """Return the processor where a run began and its cores, for people; empty where unknown."""
    known = dict(flatten(next(iter(environments.values()), {})))
    return worded(known, {"cpu.model": "{}", "cpu.cores": "{} cores"})


def cause_of(claim: Claim, summary: Summary) -> str:
    """Return what a counter-run has shown to limit the sides: once where it is the same."""
    sides = {
        name: diagnosis.cause.name
        for name in (claim.reference, claim.changed)
        if (diagnosis := limited_by(summary.diagnoses.get(name, ()))) is not None
        and diagnosis.standing is Standing.CONFIRMED
    }
    if len(sides) == 2 and len({*sides.values()}) == 1:
        return f"{sides[claim.changed]} in both"
    return "; ".join(f"{name}: {cause}" for name, cause in sides.items())


def _without_run(claim: Claim) -> ClaimVerdict:
    """Return the verdict on a claim that no run decides: its test's, or what it takes to decide."""
    if claim.holds is not None:
        return ClaimVerdict(claim, *_by_test(claim, claim.holds))
    if claim.untestable is not None:
        sentence = f"{claim.untestable}. {claim.note}".rstrip()
        return ClaimVerdict(claim, Decision.UNTESTABLE, sentence, takes=(claim.untestable,))
    conditions = [*wanted(claim).values()]
    if lacking := absent(claim):
        decision = Decision.UNTESTABLE
        sentence = f"Needs {', '.join(lacking)}, which this lab does not have."
    else:
        decision = Decision.NO_RUN
        conditions = _beside_command(claim, conditions)
        lacking = [Batch((claim,)).command]
        sentence = f"No run can decide it: {lacking[0]}"
    if conditions:
        sentence += f" It also takes {', '.join(conditions)}."
    lacks = tuple(part for part in lacking if _kind_and_name(part)[0] in _KNOWN)
    return ClaimVerdict(claim, decision, sentence, takes=(*lacking, *conditions), lacks=lacks)


def _by_test(claim: Claim, holds: bool) -> tuple[Decision, str]:
    """Return what a claim's test says to it, and why."""
    fact = "a fact, " if claim.kind == "fact" else ""
    sentences = [f"{fact}decided by {claim.test}.", claim.note]
    decision = Decision.REPRODUCED if holds else Decision.NOT_SEEN
    if claim.outdated is not None:
        decision = Decision.OUTDATED
        sentences.insert(1, f"{claim.outdated}.")
    return decision, " ".join(filter(None, sentences))


def absent(claim: Claim) -> list[str]:
    """Return the parts, as in "profile x", that this lab lacks to put a claim to the test."""
    if claim.kind == "fact":
        return []
    parts = (f"workload {claim.workload}", f"profile {claim.reference}", f"profile {claim.changed}")
    return [part for part in parts if not _known(part)]


def _known(part: str) -> bool:
    """Return whether this lab has a part, as in "profile x"."""
    kind, name = _kind_and_name(part)
    return kind in _KNOWN and name in _KNOWN[kind]()


def _kind_and_name(part: str) -> tuple[str, str]:
    kind, _, name = part.partition(" ")
    return kind, name


def _idle(claim: Claim, summary: Summary) -> str:
    """Say that the claim's option did nothing at all; nothing where the run cannot show it."""
    inaction, window = claim.inaction, summary.run.plan.window
    rows = {row.profile.name: row for row in summary.rows}
    if inaction is None or inaction.witness not in rows:
        return ""
    changed = rows[claim.changed]
    limit = int(dict(changed.profile.options).get(inaction.option, "0"))
    count = rows[inaction.witness].values.get(inaction.metric)
    if not 0 < limit < window or changed.values.get(inaction.metric) != 0 or not count:
        return ""
    return inaction.sentence.format(window=window, limit=limit, count=count)


def _inert(claim: Claim, summary: Summary) -> list[str]:
    """Return the options that the changed profile has, to no effect, and the other has not."""
    before = summary.inert.get(claim.reference, ())
    return [option for option in summary.inert.get(claim.changed, ()) if option not in before]
