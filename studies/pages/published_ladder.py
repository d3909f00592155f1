"""What studies/results/published_ladder.json says: the article's ladder, many times."""

from __future__ import annotations

import functools
import itertools
import json
import math
from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist

from lab.analysis.stats import paired
from lab.errors import UsageError
from lab.model.document import Cell, Column, Table
from lab.report import markdown
from lab.report import svg as form
from lab.report.palette import LIGHT
from lab.report.plots.layout import WIDTH, head, head_height, mark, panel, paper
from lab.report.svg import Picture
from studies.pages.results import RESULTS
from studies.published_ladder import CONDITIONS, PUBLISHED

TITLE = "The article's figures, measured again"

ROW, BELOW, LABELS = 0.62, 0.55, 1.75
"""Inches: a configuration, the axis, and the configurations' names."""

TICKS = (200, 500, 1000, 2000)
LOOKS: Mapping[str, dict[str, Any]] = {
    "queue of 100": {"marker": "o", "color": LIGHT["series3"]},
    "slow terminal": {"marker": "^", "color": LIGHT["series5"]},
    "listen = 1024": {"marker": "s", "color": LIGHT["series2"]},
}
ARTICLE: dict[str, Any] = {"marker": "D", "color": LIGHT["series1"]}


@functools.cache
def _stored() -> Any:
    return json.loads((RESULTS / "published_ladder.json").read_text(encoding="utf-8"))


def _trials(condition: str, profile: str) -> list[Any]:
    return [
        entry
        for entry in _stored()["trials"]
        if (entry["condition"], entry["profile"]) == (condition, profile)
    ]


def _rates(condition: str, profile: str) -> list[float]:
    return [entry["rate"] for entry in _trials(condition, profile)]


@functools.cache
@mpl.rc_context(form.STYLE)
def picture() -> Picture:
    """Return the picture: a strip for each configuration, its trials, and the article's figure."""
    entries: list[Artist] = [
        mark("the article", linestyle="none", markersize=6, **ARTICLE),
        *(mark(name, linestyle="none", markersize=4, **style) for name, style in LOOKS.items()),
    ]
    top, high = head_height(entries, columns=4), ROW * len(PUBLISHED)
    canvas = paper(top + high + BELOW)
    axes = panel(canvas, LABELS / WIDTH, BELOW, 1 - (LABELS + 0.15) / WIDTH, high)
    for row, (profile, published) in enumerate(PUBLISHED.items()):
        if row % 2:
            axes.axhspan(row - 0.5, row + 0.5, color=LIGHT["panel"], linewidth=0, zorder=0)
        for number, (condition, style) in enumerate(LOOKS.items()):
            rates = _rates(condition, profile)
            places = [row + 0.24 * (number - 1)] * len(rates)
            axes.plot(rates, places, linestyle="none", markersize=3.5, alpha=0.6, **style)
        axes.plot([published], [row], linestyle="none", markersize=7, zorder=5, **ARTICLE)
    axes.set_xscale("log")
    axes.set_xlim(150, 2500)
    axes.set_xticks(TICKS, [f"{tick:,}" for tick in TICKS])
    axes.minorticks_off()
    axes.set_ylim(len(PUBLISHED) - 0.5, -0.5)
    axes.set_yticks(range(len(PUBLISHED)), list(PUBLISHED))
    axes.tick_params(axis="y", length=0, labelcolor=LIGHT["ink"])
    axes.spines.left.set_visible(False)
    axes.set_xlabel("requests/s for 5,000 requests of 500 clients (logarithmic)")
    head(canvas, TITLE, entries, columns=4)
    return Picture(TITLE, _describe(), canvas)


def _describe() -> str:
    parts = []
    for profile, published in PUBLISHED.items():
        spans = (
            f"{condition} {min(rates):.0f} to {max(rates):.0f}"
            for condition in CONDITIONS
            if (rates := _rates(condition, profile))
        )
        parts.append(f"{profile}: article {published}, {', '.join(spans)}")
    return f"Requests/s of each trial, by configuration and condition. {'; '.join(parts)}."


def spans() -> str:
    """Return a table of the least, the median and the most of each configuration's trials."""
    rows = [
        (profile, f"{published:,}", *(_span(condition, profile) for condition in CONDITIONS))
        for profile, published in PUBLISHED.items()
    ]
    return _table(("configuration", "article", *CONDITIONS), rows)


def _span(condition: str, profile: str) -> str:
    rates = _rates(condition, profile)
    return f"{median(rates):,.0f} ({min(rates):,.0f} to {max(rates):,.0f})"


def waits() -> str:
    """Return a table of what the kernel counted in a trial, and of the slowest reply."""
    counters = {
        "ListenOverflows": "connections that the full queue dropped",
        "TCPSynRetrans": "SYN sent again",
        "TCPTimeouts": "retransmission timers that ran out",
    }
    rows = []
    for condition in CONDITIONS:
        trials = [entry for profile in PUBLISHED for entry in _trials(condition, profile)]
        counts = (median(entry["counters"].get(name, 0) for entry in trials) for name in counters)
        slowest = [entry["slowest"] for entry in trials]
        rows.append(
            (
                condition,
                f"{len(trials)}",
                *(f"{count:,.0f}" for count in counts),
                f"{median(slowest):.1f} s ({min(slowest):.1f} to {max(slowest):.1f})",
            )
        )
    return _table(("condition", "trials", *counters.values(), "slowest reply"), rows)


def by_chance(condition: str) -> str:
    """
    Return how many of the ladders with one trial of each configuration are as long as published.

    Raises:
        UsageError: There is no such condition.
    """
    first, *_, last = _rungs(condition)
    wanted = PUBLISHED["cython"] / PUBLISHED["baseline"]
    long = sum(end >= wanted * start for start, end in itertools.product(first, last))
    return f"{long / (len(first) * len(last)):.1%}"


def rising(condition: str) -> str:
    """Return how many of these ladders rise at each step."""
    rungs = _rungs(condition)
    ladders = [(rate, 1) for rate in rungs[0]]
    for rung in rungs[1:]:
        # The last trial, and how many ladders rise up to it.
        ladders = [(rate, sum(n for below, n in ladders if below < rate)) for rate in rung]
    return f"{sum(n for _, n in ladders) / math.prod(map(len, rungs)):.1%}"


def _rungs(condition: str) -> list[list[float]]:
    if condition not in CONDITIONS:
        raise UsageError(f"{condition}: no condition; {', '.join(CONDITIONS)}")
    return [_rates(condition, profile) for profile in PUBLISHED]


def ratio(condition: str, changed: str, reference: str) -> str:
    """
    Return the ratio of requests/s of two configurations in the same round, with its interval.

    Raises:
        UsageError: One of them, or the condition, is not there.
    """
    if condition not in CONDITIONS or not {changed, reference} <= PUBLISHED.keys():
        raise UsageError(f"{condition}: {changed} / {reference}: not in published_ladder.json")
    by_round = {entry["round"]: math.log(entry["rate"]) for entry in _trials(condition, reference)}
    logs = [
        math.log(entry["rate"]) - by_round[entry["round"]]
        for entry in _trials(condition, changed)
        if entry["round"] in by_round
    ]
    estimate = paired(logs)
    return f"{estimate.value:.2f}x [{estimate.low:.2f}, {estimate.high:.2f}]"


def rounds() -> str:
    """Return how often each configuration was measured in each condition."""
    return f"{len(_rates(CONDITIONS[0], 'baseline'))}"


def _table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    first, *others = titles
    columns = (Column(first, number=False), *map(Column, others))
    return markdown.render_table(Table("", columns, tuple(tuple(map(Cell, row)) for row in rows)))
