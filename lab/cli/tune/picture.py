"""The picture of a tune: each change that raced, beside the champion that it raced against."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter, NullLocator

from lab.cli.tune.measure import Attempt
from lab.cli.tune.result import TuneResult
from lab.model.numbers import figure
from lab.report import svg as form
from lab.report.palette import LIGHT
from lab.report.plots.layout import SMALL, WIDTH, head, head_height, mark, panel, paper
from lab.report.svg import Picture

ROW, ABOVE, BELOW, LABELS = 0.19, 0.3, 0.45, 2.9
"""Inches: a change, what is above a race, the axis, and the names of the changes."""

LETTERS = 44
"""Of a change's name that its row has room for."""

TICKS = (0.1, 0.2, 0.5, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100)

TAKEN: dict[str, Any] = {"marker": "o", "color": LIGHT["better"]}
OTHER: dict[str, Any] = {"marker": "o", "color": LIGHT["inconclusive"], "markerfacecolor": "none"}
"""Marks of what is part of the result, and of what is not."""


@mpl.rc_context(form.STYLE)
def draw(tuned: TuneResult) -> Picture | None:
    """Return it, a panel a race; None where nothing was seen of any change."""
    attempts = [attempt for attempt in tuned.discovery.attempts if math.isfinite(attempt.gain.mean)]
    races = [(step, [*of]) for step, of in groupby(attempts, key=lambda attempt: attempt.step)]
    if not races:
        return None
    entries = [mark("in the result", linestyle="none", markersize=4, **TAKEN),
               mark("not in it", linestyle="none", markersize=4, **OTHER)]  # fmt: skip
    high = sum(ABOVE + ROW * len(of) for _, of in races)
    canvas = paper(head_height(entries) + high + BELOW)
    bottom, ends = BELOW, _ends(attempts)
    for step, of in reversed(races):
        axes = panel(canvas, LABELS / WIDTH, bottom, 1 - (LABELS + 0.15) / WIDTH, ROW * len(of))
        _race(axes, of, tuned, ends)
        axes.set_title(step.replace("-", " "))
        axes.tick_params(axis="x", labelbottom=bottom == BELOW)
        bottom += ROW * len(of) + ABOVE
    canvas.axes[0].set_xlabel("times the champion's, ± one standard error")
    title = f"Results of the search, by {tuned.title}; not the proof"
    head(canvas, title, entries)
    return Picture(title, _describe(attempts, tuned), canvas)


def _race(axes: Axes, of: Sequence[Attempt], tuned: TuneResult, ends: tuple[float, float]) -> None:
    axes.axvline(1, color=LIGHT["line"], linewidth=1)
    for row, attempt in enumerate(of):
        style = TAKEN if tuned.takes(attempt) else OTHER
        gain = attempt.gain
        low, high = (math.exp(gain.mean + side * gain.error) for side in (-1, 1))
        axes.plot([low, high], [row, row], linewidth=0.9, color=style["color"])
        axes.plot([gain.ratio], [row], markersize=4, linestyle="none", **style)
    axes.set_xscale("log")
    axes.set_xlim(*ends)
    shown = [tick for tick in TICKS if ends[0] <= tick <= ends[1]]
    if len(shown) > 6:
        shown = [tick for tick in shown if tick in {0.1, 0.5, 1, 2, 5, 10, 50}]
    axes.set_xticks(shown, [f"{tick:g}x" for tick in shown])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_ylim(len(of) - 0.5, -0.5)
    names = (textwrap.shorten(tuned.change(attempt), LETTERS, placeholder=" ...") for attempt in of)
    axes.set_yticks(range(len(of)), list(names))
    axes.tick_params(axis="y", length=0, labelcolor=LIGHT["ink"], labelsize=SMALL - 1)
    axes.spines.left.set_visible(False)
    axes.grid(axis="x", color=LIGHT["line"], linewidth=0.6)
    axes.set_axisbelow(True)


def _ends(attempts: Sequence[Attempt]) -> tuple[float, float]:
    """Return from where to where all panels reach, with 1 and some room."""
    low = min(attempt.gain.mean - attempt.gain.error for attempt in attempts)
    high = max(attempt.gain.mean + attempt.gain.error for attempt in attempts)
    room = max(0.02, 0.05 * (max(high, 0) - min(low, 0)))
    return math.exp(min(low, -0.05) - room), math.exp(max(high, 0.05) + room)


def _describe(attempts: Sequence[Attempt], tuned: TuneResult) -> str:
    descriptions = (
        f"{attempt.step}, {tuned.change(attempt)}: {figure(attempt.gain.ratio)}x"
        + (", in the result" if tuned.takes(attempt) else "")
        for attempt in attempts
    )
    return f"A mark a change, with its standard error. {'; '.join(descriptions)}."
