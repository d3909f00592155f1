"""What the articles say, and what stored runs and tests say to it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import groupby

from lab.errors import UsageError
from lab.model.document import table
from lab.model.wording import UNKNOWN
from lab.report import markdown
from studies import articles
from studies.articles import show
from studies.articles.claim import FIGURE, OUTCOMES, Article, Claim, ClaimVerdict
from tools.pages.files import names, swept

STATED = {"above": "more", "below": "less"}
"""What a direction says of the metric."""


def sources() -> dict[str, Article]:
    """Return the articles by their short names, in the order of their claims."""
    return {claim.source: claim.article for claim in articles.load() if claim.article is not None}


def article(source: str) -> str:
    """
    Return an article's title, linked where its address is known, with author and year.

    Raises:
        UsageError: There is no such article.
    """
    if (source_article := sources().get(source)) is None:
        raise UsageError(f"there is no article {source}; there are {', '.join(sources())}")
    title = (
        f"[{source_article.title}]({source_article.address})"
        if source_article.address
        else source_article.title
    )
    return ", ".join(map(str, filter(None, (title, source_article.author, source_article.year))))


def all_in_short() -> str:
    """Return how many claims there are, and what came of them."""
    return show.counts(verdicts())


def in_short(source: str) -> str:
    """Return how many claims of an article there are, and what came of them."""
    return show.counts(_of(source))


def statements(source: str) -> str:
    """Return the claims of one article in words, what came of each, and what an open one takes."""
    source_verdicts = _of(source)
    rows = (
        row
        for _, claim_verdicts in groupby(source_verdicts, key=lambda verdict: verdict.claim)
        for row in _rows([*claim_verdicts])
    )
    titles = ("the article says", "figure", "here", "decided by")
    warned = markdown.warnings(show.banners(settled(source_verdicts)))
    return warned + markdown.render_table(table("", titles, rows))


def outcomes() -> str:
    """Return what each outcome of a claim means."""
    rows = ((f"*{outcome}*", meaning) for outcome, meaning in OUTCOMES.items())
    return markdown.render_table(table("", ("outcome", "what it means"), rows))


def bands() -> str:
    """Return what the articles' words stand for, and why."""
    rows = [(f'"{name}"', str(band), band.reading) for name, band in articles.bands().items()]
    figure = f"its effect, {FIGURE:.0%} less to {FIGURE:.0%} more"
    rows.append(("a printed figure", figure, "it comes from one run, without an interval"))
    return markdown.render_table(table("", ("word", "stands for", "why"), rows))


def settled(verdicts: Sequence[ClaimVerdict]) -> list[ClaimVerdict]:
    """Return those that leave nothing open: a page quotes their runs."""
    return [verdict for verdict in verdicts if not verdict.decision.is_open]


@functools.cache
def verdicts() -> tuple[ClaimVerdict, ...]:
    """Return what all stored runs and the tests say to all claims."""
    summaries = [summary for name in names() for summary in swept(name)]
    return articles.by_summaries(summaries, articles.load())


def _of(source: str) -> list[ClaimVerdict]:
    return [verdict for verdict in verdicts() if verdict.claim.source == source]


def _rows(verdicts: Sequence[ClaimVerdict]) -> list[tuple[str, ...]]:
    """Return a row for each outcome that settles a claim; one that says what it takes if none."""
    claim = verdicts[0].claim
    says = (_says(claim), _stated(claim))
    if not (settling := settled(verdicts)):
        row = (*says, f"**{show.came_to(verdicts)}**", _in_code(show.takes(verdicts)))
        return [row]
    note, rows = claim.note, list[tuple[str, ...]]()
    for _, alike in groupby(show.together(settling), key=lambda entry: entry[0].decision):
        entries = [*alike]
        measured = [(verdict.run, here) for verdict, _, here in entries if here != UNKNOWN]
        several = len(measured) > 1
        figures = "; ".join(f"{here} ({run})" if several else here for run, here in measured)
        evidence = "; ".join(_evidence(verdict, load) for verdict, load, _ in entries)
        rows.append((*says, _decided(entries[0][0], figures, note), evidence))
        says, note = ("", ""), ""
    return rows


def _stated(claim: Claim) -> str:
    """Return the article's figure, or its direction in a word; of a fact nothing."""
    if claim.kind == "fact":
        return ""
    if claim.direction is None or claim.metric != "throughput":
        return claim.stated
    return STATED[claim.direction]


def _says(claim: Claim) -> str:
    """Return what the article says, with what its author says against it."""
    return claim.text + (f". *The author: {claim.caveat}.*" if claim.caveat else "")


def _decided(verdict: ClaimVerdict, figures: str, note: str) -> str:
    """Return the outcome with its figures, what has changed since, and a note."""
    parts = (figures, verdict.claim.outdated or "", note)
    more = ". ".join(part.rstrip(".") for part in parts if part)
    return f"**{verdict.decision}**" + (f": {more}" if more else "")


def _evidence(verdict: ClaimVerdict, load: str) -> str:
    """Return a link to the run or the test, from a page in a folder of docs."""
    if verdict.run is not None:
        return f"[{verdict.run}](../runs/README.md#{verdict.run}): {load}"
    path = str(verdict.claim.test).partition("::")[0]
    return f"[a test](../../{path})"


def _in_code(takes: str) -> str:
    """Return what a claim takes, a command in backticks."""
    words = takes.split("; ")
    return "; ".join(f"`{word}`" if word.startswith("lab ") else word for word in words)
