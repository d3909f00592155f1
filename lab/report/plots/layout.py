"""
What the figures share: paper as wide as a phone, a head with title and key, and muted words.

A figure is drawn narrow, so that its text is read where a page is 400 pixels wide; panels stand
below one another, and a page that has room shows it larger.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from lab.report.palette import LIGHT

WIDTH = 5.8
"""Inches, of every figure: at 400 pixels a letter of 10 points is 9 pixels high."""

MUTED = LIGHT["muted"]

SMALL = 8.5
"""Points: the smallest letters."""

MARGIN = 0.08
"""Inches, left of titles and keys."""

TITLE, LINE, GAP = 0.3, 0.2, 0.1
"""Inches of a head: its title, a line of its key, and what is free below."""

ACROSS = 88
"""Letters of a note that fit into a line."""

STYLES = ("-", (0, (6, 1.5)), (0, (2, 1)), (0, (6, 1.5, 1, 1.5)), (0, (10, 2)), (0, (1, 1.5)))
"""Dashes, so that a line is known without its colour."""


def paper(height: float) -> Figure:
    """Return an empty figure, *height* inches high."""
    return Figure(figsize=(WIDTH, height))


def panel(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Add a panel: *left* and *width* are shares of the figure's width, the others are inches."""
    high = figure.get_figheight()
    return figure.add_axes((left, bottom / high, width, height / high))


def mark(text: str, **style: Any) -> Line2D:
    """Return an entry of a key: a line or a mark, drawn as *style* says, and its meaning."""
    return Line2D([], [], **style, label=text)


def area(text: str, colour: str) -> Patch:
    """Return an entry of a key that explains an area."""
    return Patch(facecolor=colour, linewidth=0, label=text)


def head_height(entries: Sequence[Artist], columns: int = 2) -> float:
    """Return how many inches `head` takes."""
    return TITLE + LINE * math.ceil(len(entries) / columns) + GAP


def head(figure: Figure, title: str, entries: Sequence[Artist], columns: int = 2) -> None:
    """Write the title at the top, and below it what the marks and colours mean."""
    high, left = figure.get_figheight(), MARGIN / WIDTH
    style: dict[str, Any] = {"fontsize": 11, "fontweight": "bold", "va": "top"}
    figure.text(left, 1 - 0.07 / high, title, **style)
    figure.legend(
        handles=list(entries),
        loc="upper left",
        bbox_to_anchor=(left, 1 - TITLE / high),
        ncols=columns,
        borderaxespad=0,
        columnspacing=1.2,
        handlelength=2.2,
        labelspacing=0.35,
        labelcolor=MUTED,
    )


def foot_height(notes: Sequence[str]) -> float:
    """Return how many inches `foot` takes."""
    return LINE * len(_lines(notes)) + GAP if notes else 0.0


def foot(figure: Figure, notes: Sequence[str]) -> None:
    """Write what changes the reading at the bottom, in the colour of warnings."""
    high, left = figure.get_figheight(), MARGIN / WIDTH
    lines = _lines(notes)
    for number, line in enumerate(lines, 1):
        bottom = (GAP + LINE * (len(lines) - number)) / high
        figure.text(left, bottom, line, color=LIGHT["warning"], fontsize=SMALL, va="bottom")


def _lines(notes: Sequence[str]) -> list[str]:
    return [line for text in notes for line in textwrap.wrap(f"! {text}", ACROSS)]


def note(axes: Axes, x: float, y: float, text: str, **style: Any) -> None:
    """Write *text*, muted and centred on *y* unless *style* says otherwise."""
    axes.text(x, y, text, **{"va": "center", "color": MUTED, **style})


def aside(
    axes: Axes, text: str, at: tuple[float, float], offset: int, coords: Any = "data", **style: Any
) -> None:
    """Write *text* beside a place, *offset* points to its right; to its left where that is < 0."""
    style = {"va": "center", "ha": "left" if offset > 0 else "right", "color": MUTED, **style}
    axes.annotate(text, at, (offset, 0), coords, textcoords="offset points", **style)


def decade_marks(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 of each decade from below *low* to above *high*, in order."""
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    return [digit * 10.0**power for power in powers for digit in (1, 2, 5)]


def decades(axes: Axes) -> None:
    """Mark 1, 2 and 5 of each decade that the vertical axis holds; 1 alone of more than four."""
    low, high = axes.get_ylim()
    marks = [mark for mark in decade_marks(low, high) if low <= mark <= high]
    if high / low > 1e4:
        marks = [mark for mark in marks if math.log10(mark) % 1 == 0]
    axes.set_yticks(marks, [f"{mark:,g}" for mark in marks])
    axes.set_ylim(low, high)
