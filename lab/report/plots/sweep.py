"""
A sweep as one picture: what each profile did at each value, a panel a metric.

A mark is the median of the trials, the dots around it are the trials. A hollow circle does not
count: a gate withholds that metric in every trial there, and the report says which. A hollow
triangle is the least that it can be: the load was at its limit. A value at which the noise check
was not passed is grey.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes

from lab.analysis.sweep import SweepConclusion
from lab.analysis.sweep_values import SweepValue, order_of, reading
from lab.model.metric import METRICS
from lab.model.numbers import quantity
from lab.report.caveats import caveats_of_sweep
from lab.report.palette import LIGHT, MAX_LINES
from lab.report.plots import layout
from lab.report.svg import Picture

PANEL, BETWEEN, BELOW, LEFT, RIGHT = 1.7, 0.35, 0.5, 0.62, 0.15
"""Inches."""

LETTER = 0.085
"""Inches of a letter of a value."""

MARGIN = 0.04
"""Share of the axis that is left free at both ends; the same in every panel."""

WIDE = 8
"""Times the smallest value from which on the largest makes the axis logarithmic."""

MOST_LETTERS = 28
"""Of a profile's name, for two to stand beside each other."""

UNITS = {"size": "bytes (k: 1,024)"}
"""Unit of a quantity whose name does not say it."""

COUNTS: Mapping[str, Any] = {"marker": "o", "markersize": 5.0}
WITHHELD: Mapping[str, Any] = {**COUNTS, "markerfacecolor": LIGHT["paper"]}
LEAST: Mapping[str, Any] = {**WITHHELD, "marker": "^", "markersize": 6.5}
"""How a median is drawn: one that counts, one that does not, and the least that it can be."""


def draw(sweep: SweepConclusion) -> Picture | None:
    """Return the figure; None where nothing was measured."""
    every = {metric: _read(sweep, metric) for metric in sweep.measured}
    read = {metric: lines for metric, lines in every.items() if any(map(any, lines.values()))}
    if not read:
        return None
    entries, notes = _key(sweep, read), caveats_of_sweep(sweep)
    columns = 1 if max(map(len, _drawn(sweep))) > MOST_LETTERS else 2
    top, bottom = layout.head_height(entries, columns), BELOW + layout.foot_height(notes)
    canvas = layout.paper(top + bottom + PANEL * len(read) + BETWEEN * (len(read) - 1))
    for number, (metric, lines) in enumerate(reversed(read.items())):
        axes = layout.panel(
            canvas,
            LEFT / layout.WIDTH,
            bottom + number * (PANEL + BETWEEN),
            1 - (LEFT + RIGHT) / layout.WIDTH,
            PANEL,
        )
        _panel(axes, sweep, metric, lines)
        if number:
            axes.tick_params(axis="x", labelbottom=False)
        else:
            unit = UNITS.get(sweep.quantity)
            axes.set_xlabel(", ".join(filter(None, (sweep.quantity, unit))))
    layout.head(canvas, f"By {sweep.quantity}", entries, columns)
    layout.foot(canvas, notes)
    return Picture(
        f"What {sweep.quantity} changed",
        _describe(sweep, read, notes),
        canvas,
        notes,
    )


Lines = dict[str, list[SweepValue | None]]
"""Profile -> what was measured of it at each value."""


def _read(sweep: SweepConclusion, metric: str) -> Lines:
    return {
        name: [reading(summary, name, metric) for summary in sweep.summaries]
        for name in _drawn(sweep)
    }


def _panel(axes: Axes, sweep: SweepConclusion, metric: str, lines: Lines) -> None:
    values = sweep.values
    places = order_of(values) or [float(number) for number in range(len(values))]
    _scale(axes, places)
    counted = METRICS[metric].exact
    axes.set_yscale("symlog" if counted else "log")
    for number, line in enumerate(lines.values()):
        _line(axes, places, _drawable(line, metric), number)
    _shade(axes, places, [value in sweep.noisy for value in values])
    axes.set_xticks(places, _apart(axes, places, values))
    axes.minorticks_off()
    axes.set_title(", ".join(filter(None, (METRICS[metric].title, METRICS[metric].beside))), pad=4)
    axes.grid(color=LIGHT["line"], linewidth=0.6)
    axes.set_axisbelow(True)
    if counted:
        marks = [0, *(10**power for power in range(9) if 10**power <= axes.get_ylim()[1])]
        axes.set_yticks(marks, [f"{mark:,}" for mark in marks])
        axes.minorticks_off()
    else:
        axes.set_ylim(*_limits(*axes.get_ylim()))
        layout.decades(axes)


def _scale(axes: Axes, places: Sequence[float]) -> None:
    """Let the axis hold all values, with something free at both ends."""
    if min(places) > 0 and max(places) / min(places) >= WIDE:
        axes.set_xscale("log")
        beside = (max(places) / min(places)) ** MARGIN
        axes.set_xlim(min(places) / beside, max(places) * beside)
    else:
        beside = (max(places) - min(places)) * MARGIN
        axes.set_xlim(min(places) - beside, max(places) + beside)


def _shade(axes: Axes, places: Sequence[float], noisy: Sequence[bool]) -> None:
    """Draw a band at each noisy value, up to the middle between it and the next."""
    mean = statistics.geometric_mean if axes.get_xscale() == "log" else statistics.fmean
    first, last = axes.get_xlim()
    edges = [first, *map(mean, itertools.pairwise(places)), last]
    for (left, right), grey in zip(itertools.pairwise(edges), noisy, strict=True):
        if grey:
            axes.axvspan(left, right, color=LIGHT["band"], linewidth=0, zorder=0)


def _apart(axes: Axes, places: Sequence[float], values: Sequence[str]) -> list[str]:
    """Return the values, and nothing for those that would be written over another."""
    to_share = axes.transData + axes.transAxes.inverted()
    inches = axes.get_position().width * layout.WIDTH
    middles = [to_share.transform((place, 1))[0] * inches for place in places]
    sides = [LETTER * (1 + len(value)) / 2 for value in values]
    # The first and the last are always there.
    free, end = -math.inf, middles[-1] - sides[-1]
    labels = []
    for value, middle, side in zip(values[:-1], middles, sides, strict=False):
        fits = free <= middle - side and middle + side <= end
        labels.append(value if fits else "")
        free = middle + side if fits else free
    return [*labels, values[-1]]


def _drawable(line: Sequence[SweepValue | None], metric: str) -> list[SweepValue | None]:
    """Return *line* in the unit of its panel, without what a logarithmic axis cannot hold."""
    metric_, sweep_values = METRICS[metric], list[SweepValue | None]()
    for sweep_value in line:
        if sweep_value is None or not (metric_.exact or sweep_value.median > 0):
            sweep_values.append(None)
            continue
        trials = tuple(value * metric_.scale for value in sweep_value.trials)
        sweep_values.append(
            SweepValue(
                sweep_value.median * metric_.scale, trials, sweep_value.counts, sweep_value.least
            )
        )
    return sweep_values


def _line(
    axes: Axes, places: Sequence[float], line: Sequence[SweepValue | None], number: int
) -> None:
    """Draw one profile's line."""
    colour = LIGHT[f"series{number + 1}"]
    points = [
        (x, sweep_value)
        for x, sweep_value in zip(places, line, strict=True)
        if sweep_value is not None
    ]
    if not points:
        return
    medians = [(x, sweep_value.median) for x, sweep_value in points]
    axes.plot(
        *zip(*medians, strict=True), color=colour, linestyle=layout.STYLES[number], linewidth=1.4
    )
    dots = [(x, value) for x, sweep_value in points for value in sweep_value.trials]
    axes.plot(*zip(*dots, strict=True), ".", color=colour, markersize=3, alpha=0.35)
    for x, sweep_value in points:
        shape = LEAST if sweep_value.least else COUNTS if sweep_value.counts else WITHHELD
        axes.plot(x, sweep_value.median, color=colour, **shape)


def _key(sweep: SweepConclusion, read: dict[str, Lines]) -> list[Artist]:
    """Explain the lines and the marks that are there."""
    entries: list[Artist] = [
        layout.mark(
            name, color=LIGHT[f"series{number + 1}"], linestyle=layout.STYLES[number], linewidth=1.8
        )
        for number, name in enumerate(_drawn(sweep))
    ]
    shown = [e for lines in read.values() for line in lines.values() for e in line if e]
    dot: dict[str, Any] = {"color": layout.MUTED, "linestyle": "none"}
    if any(sweep_value.least for sweep_value in shown):
        entries.append(layout.mark("at least: load generator saturated", **dot, **LEAST))
    if not all(sweep_value.counts for sweep_value in shown):
        entries.append(layout.mark("invalid", **dot, **WITHHELD))
    entries.append(layout.mark("a trial; large: their median", **dot, marker=".", markersize=3))
    if sweep.noisy:
        entries.append(layout.area("noise check not passed", LIGHT["band"]))
    return entries


def _limits(low: float, high: float) -> tuple[float, float]:
    """
    Widen limits to 1, 2 or 5 of a decade, so that both ends of the axis have a number.

    >>> _limits(300, 480)
    (200.0, 500.0)
    """
    marks = layout.decade_marks(low, high)
    return max(m for m in marks if m <= low), min(m for m in marks if m >= high)


def _describe(sweep: SweepConclusion, read: dict[str, Lines], notes: Sequence[str]) -> str:
    """Say the first, the middle and the last of each line."""
    texts = [
        f"By {sweep.quantity}, from {sweep.values[0]} to {sweep.values[-1]}.",
        *notes,
    ]
    for metric, lines in read.items():
        texts += _descriptions(metric, lines)
    return " ".join(texts)


def _descriptions(metric: str, lines: Lines) -> Iterator[str]:
    for name, line in lines.items():
        counts = [
            sweep_value for sweep_value in line if sweep_value is not None and sweep_value.counts
        ]
        if counts:
            least = "at least " if any(count.least for count in counts) else ""
            first, last = (quantity(metric, counts[end].median) for end in (0, -1))
            middle = quantity(metric, statistics.median(count.median for count in counts))
            title = METRICS[metric].title
            yield f"{name}, {title}: {least}{first} to {last}, median {middle}."


def _drawn(sweep: SweepConclusion) -> tuple[str, ...]:
    return sweep.profiles[:MAX_LINES]
