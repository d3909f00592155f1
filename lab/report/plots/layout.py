"""What the figures share: their paper and panels, a line for the key, and muted words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.report.palette import LIGHT

WIDTH = 13.0
"""Inches, of every figure."""

MUTED = LIGHT["muted"]

STYLES = ("-", (0, (6, 1.5)), (0, (2, 1)), (0, (6, 1.5, 1, 1.5)), (0, (10, 2)), (0, (1, 1.5)))
"""Dashes, so that a line is known without its colour."""

APART = 0.055
"""Least distance between two lines' names, as a share of the axis' height."""

End = tuple[tuple[float, float], str, str]
"""Where a line ends, its name, and its colour."""


def paper(height: float) -> Figure:
    """Return an empty figure, *height* inches high."""
    return Figure(figsize=(WIDTH, height))


def panel(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Add a panel: *left* and *width* are shares of the figure's width, the others are inches."""
    high = figure.get_figheight()
    return figure.add_axes((left, bottom / high, width, height / high))


def key(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """
    Add a line that explains the marks, without an axis: 100 units wide, from -1 to 1 high.

    It is placed as a panel is, but its lower edge lies *top* inches below the figure's upper edge.
    """
    high = figure.get_figheight()
    axes = figure.add_axes((left, 1 - top / high, width, height / high))
    axes.set_axis_off()
    axes.set_xlim(0, 100)
    axes.set_ylim(-1, 1)
    return axes


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
    """Mark 1, 2 and 5 of each decade that the vertical axis holds."""
    low, high = axes.get_ylim()
    marks = [mark for mark in decade_marks(low, high) if low <= mark <= high]
    axes.set_yticks(marks, [f"{mark:,g}" for mark in marks])
    axes.set_ylim(low, high)


def name_lines(axes: Axes, ends: Sequence[End], apart: float = APART) -> None:
    """Write each line's name beside its end, moved *apart* where they would overlap."""
    ends = sorted(ends, key=lambda end: end[0][1])
    below, heights = -1.0, []
    for place, _, _ in ends:
        _, height = axes.transAxes.inverted().transform(axes.transData.transform(place))
        below = max(height, below + apart)
        heights.append(below)
    above = 1.0 + apart
    for number, height in reversed(list(enumerate(heights))):
        heights[number] = above = min(height, above - apart)
    arrow = {"arrowstyle": "-", "color": LIGHT["line"], "linewidth": 0.8}
    style: dict[str, Any] = {"va": "center", "arrowprops": arrow, "annotation_clip": False}
    for (place, name, colour), height in zip(ends, heights, strict=True):
        beside = (1.015, height)
        axes.annotate(name, place, beside, textcoords="axes fraction", color=colour, **style)
