"""
A sweep as one picture: what each profile did at each value.

A mark is the median of the trials, the dots around it are the trials. A hollow mark does not count:
a gate withholds that metric in every trial there, and the report says which.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence

from matplotlib.axes import Axes

from lab.analysis.swept import order_of, reading
from lab.analysis.together import SweepConclusion
from lab.model.metric import METRICS
from lab.report.numbers import quantity
from lab.report.palette import LIGHT, MOST_LINES
from lab.report.plots.layout import (
    STYLES,
    WIDTH,
    End,
    decade_marks,
    decades,
    name_lines,
    panel,
    paper,
)
from lab.report.svg import Picture

PANEL, BETWEEN, BELOW, ABOVE, LEFT, RIGHT = 2.3, 0.35, 0.55, 0.15, 0.75, 1.9
"""Inches; on the right at least, and more for long names."""

LETTER = 0.065
"""Inches of a letter of a name, and what a name needs besides: three letters."""

MARGIN = 0.04
"""Share of the axis that is left free at both ends; the same in every panel."""

WIDE = 8
"""Times the smallest value from which on the largest makes the axis logarithmic."""


def draw(found: SweepConclusion) -> Picture | None:
    """Return the figure; None where nothing was measured."""
    metrics = [
        metric
        for metric in found.measured
        if any(reading(each, name, metric) for each in found.summaries for name in _drawn(found))
    ]
    if not metrics:
        return None
    height = ABOVE + BELOW + PANEL * len(metrics) + BETWEEN * (len(metrics) - 1)
    canvas = paper(height)
    right = max(RIGHT, LETTER * (3 + max(map(len, _drawn(found)))))
    wide = 1 - (LEFT + right) / WIDTH
    for number, metric in enumerate(reversed(metrics)):
        bottom = BELOW + number * (PANEL + BETWEEN)
        axes = panel(canvas, LEFT / WIDTH, bottom, wide, PANEL)
        _panel(axes, found, metric)
        if number:
            axes.tick_params(axis="x", labelbottom=False)
        else:
            axes.set_xlabel(found.quantity)
    return Picture(f"What {found.quantity} changed", _describe(found, metrics), canvas)


def _panel(axes: Axes, found: SweepConclusion, metric: str) -> None:
    values = found.values
    places = order_of(values) or [float(number) for number in range(len(values))]
    if min(places) > 0 and max(places) / min(places) >= WIDE:
        axes.set_xscale("log")
        beside = (max(places) / min(places)) ** MARGIN
        axes.set_xlim(min(places) / beside, max(places) * beside)
    else:
        beside = (max(places) - min(places)) * MARGIN
        axes.set_xlim(min(places) - beside, max(places) + beside)
    counted = METRICS[metric].exact
    axes.set_yscale("symlog" if counted else "log")
    ends = [
        end
        for number, name in enumerate(_drawn(found))
        if (end := _line(axes, found, (name, metric, number), places)) is not None
    ]
    axes.set_xticks(places, _apart(axes, places, values))
    axes.minorticks_off()
    unit = METRICS[metric].beside
    axes.set_ylabel(", ".join(filter(None, (METRICS[metric].title, unit))))
    axes.grid(color=LIGHT["line"], linewidth=0.6)
    axes.set_axisbelow(True)
    if not counted:
        axes.set_ylim(*_limits(*axes.get_ylim()))
        decades(axes)
    name_lines(axes, ends, apart=0.1)


def _apart(axes: Axes, places: Sequence[float], values: Sequence[str]) -> list[str]:
    """Return the values, and nothing for those that would be written over another."""
    to_share = axes.transData + axes.transAxes.inverted()
    inches = axes.get_position().width * WIDTH
    middles = [to_share.transform((place, 1))[0] * inches for place in places]
    sides = [LETTER * (1 + len(value)) / 2 for value in values]
    # The first and the last are always there.
    free, end = -math.inf, middles[-1] - sides[-1]
    told = []
    for value, middle, side in zip(values[:-1], middles, sides, strict=False):
        fits = free <= middle - side and middle + side <= end
        told.append(value if fits else "")
        free = middle + side if fits else free
    return [*told, values[-1]]


def _line(
    axes: Axes, found: SweepConclusion, which: tuple[str, str, int], places: Sequence[float]
) -> End | None:
    """Draw one profile's line; return its end, or None where there is nothing to draw."""
    name, metric, number = which
    scale = METRICS[metric].scale
    colour = LIGHT[f"series{number + 1}"]
    points = [
        (place, each)
        for place, summary in zip(places, found.summaries, strict=True)
        if (each := reading(summary, name, metric)) is not None
        and (METRICS[metric].exact or each.median > 0)
    ]
    if not points:
        return None
    line = [(place, each.median * scale) for place, each in points]
    axes.plot(*zip(*line, strict=True), color=colour, linestyle=STYLES[number], linewidth=1.4)
    dots = [(place, value * scale) for place, each in points for value in each.trials]
    axes.plot(*zip(*dots, strict=True), ".", color=colour, markersize=3, alpha=0.35)
    for (place, y), (_, each) in zip(line, points, strict=True):
        fill = colour if each.counts else LIGHT["paper"]
        axes.plot(place, y, "o", color=colour, markerfacecolor=fill, markersize=5)
    return line[-1], name, colour


def _limits(low: float, high: float) -> tuple[float, float]:
    """
    Widen limits to 1, 2 or 5 of a decade, so that both ends of the axis have a number.

    >>> _limits(300, 480)
    (200.0, 500.0)
    """
    marks = decade_marks(low, high)
    return max(m for m in marks if m <= low), min(m for m in marks if m >= high)


def _describe(found: SweepConclusion, metrics: Sequence[str]) -> str:
    """Say the first, the best and the last of each line."""
    texts = [f"By {found.quantity}, from {found.values[0]} to {found.values[-1]}."]
    for metric, name in itertools.product(metrics, _drawn(found)):
        read = [reading(summary, name, metric) for summary in found.summaries]
        medians = [each.median for each in read if each is not None and each.counts]
        if medians:
            ends = f"{quantity(metric, medians[0])} to {quantity(metric, medians[-1])}"
            middle = quantity(metric, statistics.median(medians))
            texts.append(f"{name}, {METRICS[metric].title}: {ends}, median {middle}.")
    return " ".join(texts)


def _drawn(found: SweepConclusion) -> tuple[str, ...]:
    return found.profiles[:MOST_LINES]
