"""
The picture of the result: how often each judge cries wolf, and how often it finds 10 % more.

A row a judge, a mark a mood, with the share's 95 % interval; both axes go from none to all.
"""

from __future__ import annotations

import math
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from lab.report import svg as form
from lab.report.palette import LIGHT
from lab.report.plots.layout import SMALL, WIDTH, head, head_height, mark, panel, paper
from lab.report.svg import Picture
from studies.judges.counted import Counted, JudgesResult

TITLE = "How often each check calls the new version slower"

PANELS = {"alike": "identical versions: false alarms", "10 % more": "10 % more: detected"}
"""What is planted -> the words above its panel."""

ROW, GAP, BELOW, LABELS = 0.42, 0.36, 0.5, 2.3
"""Inches: a judge, what is above a panel, the axis, and the judges' names."""

MOODS: dict[str, dict[str, Any]] = {
    "quiet": {"marker": "o", "color": LIGHT["series1"]},
    "drifting": {"marker": "^", "color": LIGHT["series2"]},
    "arriving": {"marker": "s", "color": LIGHT["series3"]},
    "bursts": {"marker": "D", "color": LIGHT["series4"]},
}
"""Marks and colours, each known without the other."""

SURE = 1.96
"""Standard deviations of a 95 % interval."""


def interval(red: int, of: int) -> tuple[float, float]:
    """
    Return the 95 % interval of a share, by Wilson's score (J. Am. Stat. Assoc. 22, 1927).

    >>> [round(end, 3) for end in interval(0, 20)]
    [0.0, 0.161]
    """
    share, weight = red / of, SURE**2 / of
    centre, half = share + weight / 2, SURE * math.sqrt((share * (1 - share) + weight / 4) / of)
    return max(0.0, (centre - half) / (1 + weight)), min(1.0, (centre + half) / (1 + weight))


@mpl.rc_context(form.STYLE)
def draw(result: JudgesResult, judges: tuple[str, ...]) -> Picture:
    """Return the picture of some of the judges, from the top down."""
    entries: list[Artist] = [
        mark(mood, linestyle="none", markersize=5, **style)
        for mood, style in MOODS.items()
        if mood in result.moods
    ]
    high = ROW * len(judges)
    top = head_height(entries, columns=4)
    canvas = paper(top + len(PANELS) * (GAP + high) + BELOW)
    bottom, across = BELOW, 1 - (LABELS + 0.15) / WIDTH
    for number, (planted, words) in enumerate(reversed(PANELS.items())):
        axes = panel(canvas, LABELS / WIDTH, bottom, across, high)
        _panel(axes, result, judges, planted)
        axes.set_title(words)
        axes.tick_params(axis="x", labelbottom=number == 0)
        bottom += high + GAP
    canvas.axes[0].set_xlabel("share of comparisons, with its 95 % interval")
    head(canvas, TITLE, entries, columns=4)
    return Picture(TITLE, _describe(result, judges), canvas)


def _panel(axes: Axes, result: JudgesResult, judges: tuple[str, ...], planted: str) -> None:
    for row, judge in enumerate(judges):
        if row % 2:
            axes.axhspan(row - 0.5, row + 0.5, color=LIGHT["panel"], linewidth=0, zorder=0)
        for number, (mood, style) in enumerate(MOODS.items()):
            counted = result.moods.get(mood, {}).get(judge, {}).get(planted)
            if counted is not None and counted.comparisons:
                _share(axes, counted, row + 0.2 * (number - 1.5), style)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(len(judges) - 0.5, -0.5)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "all"])
    axes.set_yticks(range(len(judges)), judges)
    axes.tick_params(axis="y", length=0, labelcolor=LIGHT["ink"], labelsize=SMALL)
    axes.spines.left.set_visible(False)
    axes.grid(axis="x", color=LIGHT["line"], linewidth=0.6)
    axes.set_axisbelow(True)


def _share(axes: Axes, counted: Counted, place: float, style: dict[str, Any]) -> None:
    ends = interval(counted.red, counted.comparisons)
    axes.plot(ends, [place] * 2, linewidth=0.9, color=style["color"], solid_capstyle="butt")
    share = counted.red / counted.comparisons
    axes.plot([share], [place], markersize=4, linestyle="none", **style)


def _describe(result: JudgesResult, judges: tuple[str, ...]) -> str:
    phrases = []
    for judge in judges:
        for planted in PANELS:
            counts = (
                f"{mood} {counted.red} of {counted.comparisons}"
                for mood in MOODS
                if (counted := result.moods.get(mood, {}).get(judge, {}).get(planted))
            )
            phrases.append(f"{judge}, {planted}: {', '.join(counts)}")
    return f"A mark a judge and mood, with its interval. {'; '.join(phrases)}."
