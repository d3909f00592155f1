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
    verdicts: Sequence[ClaimVerdict], own: Sequence[Summary], *, blocks: int, cores: int
) -> tuple[tuple[Claim, ...], dict[str, str]]:
    """
    Return the open claims that a run may decide, and by its id why no run here decides another.

    A run that left a claim open is not repeated with as many blocks or fewer: whoever repeats one
    until it decides decides by chance. Claims that fewer runs have asked come first, so that one
    whose runs decide nothing does not keep the others waiting.

    Args:
        verdicts: What all runs and tests say to the claims.
        own: What the runs of this machine found.
        blocks: Of the runs that may be made.
        cores: Their servers'.
    """
    settled = {each.claim.id for each in verdicts if not each.decision.is_open}
    still_open = {each.claim.id: each.claim for each in verdicts if each.claim.id not in settled}
    why = {
        name: reason
        for name, claim in still_open.items()
        if (reason := _kept_open(claim, own, blocks, cores)) is not None
    }
    found = (claim for name, claim in still_open.items() if name not in why)
    return tuple(sorted(found, key=lambda claim: _times_asked(claim, own))), why


def _times_asked(claim: Claim, own: Iterable[Summary]) -> int:
    return sum(is_about(claim, each.run.plan) for each in own)


def _kept_open(claim: Claim, own: Iterable[Summary], blocks: int, cores: int) -> str | None:
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
    answers = [each for each in own if _answers(claim, each)]
    if not answers:
        return None
    longest = max(answers, key=lambda each: each.run.blocks)
    if longest.run.blocks < blocks:
        return None
    found = decide(claim, longest)
    made = counted(longest.run.blocks, "block")
    return f"{found.decision} after {made} ({found.run}): takes {'; '.join(found.takes[1:])}"


def _answers(claim: Claim, summary: Summary) -> bool:
    """Return whether a run asked what `Batch` asks for a claim, and may decide something."""
    plan = summary.run.plan
    return (
        is_about(claim, plan)
        and plan.load.connections >= (claim.connections or 1)
        and (claim.rate is None or plan.load.rate is not None)
        and not unsound(summary)
    )
