"""What studies/results/judges.json says: how performance checks judge the same trials."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from lab.bench.store.folder import read_json
from lab.errors import UsageError
from lab.model import numbers
from lab.model.document import Cell, Column, Table
from lab.report import markdown
from lab.report.svg import Picture
from studies.judges.counted import Counted, JudgesResult
from studies.judges.counts import LIMIT, over_old
from studies.judges.made import NAMES
from studies.judges.picture import draw
from studies.pages.results import RESULTS

TOGETHER = "all"
"""The moods together, as the result calls them."""

DRAWN = (
    "lab ab --confirm, cpu",
    "lab ab, cpu",
    "duet, cpu",
    "change point, cpu",
    "median and minimum, cpu",
    "best of ten, cpu",
    "25 % limit, cpu",
    "Welch over requests, time",
    "Mann-Whitney over requests, time",
)
"""Judges in the picture: each by what it does best with."""


@functools.cache
def stored() -> JudgesResult:
    """Return the stored result."""
    return read_json(RESULTS / "judges.json", JudgesResult)


@functools.cache
def picture() -> Picture:
    """Return its picture."""
    return draw(stored(), DRAWN)


def said(judge: str, planted: str, mood: str) -> str:
    """
    Return how often a judge called the new version slower, such as "1 of 20 (2 inconclusive)".

    Args:
        judge: As the result calls it.
        planted: What the new version is, of `NAMES`.
        mood: The machine's, or "all".
    """
    return _of(_counted(judge, planted, mood))


def by_planted() -> str:
    """Return a table of how often each judge says slower of what is planted, all moods together."""
    rows = [
        (judge, *(_of(counts[name]) for name in NAMES))
        for judge, counts in stored().moods[TOGETHER].items()
    ]
    return _table(("judge", *NAMES), rows)


def recorded() -> str:
    """Return a table of what was recorded of each mood."""
    rows = [
        (
            mood,
            f"{made.minutes:.0f}",
            numbers.count(made.trials),
            f"{made.disturbed:.0%}",
            "-" if made.noise is None else f"{made.noise:.1%}",
            *(_ratio(made.planted.get(name)) for name in NAMES if name != "alike"),
        )
        for mood, made in stored().recorded.items()
    ]
    titles = ("mood", "minutes", "trials", "trials with others at work", "noise of a trial")
    return _table((*titles, *(name for name in NAMES if name != "alike")), rows)


def counted() -> str:
    """Return a table of the instructions of a request, and whether their limit is crossed."""
    instructions = stored().instructions
    if instructions is None:
        raise UsageError("judges.json has no instructions: count them")
    rows = []
    for name, requests in instructions.requests.items():
        ratios = over_old(instructions, name)
        red = sum(ratio > LIMIT for ratio in ratios)
        ends = f"{min(ratios):.4f} to {max(ratios):.4f}"
        rows.append((name, f"{min(requests):,}", ends, f"{red} of {len(ratios)}"))
    return _table(("planted", "instructions a request", "over the old version's", "red"), rows)


def _counted(judge: str, planted: str, mood: str) -> Counted:
    try:
        return stored().moods[mood][judge][planted]
    except KeyError as error:
        raise UsageError(f"judges.json has no {error} of {judge}, {planted}, {mood}") from error


def _of(counted: Counted) -> str:
    inconclusive = f" ({counted.untold} inconclusive)" if counted.untold else ""
    return f"{counted.red} of {counted.comparisons}{inconclusive}"


def _ratio(ratio: tuple[float, float, float] | None) -> str:
    return "-" if ratio is None else "{:.3f} [{:.3f}, {:.3f}]".format(*ratio)


def _table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    first, *others = titles
    columns = (Column(first, number=False), *map(Column, others))
    return markdown.render_table(Table("", columns, tuple(tuple(map(Cell, row)) for row in rows)))
