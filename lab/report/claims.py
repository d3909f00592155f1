"""The verdicts on published claims: `lab claims`, and the same as Markdown and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from lab.analysis.stats import CONFIDENCE, percent
from lab.model import ClaimVerdict, Decision, Estimate
from lab.model.wording import counted
from lab.report.numbers import UNKNOWN, bounded
from lab.report.summary_json import to_json
from lab.report.tables import Cell, Document, Meaning, Table, printable, texts

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


TITLE = "Published claims, put to the test"

OPEN = (Decision.UNDECIDED, Decision.UNTESTABLE)
"""Decisions that leave a claim open."""

BY_LOAD = "different by load"
"""What came of a claim that two runs decide in different ways."""

NEVER_RUN = "not run"
"""What came of a claim that no run is about."""


def document(verdicts: Sequence[ClaimVerdict]) -> Document:
    """Return the claims that a run decided as a table, then each in a sentence."""
    decided = [each for each in verdicts if each.run is not None]
    rest = [each for each in verdicts if each.run is None]
    articles = {each.claim.source: each.claim.article for each in verdicts}
    return Document(
        title=TITLE,
        context=(_sum(verdicts),),
        banners=banners(decided),
        # What limited the two sides is in the sentences: 100 columns are few.
        tables=(verdict_table(decided, causes=False),) if decided else (),
        notes=tuple(_sentences(decided)) + tuple(f"{e.claim.id}: {e.sentence}" for e in rest),
        legend=(
            "reproduced: an effect beyond the noise, no smaller than published; smaller: below it;",
            "none: the published one is excluded, no other seen; reversed: the other way round;",
            f"undecided: both are possible; untestable: for the reason given. {_levels(decided)}",
        ),
        footer=tuple(f"{name}: {each.cited}" for name, each in articles.items() if each),
    )


def overview(verdicts: Sequence[ClaimVerdict]) -> Document:
    """Return what was decided, a line for each verdict, and by article what the open ones take."""
    decided = [each for own in _by_claim(verdicts) for each in own if each.decision not in OPEN]
    return Document(
        title=TITLE,
        context=(_sum(verdicts),),
        banners=banners(decided),
        tables=(verdict_table(decided, causes=False),) if decided else (),
        notes=tuple(_open(verdicts)),
        legend=(
            "Server cores: half of the machine's, or what lab run --server-cores names.",
            "What each run says to each claim, with the reasons: lab claims --markdown",
            "What runs of your own say: lab claims RUN...",
        ),
        footer=(),
    )


def banners(verdicts: Sequence[ClaimVerdict]) -> tuple[str, ...]:
    """Return what the reports of the quoted runs warn of, each once, with the run's name."""
    found = (f"{each.run}: {text}" for each in verdicts for text in printable(each.banners))
    return tuple(dict.fromkeys(found))


def _levels(decided: Iterable[ClaimVerdict]) -> str:
    """Say which level the intervals have."""
    ratios = [ratio for each in decided if (ratio := _estimate(each)) is not None]
    found = sorted({each.level for each in ratios} or {CONFIDENCE})
    return f"{' or '.join(map(percent, found))} intervals."


def came_to(verdicts: Sequence[ClaimVerdict]) -> str:
    """Return the one thing that the verdicts on one claim come to, whatever the number of runs."""
    made = [each.decision for each in verdicts if each.run is not None]
    settled = set(made) - set(OPEN)
    if len(settled) > 1:
        return BY_LOAD
    if settled:
        return settled.pop()
    if not made:
        return NEVER_RUN
    return next(each for each in OPEN if each in made)


def _sum(verdicts: Sequence[ClaimVerdict]) -> str:
    """Count each claim once: what was put to the test and what was not add up to all of them."""
    counts = Counter(came_to(own) for own in _by_claim(verdicts))
    total, rest = counts.total(), counts.pop(NEVER_RUN, 0)
    said = f"{counted(total, 'claim')}, {total - rest} put to the test"
    names = [name for name in (*Decision, BY_LOAD) if counts[name]]
    if names:
        said += f": {', '.join(f'{counts[name]} {name}' for name in names)}"
    return f"{said}; {rest} {NEVER_RUN}." if rest else f"{said}."


def _by_claim(verdicts: Sequence[ClaimVerdict]) -> list[list[ClaimVerdict]]:
    found: dict[str, list[ClaimVerdict]] = {}
    for each in verdicts:
        found.setdefault(each.claim.id, []).append(each)
    return list(found.values())


def _open(verdicts: Sequence[ClaimVerdict]) -> Iterator[str]:
    """Say of each article how many of its claims are open, and all that these take."""
    claims = _by_claim(verdicts)
    for source in dict.fromkeys(each.claim.source for each in verdicts):
        own = [each for each in claims if each[0].claim.source == source]
        left = [each for each in own if came_to(each) in (*OPEN, NEVER_RUN)]
        if left:
            article = left[0][0].claim.article
            name = article.cited if article is not None else source
            takes = dict.fromkeys(item for each in left for one in each for item in one.takes)
            yield f"{name}: {len(left)} of {len(own)} open. It takes {_in_few_words(takes)}."


def _in_few_words(takes: Iterable[str]) -> str:
    """
    Say "profiles a, b" for two items "profile a" and "profile b"; workloads likewise.

    An item of either kind is one that the lab lacks, so it is called missing.
    """
    kinds: dict[str, list[str]] = {"workload": [], "profile": [], "": []}
    for item in takes:
        kind, _, name = item.partition(" ")
        kinds[kind if kind in kinds else ""].append(name if kind in kinds else item)
    said = [
        f"{kind}{'' if len(names) == 1 else 's'} {', '.join(names)}"
        for kind, names in kinds.items()
        if kind and names
    ]
    if said:
        said[-1] += " (missing: this lab does not have them yet)"
    return "; ".join((*said, *kinds[""]))


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
        here = UNKNOWN if each.comparison is None else bounded(each.comparison)
        cells = (name, each.load, published, here)
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


def _estimate(verdict: ClaimVerdict) -> Estimate | None:
    return None if verdict.comparison is None else verdict.comparison.ratio


def _verdict(verdict: ClaimVerdict) -> dict[str, Any]:
    claim, found = verdict.claim, verdict.comparison
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
        "cores": claim.cores,
        "connections": claim.connections,
        "version": claim.version,
        "article": claim.article,
        "decision": verdict.decision,
        "takes": verdict.takes or None,
        "sentence": verdict.sentence,
        "run": verdict.run,
        "load": verdict.load or None,
        "cause": verdict.cause or None,
        "banners": verdict.banners or None,
        "here": _estimate(verdict),
        "between": found and found.between,
        "by": found.metric if found and found.metric != claim.metric else None,
    }
