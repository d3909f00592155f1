"""
What clients felt, over time: a row for each fault, a column for each profile.

The line is the slowest right reply of each slice, on a logarithmic scale; a gap in it is a slice
without one. Below it, a cross for each slice in which requests were lost or answered wrongly, and a
dot for one in which they were turned away. A burst is in the slice in which it ended.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.report import svg as form
from lab.report.palette import LIGHT
from lab.report.plots.layout import MUTED, WIDTH, aside, key, note, panel, paper
from lab.report.svg import Picture
from lab.stress.result import FaultOutcome as Outcome
from lab.stress.result import StressResult as Result
from lab.stress.show import felt

ROW, GAP = 0.92, 0.2
"""Inches: a panel's height, and what is between two."""
LABELS, RIGHT, ABOVE, BELOW = 1.55, 0.15, 0.62, 0.5
"""Inches around the panels."""

LOW, HIGH = 0.004, 80.0
"""Seconds on the vertical axis: from less than the waiting application takes to beyond the timeout,
so that the words have room."""
STRIP = 0.0062
"""Seconds where the marks of lost requests lie: below any reply of 12 ms."""
TICKS = {0.01: "10 ms", 0.1: "100 ms", 1.0: "1 s", 10.0: "10 s"}

MARKS: Mapping[str, Mapping[str, Any]] = {
    "planted": {"color": MUTED, "linewidth": 0.8, "linestyle": (0, (3, 2))},
    "right": {"color": LIGHT["better"], "linewidth": 1.2, "marker": "o", "markersize": 1.6},
    "bad": {"color": LIGHT["worse"], "marker": "x", "markersize": 4.5, "markeredgewidth": 1.4},
    "away": {"color": MUTED, "marker": "o", "markersize": 2.4, "markeredgewidth": 0},
}
"""How it is drawn: a fault's instant, the slowest replies, some lost or wrong, some turned away."""


def svg(result: Result) -> str:
    """Return the figure as a whole SVG file, light and dark."""
    return form.standalone("stress", draw(result))


@mpl.rc_context(form.STYLE)
def draw(result: Result) -> Picture:
    """Return the figure."""
    faults = [
        fault
        for fault in result.faults
        if any(result.outcome(profile.name, fault) for profile in result.profiles)
    ]
    rows, columns = len(faults), len(result.profiles)
    canvas = paper(ABOVE + rows * ROW + (rows - 1) * GAP + BELOW)
    width = (WIDTH - LABELS - RIGHT - (columns - 1) * GAP) / columns
    end = max((_end(o) for p in result.profiles for o in p.outcomes), default=1.0)
    for row, column in itertools.product(range(rows), range(columns)):
        left = LABELS + column * (width + GAP)
        bottom = BELOW + (rows - 1 - row) * (ROW + GAP)
        axes = panel(canvas, left / WIDTH, bottom, width / WIDTH, ROW)
        profile, fault = result.profiles[column], faults[row]
        _panel(axes, result.outcome(profile.name, fault), end)
        if row == 0:
            axes.set_title(profile.name, fontweight="bold", pad=4)
        if column == 0:
            axes.set_yticks(list(TICKS), list(TICKS.values()), fontsize=6.5)
            aside(axes, fault, (0, 0.5), -42, "axes fraction", color=LIGHT["ink"])
        else:
            axes.set_yticks(list(TICKS), [""] * len(TICKS))
        axes.set_xticks(range(0, int(end) + 1, 2 if end < 16 else 4))
        if row == rows - 1:
            axes.set_xlabel("seconds")
        else:
            axes.set_xticklabels([])
    _key(canvas)
    return Picture("What clients felt of each fault", _describe(result), canvas)


def _panel(axes: Axes, outcome: Outcome | None, end: float) -> None:
    axes.set_yscale("log")
    axes.set_ylim(LOW, HIGH)
    axes.set_xlim(0, end)
    axes.set_facecolor(LIGHT["panel"])
    axes.tick_params(length=0, labelsize=6.5)
    axes.spines[:].set_visible(False)
    for tick in TICKS:
        axes.axhline(tick, color=LIGHT["line"], linewidth=0.6, zorder=1)
    axes.minorticks_off()
    if outcome is None or outcome.series is None:
        why = "not made" if outcome is None or outcome.possible else "not possible"
        note(axes, 0.5, 0.5, why, transform=axes.transAxes, ha="center")
        return
    series, counts = outcome.series, outcome.counts
    for instant in outcome.planted:
        axes.axvline(instant, **MARKS["planted"], zorder=2)
    slowest = [math.nan if value is None else value for value in series.slowest]
    axes.plot(series.at, slowest, **MARKS["right"], zorder=3)
    bad = map(sum, zip(series.lost, series.wrong, strict=True))
    for numbers, kind in ((series.turned_away, "away"), (bad, "bad")):
        _marks(axes, [at for at, some in zip(series.at, numbers, strict=True) if some], STRIP, kind)
    if counts is not None:
        words = felt(counts) if outcome.effect else f"no effect; {felt(counts)}"
        style = {"color": LIGHT["worse"]} if counts.lost or counts.wrong else {}
        corner = {"transform": axes.transAxes, "ha": "right", "va": "top", "zorder": 5}
        note(axes, 0.99, 0.93, words, fontsize=7.5, **corner, **style)


def _marks(axes: Axes, places: Sequence[float], height: float, kind: str) -> None:
    axes.plot(places, [height] * len(places), linestyle="none", zorder=4, **MARKS[kind])


def _end(outcome: Outcome) -> float:
    return outcome.series.at[-1] if outcome.series is not None and outcome.series.at else 0.0


def _key(canvas: Figure) -> None:
    """Explain the marks in a line at the top, with the marks themselves."""
    axes = key(canvas, LABELS / WIDTH, 0.24, 0.88, 0.2)
    axes.plot([0, 2.5], [0, 0], **MARKS["right"])
    note(axes, 3.3, 0, "slowest right reply of each quarter of a second")
    for place, kind, text in ((36.0, "bad", "some lost or wrong"), (54.0, "away", "turned away")):
        _marks(axes, [place], 0.0, kind)
        note(axes, place + 1, 0, text)
    axes.plot([67, 67], [-0.9, 0.9], **MARKS["planted"])
    note(axes, 68, 0, "the fault is planted")


def _describe(result: Result) -> str:
    parts = [
        f"{outcome.fault} on {profile.name}: {felt(outcome.counts)}"
        for profile in result.profiles
        for outcome in profile.outcomes
        if outcome.counts is not None
    ]
    return (
        "The slowest right reply of each quarter of a second, on a logarithmic scale, and where "
        f"requests were lost, a panel for each fault and profile. {'; '.join(parts)}."
    )
