"""The verdicts on published claims: `lab claims`, and the same as Markdown and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from lab.model import ClaimVerdict, Decision, Estimate
from lab.report.numbers import UNKNOWN, ratio
from lab.report.summary_json import to_json
from lab.report.tables import Cell, Document, Meaning, Table, texts

FORMAT = 1
"""
Version of the JSON.

1: the first.
"""

MEANINGS = {
    Decision.REPRODUCED: Meaning.GOOD,
    Decision.SMALLER: Meaning.WARNING,
    Decision.NONE: Meaning.BAD,
    Decision.REVERSED: Meaning.BAD,
    Decision.UNDECIDED: Meaning.MUTED,
    Decision.UNTESTABLE: Meaning.MUTED,
}


def document(verdicts: Sequence[ClaimVerdict]) -> Document:
    """Return the claims that a run decided as a table, then each in a sentence."""
    decided = [each for each in verdicts if each.run is not None]
    rest = [each for each in verdicts if each.run is None]
    claims = {each.claim.id for each in verdicts}
    counts = Counter(each.decision for each in decided)
    said = ", ".join(f"{counts[name]} {name}" for name in Decision if counts[name])
    tested = f"{len(claims)} claims, {len(claims) - len(rest)} of them put to the test"
    return Document(
        title="Published claims, put to the test",
        context=(f"{tested}: {said or 'no verdict'}.",),
        banners=(),
        # What limited the two sides is in the sentences: 100 columns are few.
        tables=(verdict_table(decided, causes=False),) if decided else (),
        notes=tuple(_sentences(decided)) + tuple(f"{e.claim.id}: {e.sentence}" for e in rest),
        legend=(
            "reproduced: an effect beyond the noise, no smaller than published; smaller: below it;",
            "none: the published one is excluded, no other seen; reversed: the other way round;",
            "undecided: both are possible; untestable: for the reason given. 95% intervals.",
        ),
        footer=(),
    )


def verdict_table(verdicts: Sequence[ClaimVerdict], *, causes: bool = True) -> Table:
    """
    Return a row for each verdict that a run gave, under its claim.

    Args:
        verdicts: Of claims that were put to the test.
        causes: Whether a column says what limited the two sides.
    """
    names = ("claim", "load", "article", "here", "decision", *(("cause",) if causes else ()))
    rows = []
    shown = ""
    for each in verdicts:
        first = each.claim.id != shown
        shown = each.claim.id
        name, published = (shown, each.claim.stated) if first else ("", "")
        cells = (name, each.load, published, _ratio(each))
        decision = Cell(each.decision, MEANINGS[each.decision])
        cause = (Cell(each.cause or UNKNOWN),) if causes else ()
        rows.append((*map(Cell, cells), decision, *cause))
    return Table("Claims", texts(names), tuple(rows))


def render_json(verdicts: Sequence[ClaimVerdict]) -> str:
    """Return the verdicts as JSON; it ends with a newline."""
    return to_json({"format": FORMAT, "verdicts": [_verdict(each) for each in verdicts]})


def _sentences(verdicts: Sequence[ClaimVerdict]) -> Iterator[str]:
    """Yield what the article says and what the runs say to it, once a claim."""
    for claim in dict.fromkeys(each.claim for each in verdicts):
        own = [each for each in verdicts if each.claim == claim]
        runs = " ".join(f"[{each.run}] {each.decision}: {each.sentence}" for each in own)
        yield f"{claim.id} ({claim.source}): {claim.text}. {runs}"


def _ratio(verdict: ClaimVerdict) -> str:
    estimate = _estimate(verdict)
    return UNKNOWN if estimate is None else ratio(estimate)


def _estimate(verdict: ClaimVerdict) -> Estimate | None:
    return None if verdict.comparison is None else verdict.comparison.ratio


def _verdict(verdict: ClaimVerdict) -> dict[str, Any]:
    claim = verdict.claim
    return {
        "claim": claim.id,
        "source": claim.source,
        "text": claim.text,
        "note": claim.note or None,
        "metric": claim.metric,
        "workload": claim.workload,
        "reference": claim.reference,
        "changed": claim.changed,
        "published": claim.published,
        "published_ratio": claim.ratio,
        "direction": claim.direction,
        "decision": verdict.decision,
        "sentence": verdict.sentence,
        "run": verdict.run,
        "load": verdict.load or None,
        "cause": verdict.cause or None,
        "here": _estimate(verdict),
    }
