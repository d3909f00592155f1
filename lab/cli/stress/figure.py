"""
Effect on clients, over time: a strip for each profile under each fault.

The line is the slowest right reply of each slice, on a logarithmic scale; a gap in it is a slice
without one. Below it, a cross for each slice in which requests were lost or answered wrongly, and a
dot for one in which they were turned away. A burst is in the slice in which it ended.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.cli.stress.result import FaultOutcome as Outcome
from lab.cli.stress.result import StressResult as Result
from lab.cli.stress.text import banners, felt, unproved
from lab.report import svg as form
from lab.report.palette import LIGHT
from lab.report.plots import layout
from lab.report.svg import Picture

STRIP, GAP, NAME, BELOW = 0.34, 0.05, 0.27, 0.5
"""Inches: a strip's height, what is between two, a fault's name, and the axis."""
LABELS, WORDS, LETTER = 1.35, 1.5, 0.085
"""Inches: the profiles' names at the least, what was felt, and about what a letter takes."""

LOW, HIGH = 0.004, 80.0
"""Seconds on the vertical axis: from less than the waiting application takes to beyond the
timeout."""
LOST = 0.006
"""Seconds where the marks of lost requests lie: below any reply of 12 ms."""
TICKS = {0.01: "10 ms", 1.0: "1 s"}

MARKS: Mapping[str, Mapping[str, Any]] = {
    "planted": {"color": layout.MUTED, "linewidth": 0.8, "linestyle": (0, (3, 2))},
    "right": {"color": LIGHT["better"], "linewidth": 1.2, "marker": "o", "markersize": 1.6},
    "bad": {"color": LIGHT["worse"], "marker": "x", "markersize": 4.0, "markeredgewidth": 1.2},
    "away": {"color": layout.MUTED, "marker": "o", "markersize": 2.4, "markeredgewidth": 0},
}
"""How it is drawn: a fault's instant, the slowest replies, some lost or wrong, some turned away."""


def svg(result: Result) -> str:
    """Return the figure as a whole SVG file, light and dark."""
    return form.standalone("stress", draw(result))


@mpl.rc_context(form.STYLE)
def draw(result: Result) -> Picture:
    """Return the figure."""
    rows = _rows(result)
    entries, notes = _key(), banners(result)
    bottom = BELOW + layout.foot_height(notes)
    strips = sum(len(strips) for strips in rows.values())
    height = NAME * len(rows) + (STRIP + GAP) * strips
    canvas = layout.paper(layout.head_height(entries, columns=1) + height + bottom)
    names = [name for strips in rows.values() for name in strips]
    labels = max(LABELS, LETTER * max(map(len, names), default=0) + 0.5)
    across = (labels / layout.WIDTH, 1 - (labels + WORDS) / layout.WIDTH)
    end = max((_end(strip) for strips in rows.values() for strip in strips.values()), default=1.0)
    top = bottom + height
    axes = None
    for fault, outcomes in rows.items():
        top -= NAME
        _name(canvas, fault, result, top)
        for number, (name, outcome) in enumerate(outcomes.items()):
            top -= STRIP + GAP
            axes = layout.panel(canvas, across[0], top + GAP, across[1], STRIP)
            _strip(axes, outcome, end, named=number == 0)
            layout.aside(axes, name, (0, 0.5), -36, "axes fraction", color=LIGHT["ink"], fontsize=9)
    if axes is not None:
        axes.set_xticks(ticks := range(0, int(end) + 1, 4), list(map(str, ticks)))
        axes.set_xlabel("seconds")
    layout.head(canvas, "Effect of each fault on clients", entries, columns=1)
    layout.foot(canvas, notes)
    return Picture("Effect of each fault on clients", _describe(result, notes), canvas, notes)


def _rows(result: Result) -> dict[str, dict[str, Outcome]]:
    """Return by fault what each profile made of it, those left out for which it is not possible."""
    return {
        fault: {
            profile.name: outcome
            for profile in result.profiles
            if (outcome := result.outcome(profile.name, fault)) and outcome.series is not None
        }
        for fault in result.faults
        if any(result.outcome(profile.name, fault) for profile in result.profiles)
    }


def _name(canvas: Figure, fault: str, result: Result, bottom: float) -> None:
    """Write a fault's name, and for which profiles it has no strip."""
    high = canvas.get_figheight()
    missing: dict[str, list[str]] = {}
    for profile in result.profiles:
        outcome = result.outcome(profile.name, fault)
        if outcome is None or outcome.series is None:
            why = "not made" if outcome is None or outcome.possible else "not possible"
            missing.setdefault(why, []).append(profile.name)
    style: dict[str, Any] = {"va": "bottom", "fontsize": layout.SMALL}
    place = (layout.MARGIN / layout.WIDTH, (bottom + 0.05) / high)
    canvas.text(*place, fault, **style | {"fontweight": "bold", "fontsize": 10})
    text = "; ".join(f"{why}: {', '.join(names)}" for why, names in missing.items())
    canvas.text(
        1 - layout.MARGIN / layout.WIDTH, place[1], text, color=layout.MUTED, ha="right", **style
    )


def _strip(axes: Axes, outcome: Outcome, end: float, *, named: bool) -> None:
    axes.set_yscale("log")
    axes.set_ylim(LOW, HIGH)
    axes.set_xlim(0, end)
    axes.set_facecolor(LIGHT["panel"])
    axes.tick_params(length=0, pad=2)
    axes.spines[:].set_visible(False)
    axes.set_xticks([])
    axes.set_yticks(list(TICKS), list(TICKS.values()) if named else [""] * len(TICKS))
    axes.tick_params(axis="y", labelsize=layout.SMALL)
    axes.minorticks_off()
    for tick in TICKS:
        axes.axhline(tick, color=LIGHT["line"], linewidth=0.6, zorder=1)
    series, counts = outcome.series, outcome.counts
    assert series is not None  # else it has no strip
    for instant in outcome.planted:
        axes.axvline(instant, **MARKS["planted"], zorder=2)
    slowest = [math.nan if value is None else value for value in series.slowest]
    axes.plot(series.at, slowest, **MARKS["right"], zorder=3)
    bad = map(sum, zip(series.lost, series.wrong, strict=True))
    for numbers, kind in ((series.turned_away, "away"), (bad, "bad")):
        _marks(axes, [at for at, some in zip(series.at, numbers, strict=True) if some], kind)
    if counts is not None:
        words = "; ".join(filter(None, (unproved(outcome), felt(counts))))
        style = {"color": LIGHT["worse"]} if counts.lost or counts.wrong else {}
        layout.note(
            axes,
            1.03,
            0.5,
            words.replace(", ", "\n"),
            transform=axes.transAxes,
            fontsize=layout.SMALL,
            **style,
        )


def _marks(axes: Axes, places: Sequence[float], kind: str) -> None:
    axes.plot(places, [LOST] * len(places), linestyle="none", zorder=4, **MARKS[kind])


def _end(outcome: Outcome) -> float:
    return outcome.series.at[-1] if outcome.series is not None and outcome.series.at else 0.0


def _key() -> list[Artist]:
    """Explain the marks."""
    return [
        layout.mark("slowest correct reply per quarter of a second, log scale", **MARKS["right"]),
        layout.mark("some lost or wrong", linestyle="none", **MARKS["bad"]),
        layout.mark("turned away", linestyle="none", **MARKS["away"]),
        layout.mark("the fault", **MARKS["planted"]),
    ]


def _describe(result: Result, notes: Sequence[str]) -> str:
    parts = [
        f"{outcome.fault} on {profile.name}: {felt(outcome.counts)}"
        for profile in result.profiles
        for outcome in profile.outcomes
        if outcome.counts is not None
    ]
    what = (
        "The slowest right reply of each quarter of a second, on a logarithmic scale, and where "
        "requests were lost, for each fault and profile."
    )
    return " ".join((what, *notes, f"{'; '.join(parts)}."))
