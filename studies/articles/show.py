"""The verdicts on published claims: `lab claims`, and the same as Markdown and JSON."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from lab.analysis.stats import CONFIDENCE
from lab.model.comparison import Comparison, Estimate
from lab.model.document import Cell, Document, Meaning, Table, printable, texts
from lab.model.notice import Notice
from lab.model.numbers import bounded, percent
from lab.model.wording import UNKNOWN, counted
from lab.report.summary_json import to_json
from lab.report.warnings import by_kind, text_source, with_status
from studies.articles.claim import FIGURE, OUTCOMES, Claim, ClaimVerdict, Decision

FORMAT = 2
"""Version of the JSON: 2 has other outcomes, bands, caveats and what is outdated."""

MEANINGS = {
    Decision.REPRODUCED: Meaning.GOOD,
    Decision.LARGER: Meaning.WARNING,
    Decision.SMALLER: Meaning.WARNING,
    Decision.NOT_SEEN: Meaning.BAD,
    Decision.OPPOSITE: Meaning.BAD,
    Decision.OUTDATED: Meaning.WARNING,
}
"""How a settled outcome is shown; one that leaves a claim open is muted."""


TITLE = "Published claims, put to the test"

BY_LOAD = "differs by load"
"""What came of a claim that two runs decide in different ways."""

FEW = 4
"""Values of a sweep that are named one by one at most."""

LEFT = tuple(decision for decision in Decision if decision.is_open)
"""What came of a claim that is open; the first of them stands for the others."""


def document(verdicts: Sequence[ClaimVerdict]) -> Document:
    """Return what runs and tests said to the claims, as a table an article, and why."""
    tested = [verdict for verdict in verdicts if verdict.tested]
    return Document(
        title=TITLE,
        context=(counts(verdicts),),
        banners=banners(tested),
        tables=tuple(
            verdict_table(article_verdicts, name)
            for name, article_verdicts in _by_article(tested).items()
        ),
        notes=tuple(_sentences(tested)),
        legend=(
            *meanings(verdict.decision for verdict in tested),
            f"{_levels(tested)} A printed figure stands for its effect, {FIGURE:.0%} less to more.",
            "here: by all pairs of a run; its report's tables end where a comparison is decided.",
            "What the open claims take: lab claims",
        ),
        footer=(),
    )


def overview(verdicts: Sequence[ClaimVerdict]) -> Document:
    """Return what was decided, and what the open claims take, by article."""
    return Document(
        title=TITLE,
        context=(counts(verdicts),),
        banners=banners([verdict for verdict in verdicts if not verdict.decision.is_open]),
        tables=tuple(_tables_by_article(verdicts)),
        notes=(),
        legend=(
            "Open: it takes a run by this command, or workload and profiles that the lab lacks.",
            "Server cores: half of the machine's, or what lab run --server-cores names.",
            "All runs that can be made here, one after another: lab claims --run",
            "What each run says to each claim, with the reasons: lab claims --markdown",
            "What runs of your own say: lab claims RUN...",
        ),
        footer=(),
    )


def meanings(decisions: Iterable[Decision]) -> list[str]:
    """Return what each of these outcomes means, once and in the order of all."""
    distinct = {*decisions}
    return [
        f"{decision}: {meaning}" for decision, meaning in OUTCOMES.items() if decision in distinct
    ]


def banners(verdicts: Sequence[ClaimVerdict]) -> tuple[str, ...]:
    """Return the warnings of the quoted runs: each kind once per run, behind the run's name."""
    by_run: dict[str | None, list[tuple[str, Notice]]] = defaultdict(list)
    for verdict in verdicts:
        by_run[verdict.run] += ((verdict.load, warning) for warning in verdict.warnings)
    lines = []
    for run, warnings in by_run.items():
        for loads, text in by_kind(warnings):
            at = f"at {len(loads)} values{text_source(loads)}: " if len(loads) > 1 else ""
            lines.append(f"{run}: {at}{text}")
    return tuple(printable(lines))


def _levels(decided: Iterable[ClaimVerdict]) -> str:
    """Say which level the intervals have."""
    ratios = [ratio for verdict in decided if (ratio := _estimate(verdict)) is not None]
    levels = sorted({ratio.level for ratio in ratios} or {CONFIDENCE})
    return f"{' or '.join(map(percent, levels))} intervals."


def came_to(verdicts: Sequence[ClaimVerdict]) -> str:
    """Return the one thing that the verdicts on one claim come to, whatever the number of runs."""
    made = {verdict.decision for verdict in verdicts}
    settled = {decision for decision in made if not decision.is_open}
    if len(settled) > 1:
        return BY_LOAD
    return next(iter(settled), None) or next(decision for decision in LEFT if decision in made)


def counts(verdicts: Sequence[ClaimVerdict]) -> str:
    """Count each claim once, by what it came to: the parts add up to all of them."""
    outcomes = Counter(came_to(claim_verdicts) for claim_verdicts in _by_claim(verdicts))
    names = [name for name in (*Decision, BY_LOAD) if outcomes[name]]
    # An outcome may have a comma of its own.
    parts = "; ".join(f"{outcomes[name]} {name}" for name in names)
    return f"{counted(outcomes.total(), 'claim')}: {parts}."


def newly(before: Sequence[ClaimVerdict], now: Sequence[ClaimVerdict]) -> tuple[ClaimVerdict, ...]:
    """Return the verdicts that settle a claim which was open."""
    was_open = {
        claim_verdicts[0].claim.id
        for claim_verdicts in _by_claim(before)
        if came_to(claim_verdicts) in LEFT
    }
    return tuple(
        verdict for verdict in now if verdict.claim.id in was_open and not verdict.decision.is_open
    )


def in_a_line(verdict: ClaimVerdict) -> str:
    """Return what a run decided, with both figures."""
    claim, comparison = verdict.claim, verdict.comparison
    here = UNKNOWN if comparison is None else bounded(comparison)
    line = f"{claim.id}: {verdict.decision}, {here} where the article says {claim.stated}"
    return f"{line} ({verdict.run})"


def together(verdicts: Sequence[ClaimVerdict]) -> list[tuple[ClaimVerdict, str, str]]:
    """
    Return verdicts on one claim with load and figures for people, "-" for no figure.

    The values of a sweep that come to the same are one of them, with the smallest and the largest
    figure.
    """
    groups: dict[tuple[str | None, Decision], list[ClaimVerdict]] = {}
    for verdict in verdicts:
        groups.setdefault((verdict.run, verdict.decision), []).append(verdict)
    return [(group[0], _loads(group), _range(group)) for group in groups.values()]


def _loads(verdicts: Sequence[ClaimVerdict]) -> str:
    """
    Return the loads of several values in one phrase, as in "1, 100 or 300 connections, 2 s".

    Each begins with a number, or they are all the same: servers with other options.
    """
    loads = list(dict.fromkeys(verdict.load for verdict in verdicts))
    numbers, rests = zip(*(load.partition(" ")[::2] for load in loads), strict=True)
    if len(loads) == 1 or len({*rests}) > 1:
        return " or ".join(loads)
    if len(numbers) > FEW:
        return f"{numbers[0]} to {numbers[-1]} {rests[0]}, {len(numbers)} values"
    return f"{', '.join(numbers[:-1])} or {numbers[-1]} {rests[0]}"


def _range(verdicts: Sequence[ClaimVerdict]) -> str:
    """Return the figure that a run found; of several the smallest and the largest."""
    comparisons = [verdict.comparison for verdict in verdicts if verdict.comparison is not None]
    exact = sorted(
        (comparison for comparison in comparisons if comparison.ratio is not None), key=_middle
    )
    if len(exact) < 2:
        phrases = [
            *map(bounded, comparisons),
            *filter(None, (verdict.uncounted for verdict in verdicts)),
        ]
        return (
            "; ".join(dict.fromkeys(phrase for phrase in phrases if phrase != UNKNOWN)) or UNKNOWN
        )
    return f"{bounded(exact[0])} to {bounded(exact[-1])}"


def _middle(comparison: Comparison) -> float:
    return math.nan if comparison.ratio is None else comparison.ratio.value


def _by_claim(verdicts: Sequence[ClaimVerdict]) -> list[list[ClaimVerdict]]:
    return list(_grouped(verdicts, lambda claim: claim.id).values())


def _by_article(verdicts: Sequence[ClaimVerdict]) -> dict[str, list[ClaimVerdict]]:
    return _grouped(verdicts, lambda claim: claim.article.cited if claim.article else claim.source)


def _grouped(
    verdicts: Sequence[ClaimVerdict], name: Callable[[Claim], str]
) -> dict[str, list[ClaimVerdict]]:
    groups: dict[str, list[ClaimVerdict]] = {}
    for verdict in verdicts:
        groups.setdefault(name(verdict.claim), []).append(verdict)
    return groups


def _tables_by_article(verdicts: Sequence[ClaimVerdict]) -> Iterator[Table]:
    """Yield for each article what was decided, a row a verdict, and what its open claims take."""
    for article, article_verdicts in _by_article(verdicts).items():
        claims = _by_claim(article_verdicts)
        left = [claim_verdicts for claim_verdicts in claims if came_to(claim_verdicts) in LEFT]
        of = f"of {len(claims)}"
        if decided := [verdict for verdict in article_verdicts if not verdict.decision.is_open]:
            yield verdict_table(decided, f"{article}: {len(claims) - len(left)} {of} decided")
        if left:
            titles = ("claim", "what it takes")
            rows = tuple(
                (Cell(claim_verdicts[0].claim.id), Cell(takes(claim_verdicts)))
                for claim_verdicts in left
            )
            yield Table(f"{article}: {len(left)} {of} open", texts(titles), rows)


def takes(verdicts: Sequence[ClaimVerdict]) -> str:
    """Return what deciding a claim takes: parts that the lab lacks; if none, what else it takes."""
    needs = dict.fromkeys(item for verdict in verdicts for item in verdict.takes)
    missing = dict.fromkeys(item for verdict in verdicts for item in verdict.lacks)
    return "; ".join(missing or needs) or UNKNOWN


def verdict_table(verdicts: Sequence[ClaimVerdict], title: str = "Claims") -> Table:
    """Return a row for each verdict, under its claim; values of a sweep `together`."""
    names = ("claim", "load", "article", "here", "outcome")
    rows = []
    for claim_verdicts in _by_claim(verdicts):
        name, published = claim_verdicts[0].claim.id, claim_verdicts[0].claim.stated
        for verdict, load, here in together(claim_verdicts):
            cells = (name, load or "a test", published, here)
            outcome = Cell(verdict.decision, MEANINGS.get(verdict.decision, Meaning.MUTED))
            rows.append((*map(Cell, cells), outcome))
            name = published = ""
    return Table(title, texts(names), tuple(rows))


def render_json(verdicts: Sequence[ClaimVerdict]) -> str:
    """Return the verdicts as JSON; it ends with a newline."""
    return to_json({"format": FORMAT, "verdicts": [_verdict(verdict) for verdict in verdicts]})


def _sentences(verdicts: Sequence[ClaimVerdict]) -> Iterator[str]:
    """Yield what the article says and what runs or its test say to it, once a claim."""
    for claim_verdicts in _by_claim(verdicts):
        claim = claim_verdicts[0].claim
        runs = Counter(verdict.run for verdict in claim_verdicts)
        sentences = (
            f"[{_by(verdict, runs)}] {verdict.decision}: {verdict.sentence}"
            for verdict in claim_verdicts
        )
        yield f"{claim.id} ({claim.source}): {says(claim)}. {' '.join(sentences)}"


def says(claim: Claim) -> str:
    """Return what the article says, with what its author says against it."""
    return claim.text + (f" (the author: {claim.caveat})" if claim.caveat else "")


def _by(verdict: ClaimVerdict, runs: Mapping[str | None, int]) -> str:
    """Return what gave a verdict: a run, one value of a sweep, or a test."""
    if verdict.run is None:
        return "test"
    return verdict.run if runs[verdict.run] == 1 else f"{verdict.run}, {verdict.load}"


def _estimate(verdict: ClaimVerdict) -> Estimate | None:
    return None if verdict.comparison is None else verdict.comparison.ratio


def _verdict(verdict: ClaimVerdict) -> dict[str, Any]:
    claim, comparison = verdict.claim, verdict.comparison
    return {
        "claim": claim.id,
        "source": claim.source,
        "text": claim.text,
        "note": claim.note or None,
        "caveat": claim.caveat or None,
        "metric": claim.metric if claim.kind == "ratio" else None,
        "workload": claim.workload or None,
        "reference": claim.reference or None,
        "changed": claim.changed or None,
        "published": claim.published,
        "published_ratio": claim.ratio,
        "direction": claim.direction,
        "band": claim.band,
        "means": claim.meaning,
        "cores": claim.cores,
        "connections": claim.connections,
        "version": claim.version,
        "rate": claim.rate,
        "kind": claim.kind,
        "test": claim.test,
        "holds": claim.holds,
        "outdated": claim.outdated,
        "untestable": claim.untestable,
        "article": claim.article,
        "decision": verdict.decision,
        "takes": verdict.takes or None,
        "sentence": verdict.sentence,
        "run": verdict.run,
        "load": verdict.load or None,
        "machine": verdict.machine or None,
        "uncounted": verdict.uncounted or None,
        "cause": verdict.cause or None,
        "banners": list(map(with_status, verdict.warnings)) or None,
        "here": _estimate(verdict),
        "between": comparison and comparison.between,
        "by": comparison.metric if comparison and comparison.metric != claim.metric else None,
    }
