"""
The ladder: what each step changed, as ratios on a logarithmic axis, one panel a metric.

Filled: against the profile that it is a step from. Hollow: against the baseline, all steps
together. A diamond: the two serve different applications, so settings are not all that differs.
The band is the floor, within which nothing is told from noise; on top the A/A arm, in
which nothing changed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.analysis.conclusion import Conclusion
from lab.analysis.summary import Summary
from lab.model.comparison import Comparison, Verdict
from lab.model.metric import METRICS
from lab.model.plan import Better
from lab.report.headline import ANOTHER
from lab.report.numbers import bounded, figure, levels
from lab.report.palette import LIGHT
from lab.report.plots.layout import MUTED, WIDTH, aside, key, note, panel, paper
from lab.report.svg import Picture
from lab.report.tables import step_name

ROW, ABOVE, BELOW = 0.27, 0.62, 0.55
"""Inches: a row, the head, and the axis."""
LABELS, LETTER, MARGINS, RIGHT = 1.95, 0.072, 0.35, 0.08
"""Inches: the names at the left at the least, and about what a letter of them takes; what the
panels leave free in all, and right of the numbers of blocks."""
PLOT = 0.57
"""Share of a panel that is drawn in; the rest holds its words."""
SIDES = {"at least ": "≥ ", "at most ": "≤ "}
"""What stands before a ratio that is a bound -> how a panel has room for it."""
SAME, OTHER = "o", "D"
"""Marks of two profiles that serve the same application, and of two that do not."""
HEAD = -1.0
"""Row of the panels' titles."""

COLOURS = {
    Verdict.FASTER: LIGHT["better"],
    Verdict.SLOWER: LIGHT["worse"],
    Verdict.SAME: LIGHT["same"],
    Verdict.UNDECIDED: LIGHT["undecided"],
    Verdict.INVALID: LIGHT["undecided"],
}
ABOVE_ONE = (1.1, 1.25, 1.5, 2, 3, 5, 10, 20)
BELOW_ONE = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)
"""Ratios that may be marked, beside 1; away from it."""


@dataclass(frozen=True, slots=True)
class _Row:
    label: str
    step: Mapping[str, Comparison]
    baseline: Mapping[str, Comparison]
    step_differs: bool = False
    """Whether the profile that it is a step from serves another application."""
    baseline_differs: bool = False


def draw(found: Conclusion) -> Picture | None:
    """Return the figure; None where nothing can be compared."""
    summary = found.summary
    shown, rows = found.panels, _rows(summary)
    if not shown:
        return None
    canvas = paper(ABOVE + ROW * len(rows) + BELOW)
    labels = max(LABELS, LETTER * max(len(row.label) for row in rows))
    width = (WIDTH - labels - MARGINS) / len(shown)
    for position, name in enumerate(shown):
        left = (labels + position * width) / WIDTH
        axes = panel(canvas, left, BELOW, width * PLOT / WIDTH, ROW * len(rows))
        _panel(axes, name, rows, summary.floors.get(name, 0.0))
        if position == 0:
            for place, row in enumerate(rows):
                colour = MUTED if place == 0 else LIGHT["ink"]
                aside(axes, row.label, (0, place), -8, ("axes fraction", "data"), color=colour)
    _numbers(axes, rows, shown, (WIDTH - RIGHT - left * WIDTH) / (width * PLOT))
    _key(canvas, labels, any(row.step_differs or row.baseline_differs for row in rows))
    return Picture("What each step changed", _describe(found, shown[0]), canvas)


def _rows(summary: Summary) -> list[_Row]:
    reference = summary.run.plan.reference
    rows = [_Row(f"{reference}, again (A/A)", summary.aa, {})]
    above = first = summary.run.plan.profiles[0].name
    for step in summary.steps:
        # A first step would be drawn twice.
        baseline = {} if step.before == first else step.baseline
        rows.append(
            _Row(
                step_name(step, above),
                step.step,
                baseline,
                step.other_than_before,
                step.other_than_baseline,
            )
        )
        above = step.profile
    return rows


def _both(row: _Row, name: str) -> tuple[Comparison | None, Comparison | None]:
    return row.step.get(name), row.baseline.get(name)


def _numbers(axes: Axes, rows: Sequence[_Row], shown: Sequence[str], right: float) -> None:
    """Write the numbers of blocks at *right* of the last panel, as a share of its width."""
    _beside(axes, right, HEAD, "n", ha="right")
    for place, row in enumerate(rows):
        _beside(axes, right, place, _blocks(row, shown), ha="right")


def _panel(axes: Axes, name: str, rows: Sequence[_Row], floor: float) -> None:
    metric = METRICS[name]
    low, high = _range(each for row in rows for each in _both(row, name) if each is not None)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.axvspan(1 / (1 + floor), 1 + floor, color=LIGHT["band"], linewidth=0, zorder=0)
    axes.axvline(1, color=MUTED, linewidth=0.8, zorder=1)
    _rule(axes, 0.5, color=LIGHT["line"], zorder=1)
    for place, row in enumerate(rows):
        if place > 1:
            _rule(axes, place - 0.5, color=LIGHT["panel"], zorder=0.5)
        step, baseline = _both(row, name)
        shapes = [
            OTHER if differs else SAME for differs in (row.baseline_differs, row.step_differs)
        ]
        _mark(axes, baseline, place + (0.2 if step is not None else 0), shapes[0], hollow=True)
        _mark(axes, step, place - (0.14 if baseline is not None else 0), shapes[1], hollow=False)
        words, colour = _words(step if step is not None else baseline, aa=place == 0)
        _beside(axes, 1.04, place, words, color=colour, fontsize=7.8)
    ticks = _ticks(low, high)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks([])
    axes.tick_params(length=3, width=0.8)
    axes.spines.left.set_visible(False)
    _beside(axes, 0, HEAD, metric.title, color=LIGHT["ink"], fontweight="bold")
    side = "right" if metric.better is Better.HIGHER else "left"
    axes.set_xlabel(f"ratio, log scale; better: {side}")


def _beside(axes: Axes, x: float, row: float, text: str, **style: Any) -> None:
    """Write *text* in a row; *x* is a share of the width that is drawn in."""
    note(axes, x, row, text, transform=axes.get_yaxis_transform(), **style)


def _rule(axes: Axes, row: float, **style: Any) -> None:
    """Draw a line below the words of a panel, too."""
    axes.axhline(row, linewidth=0.8, xmax=1 / PLOT, clip_on=False, **style)


def _mark(
    axes: Axes, comparison: Comparison | None, place: float, shape: str, *, hollow: bool
) -> None:
    if comparison is None or comparison.ratio is None:
        return
    found, order = comparison.ratio, 2 if hollow else 3
    line = {"color": COLOURS[comparison.verdict], "zorder": order}
    _line(axes, found.low, found.high, place, hollow=hollow, solid_capstyle="butt", **line)
    dot = {"markeredgewidth": 0.9, "linestyle": "none", "marker": shape, **line}
    _dot(axes, found.value, place, hollow=hollow, **dot)


def _line(axes: Axes, low: float, high: float, place: float, *, hollow: bool, **style: Any) -> None:
    axes.plot([low, high], [place, place], linewidth=0.8 if hollow else 1.6, **style)


def _dot(axes: Axes, x: float, place: float, *, hollow: bool, **style: Any) -> None:
    face = LIGHT["paper"] if hollow else style["color"]
    size = 3.6 if hollow else 5.2
    axes.plot([x], [place], **{"marker": SAME, **style}, markersize=size, markerfacecolor=face)


def _words(comparison: Comparison | None, *, aa: bool) -> tuple[str, str]:
    if comparison is None or comparison.ratio is None:
        return "no pair counts", LIGHT["undecided"]
    colour = LIGHT["muted"] if aa else COLOURS[comparison.verdict]
    small = comparison.verdict is Verdict.UNDECIDED and comparison.below is not None
    word = f"below {comparison.below:.0%}" if small else comparison.said
    word = "noise" if aa else word
    side = SIDES.get(comparison.bound, "")
    return f"{side}{figure(comparison.ratio.value)}x {word}", colour


def _blocks(row: _Row, shown: Iterable[str]) -> str:
    counts = {
        said.ratio.n
        for name in shown
        if (said := row.step.get(name) or row.baseline.get(name)) is not None and said.ratio
    }
    if not counts:
        return "-"
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low}-{high}"


def _range(comparisons: Iterable[Comparison]) -> tuple[float, float]:
    """Return an axis that holds every ratio, and all of its interval unless that is very wide."""
    found = [each.ratio for each in comparisons if each.ratio is not None]
    values = [each.value for each in found]
    low = max(min(each.low for each in found), min(values) / 2, 1e-3)
    high = min(max(each.high for each in found), max(values) * 2, 1e3)
    low, high = min(low, 0.9), max(high, 1.11)
    pad = (high / low) ** 0.04
    return low / pad, high * pad


def _ticks(low: float, high: float) -> list[float]:
    """Return 1 and ratios to both sides of it, far enough apart to be read."""
    apart = math.log(high / low) / 5.5
    found = [1.0]
    for side in (ABOVE_ONE, BELOW_ONE):
        last = 1.0
        for tick in side:
            if low <= tick <= high and abs(math.log(tick / last)) >= apart:
                found.append(tick)
                last = tick
    return sorted(found)


def _key(canvas: Figure, labels: float, others: bool) -> None:
    """Explain the marks in a line at the top, with the marks themselves."""
    axes = key(canvas, labels / WIDTH, 0.2, 0.8, 0.18)
    for place, text, hollow in (
        (0.0, "against the profile it is a step from", False),
        (29.0, "against the baseline", True),
    ):
        _line(axes, place, place + 3, 0, hollow=hollow, color=MUTED)
        _dot(axes, place + 1.5, 0, hollow=hollow, color=MUTED)
        note(axes, place + 4, 0, text)
    axes.fill_between([48.0, 51.0], [-0.8, -0.8], [0.8, 0.8], color=LIGHT["band"], linewidth=0)
    note(axes, 52, 0, "floor: smaller changes cannot be told from noise")
    if others:
        _dot(axes, 86.5, 0, hollow=False, color=MUTED, marker=OTHER)
        note(axes, 88, 0, ANOTHER)


def _describe(found: Conclusion, name: str) -> str:
    parts = []
    for step in found.summary.steps:
        said = step.step.get(name) or step.baseline.get(name)
        if said is not None and said.ratio:
            to, another = "", step.other_than_before
            if not step.step:
                to, another = f" (to {found.baseline})", step.other_than_baseline
            aside = f", {ANOTHER}" if another else ""
            parts.append(f"{step.profile}{to} {bounded(said)} {said.said}{aside}")
    return (
        "Ratio of each profile to the one it is a step from, with "
        f"{levels(found.levels)} intervals. "
        f"{METRICS[name].title}: {'; '.join(parts) or 'no step'}. The tables below hold all of it."
    )
