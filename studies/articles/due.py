"""Which open claims a run on this machine may still decide, and what keeps the others open."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from lab.analysis.summary import Summary
from lab.model.wording import counted
from studies.articles.claim import Claim, ClaimVerdict
from studies.articles.conditions import unsound, wanted
from studies.articles.decide import absent, decide, is_about


def due(
    verdicts: Sequence[ClaimVerdict], summaries: Sequence[Summary], *, blocks: int, cores: int
) -> tuple[tuple[Claim, ...], dict[str, str]]:
    """
    Return the open claims that a run may decide, and by its id why no run here decides another.

    A run that left a claim open is not repeated with as many blocks or fewer: whoever repeats one
    until it decides decides by chance. Claims that fewer runs have asked come first, so that one
    whose runs decide nothing does not keep the others waiting.

    Args:
        verdicts: What all runs and tests say to the claims.
        summaries: What the runs of this machine found.
        blocks: Of the runs that may be made.
        cores: Their servers'.
    """
    settled = {verdict.claim.id for verdict in verdicts if not verdict.decision.is_open}
    still_open = {
        verdict.claim.id: verdict.claim for verdict in verdicts if verdict.claim.id not in settled
    }
    why = {
        name: reason
        for name, claim in still_open.items()
        if (reason := _kept_open(claim, summaries, blocks, cores)) is not None
    }
    claims = (claim for name, claim in still_open.items() if name not in why)
    return tuple(sorted(claims, key=lambda claim: _times_asked(claim, summaries))), why


def _times_asked(claim: Claim, summaries: Iterable[Summary]) -> int:
    return sum(is_about(claim, summary.run.plan) for summary in summaries)


def _kept_open(claim: Claim, summaries: Iterable[Summary], blocks: int, cores: int) -> str | None:
    """Return why no run is made for a claim that is open; None if one is."""
    if claim.untestable is not None:
        return claim.untestable
    if lacking := absent(claim):
        return f"takes {', '.join(lacking)}"
    if claim.cores is not None and claim.cores > cores:
        needs = wanted(claim)["cores"]
        return f"takes {needs}, and there would be {cores}; --server-cores names more"
    if claim.variable is not None and not os.environ.get(claim.variable):
        return f"takes {wanted(claim)['variable']}"
    answers = [summary for summary in summaries if _answers(claim, summary)]
    if not answers:
        return None
    longest = max(answers, key=lambda summary: summary.run.blocks)
    if longest.run.blocks < blocks:
        return None
    verdict = decide(claim, longest)
    made = counted(longest.run.blocks, "block")
    return f"{verdict.decision} after {made} ({verdict.run}): takes {'; '.join(verdict.takes[1:])}"


def _answers(claim: Claim, summary: Summary) -> bool:
    """Return whether a run asked what `Batch` asks for a claim, and may decide something."""
    plan = summary.run.plan
    return (
        is_about(claim, plan)
        and plan.load.connections >= (claim.connections or 1)
        and (claim.rate is None or plan.load.rate is not None)
        and not unsound(summary)
    )
