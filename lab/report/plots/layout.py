"""What the figures share: their paper and panels, a line for the key, and muted words."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.report.palette import LIGHT

WIDTH = 13.0
"""Inches, of every figure."""

MUTED = LIGHT["muted"]


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
