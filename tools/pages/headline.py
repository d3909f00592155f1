"""
The picture of the README: what a ladder's profiles serve, as multiples of its first one.

One metric, few rows, and text that is still read where GitHub shows it 838 pixels wide. Filled: the
stored run, with its interval, or a line without a dot where only the ends of a ratio are known.
Hollow: what the article has published of the same configuration.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import articles
from lab.analysis.summary import Summary
from lab.analysis.undecided import levels as levels_of
from lab.errors import ResultsError
from lab.model.comparison import Comparison
from lab.report.headline import ANOTHER
from lab.report.numbers import bounded, figure, levels
from lab.report.palette import LIGHT
from lab.report.plots.forest import COLOURS
from lab.report.plots.layout import MUTED, aside, key, note, panel
from lab.report.svg import STYLE, Picture
from tools.pages.files import RUNS

METRIC = "throughput"

ARTICLE = "microsecond"
"""Whose figures are the hollow marks."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "The article's five configurations": (
        "baseline",
        "processes-threads",
        "disable-logging",
        "max-worker-lifetime",
        "cython",
    ),
    "Further settings": ("http-socket", "safety"),
    f"The same settings, {ANOTHER}": ("tuned",),
}

NOTHING = (None, None)
"""Ends of a ratio of which nothing is known."""

WIDTH = 838
"""Points. As wide as GitHub shows a README, so a point is a pixel there."""
TEXT, SMALL = 13.0, 12.0
ROW, ABOVE, BELOW = 26.0, 46.0, 54.0
LABELS, WORDS = 190.0, 208.0
"""Points: the names at the left, the numbers at the right."""
MARGIN = 10.0
"""Points, left of the groups' titles."""
TICKS = (0.5, 0.7, 1, 2, 3, 4, 5)
INCH = 72.0


@mpl.rc_context({**STYLE, "font.size": TEXT})
def draw(summary: Summary) -> Picture:
    """
    Return the figure.

    Raises:
        ResultsError: The run has not all of its profiles.
    """
    found = _comparisons(summary)
    published = _published()
    rows = len(GROUPS) + sum(map(len, GROUPS.values()))
    canvas = Figure(figsize=(WIDTH / INCH, (ABOVE + rows * ROW + BELOW) / INCH))
    plot = (WIDTH - LABELS - WORDS) / WIDTH
    axes = panel(canvas, LABELS / WIDTH, BELOW / INCH, plot, rows * ROW / INCH)
    _scale(axes, [*found.values()], [*published.values()], rows)
    place = 0
    for group, names in GROUPS.items():
        if place:
            _rule(axes, place - 0.5)
        _write(axes, place, group, LABELS - MARGIN, color=MUTED, fontsize=SMALL)
        for name in names:
            place += 1
            _row(axes, place, name, found.get(name), published.get(name))
        place += 1
    measured = _measured(found, levels(levels_of(summary)))
    _key(canvas, measured, dot=all(each.between is None for each in found.values()))
    first = summary.run.plan.profiles[0].name
    return Picture(
        f"Requests/s of each profile against {first}", _describe(found, measured), canvas
    )


def _comparisons(summary: Summary) -> dict[str, Comparison]:
    """Return how each profile compares with the first one, which is left out."""
    here = {profile.name for profile in summary.run.plan.profiles}
    names = [name for group in GROUPS.values() for name in group]
    if missing := [name for name in names if name not in here]:
        raise ResultsError(RUNS / summary.run.name, f"has no profile {missing[0]}")
    return {name: summary.compare(METRIC, name, names[0]) for name in names[1:]}


def _published() -> dict[str, float]:
    """Return what the article has published of each profile, as a multiple of the first one."""
    figures: dict[str, float] = {}
    for claim in articles.load():
        if (claim.source, claim.metric) == (ARTICLE, METRIC) and claim.published is not None:
            figures[claim.reference], figures[claim.changed] = claim.published
    first = next(iter(GROUPS.values()))[0]
    return {name: value / figures[first] for name, value in figures.items() if name != first}


def _scale(axes: Axes, found: Iterable[Comparison], published: Iterable[float], rows: int) -> None:
    shown = [end for each in found for end in _ends(each) if end is not None]
    shown += [*published, 1.0]
    axes.set_xscale("log")
    axes.set_xlim(min(shown) / 1.12, max(shown) * 1.08)
    axes.set_ylim(rows - 0.5, -0.5)
    low, high = axes.get_xlim()
    ticks = [tick for tick in TICKS if low <= tick <= high]
    axes.set_xticks(ticks, [f"{tick:g}x" for tick in ticks], fontsize=SMALL)
    axes.minorticks_off()
    axes.set_yticks([])
    axes.tick_params(length=4, width=0.8)
    axes.spines.left.set_visible(False)
    first = next(iter(GROUPS.values()))[0]
    axes.set_xlabel(f"requests/s against {first}, log scale", fontsize=SMALL)
    axes.axvline(1, color=MUTED, linewidth=1, zorder=1)


def _row(
    axes: Axes, place: int, name: str, said: Comparison | None, published: float | None
) -> None:
    _write(axes, place, name, LABELS - MARGIN - 14)
    if published is not None:
        _dot(axes, published, place, LIGHT["ink"], hollow=True)
        aside(axes, f"{figure(published)}x", (published, place), -8, fontsize=SMALL)
    if said is None:
        words, colour = "1x", MUTED
        _dot(axes, 1.0, place, MUTED)
    elif _ends(said) == NOTHING:
        words, colour = "does not count", MUTED
    else:
        words, colour = bounded(said), COLOURS[said.verdict]
        edges = zip(_ends(said), axes.get_xlim(), strict=True)
        low, high = (edge if end is None else end for end, edge in edges)
        _line(axes, low, high, place, colour)
        if said.ratio is not None:
            _dot(axes, said.ratio.value, place, colour)
    _write(axes, place, words, None, color=colour)


def _ends(said: Comparison) -> tuple[float | None, float | None]:
    """Return what is known of the ends of a ratio, such as its interval; None for an open one."""
    known = said.ratio or said.between
    return NOTHING if known is None else (known.low, known.high)


def _measured(found: Mapping[str, Comparison], level: str) -> str:
    """Say what the marks of the run are."""
    if any(each.between for each in found.values()):
        return f"measured here, at least and at most ({level})"
    return f"measured here, with {level} interval"


def _write(axes: Axes, place: int, text: str, left: float | None, **style: Any) -> None:
    """Write *text* in a row: *left* points left of the plot, or at its right for None."""
    across = WIDTH - LABELS - WORDS
    x = 1 + 12 / across if left is None else -left / across
    style = {"color": LIGHT["ink"], "fontsize": TEXT, **style}
    note(axes, x, place, text, transform=axes.get_yaxis_transform(), **style)


def _line(axes: Axes, low: float, high: float, place: float, colour: str) -> None:
    axes.plot([low, high], [place, place], linewidth=2.4, color=colour, solid_capstyle="butt")


def _dot(axes: Axes, x: float, place: float, colour: str, *, hollow: bool = False) -> None:
    face = LIGHT["paper"] if hollow else colour
    axes.plot([x], [place], "o", color=colour, markersize=8, markerfacecolor=face, zorder=3)


def _rule(axes: Axes, place: float) -> None:
    """Draw a line from the groups' titles to the numbers' end."""
    across = WIDTH - LABELS - WORDS
    ends = ((MARGIN - LABELS) / across, 1 + (WORDS - MARGIN) / across)
    style: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "clip_on": False}
    axes.plot(ends, [place, place], color=LIGHT["line"], linewidth=1, zorder=0.5, **style)


def _key(canvas: Figure, measured: str, *, dot: bool) -> None:
    """Explain the marks in a line at the top, with the marks themselves."""
    axes = key(canvas, MARGIN / WIDTH, 30 / INCH, 1, 20 / INCH)
    _line(axes, 0, 3, 0, MUTED)
    if dot:
        _dot(axes, 1.5, 0, MUTED)
    note(axes, 4, 0, measured, fontsize=SMALL)
    _dot(axes, 50, 0, LIGHT["ink"], hollow=True)
    note(axes, 51.5, 0, "published in the article", fontsize=SMALL)


def _describe(found: Mapping[str, Comparison], measured: str) -> str:
    published = _published()
    parts = []
    for name, said in found.items():
        here = f"{bounded(said)} {said.verdict}" if _ends(said) != NOTHING else "does not count"
        there = f", published {figure(published[name])}x" if name in published else ""
        parts.append(f"{name} {here}{there}")
    return (
        f"{measured[:1].upper()}{measured[1:]}, and as the article has published it. "
        f"{'; '.join(parts)}."
    )
