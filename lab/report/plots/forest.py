"""
The ladder: what each step changed by one metric, as ratios on a logarithmic axis.

Filled: against the profile that it is a step from. Hollow: against the baseline, all steps
together. A diamond: the two serve different applications, so settings are not all that differs. An
open triangle: the load was at its limit, so the ratio is a bound, and the true one lies where it
points. The band is the floor, within which nothing is told from noise; on top the reference against
itself, in which nothing changed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes

from lab.analysis.conclusion import Conclusion
from lab.analysis.summary import StepComparison, Summary
from lab.model.comparison import Comparison, MayBe, Verdict
from lab.model.metric import METRICS
from lab.model.numbers import bounded, figure, levels, share
from lab.model.plan import Better
from lab.report.caveats import caveats
from lab.report.columns import panels
from lab.report.headline import ANOTHER
from lab.report.palette import LIGHT
from lab.report.plots import layout
from lab.report.svg import Picture

ROW, BELOW = 0.34, 0.5
"""Inches: a row, and the axis."""
LABELS, LETTER, SMALL_LETTER, RIGHT = 1.2, 0.083, 0.068, 1.6
"""Inches: the names at the left at the least, about what a letter of them takes, and one of the
smaller words below; what the words at the right take."""
SAME, OTHER = "o", "D"
"""Marks of two profiles that serve the same application, and of two that do not."""
BOUNDS = {MayBe.LARGER: ">", MayBe.SMALLER: "<", MayBe.EITHER: "d"}
"""Marks of ratios that the load's limit bounds."""

COLOURS = {
    Verdict.BETTER: LIGHT["better"],
    Verdict.WORSE: LIGHT["worse"],
    Verdict.NO_DIFFERENCE: LIGHT["same"],
    Verdict.INCONCLUSIVE: LIGHT["inconclusive"],
    Verdict.INVALID: LIGHT["inconclusive"],
}
ABOVE_ONE = (1.1, 1.25, 1.5, 2, 3, 5, 10, 20)
BELOW_ONE = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)
"""Ratios that may be marked, beside 1; away from it."""


@dataclass(frozen=True, slots=True)
class _Row:
    label: str
    below: str
    """Small words below the label."""
    step: Comparison | None
    baseline: Comparison | None
    step_differs: bool = False
    """Whether the profile that it is a step from serves another application."""
    baseline_differs: bool = False
    noise: float | None = None
    """Of the reference against itself."""


def draw(conclusion: Conclusion) -> Picture | None:
    """Return the figure of the metric that judges the run; None where nothing can be compared."""
    names = panels(conclusion.summary)
    if not names:
        return None
    return draw_metric(conclusion, conclusion.metric if conclusion.metric in names else names[0])


def draw_metric(conclusion: Conclusion, name: str) -> Picture:
    """Return the figure of one of the run's panels."""
    rows, notes = _rows(conclusion.summary, name), caveats(conclusion)
    entries = _key(rows, conclusion, name)
    top, bottom = layout.head_height(entries), BELOW + layout.foot_height(notes)
    canvas = layout.paper(top + ROW * len(rows) + bottom)
    wide = max(max(LETTER * len(r.label), SMALL_LETTER * len(r.below)) for r in rows)
    labels = max(LABELS, wide + 0.12)
    across = 1 - (labels + RIGHT) / layout.WIDTH
    axes = layout.panel(canvas, labels / layout.WIDTH, bottom, across, ROW * len(rows))
    _panel(axes, name, rows, conclusion.summary.floors.get(name, 0.0))
    title = f"{METRICS[name].title}: what each step changed"
    layout.head(canvas, title, entries)
    layout.foot(canvas, notes)
    return Picture("What each step changed", _describe(conclusion, name, notes), canvas, notes)


def _draw_ratio(
    axes: Axes, comparison: Comparison | None, place: float, shape: str, *, filled: bool = False
) -> None:
    """Draw a ratio and its interval; a bound hollow, with dots to where the true one may lie."""
    if comparison is None or comparison.ratio is None:
        return
    estimate, may_be = comparison.ratio, comparison.may_be
    style: dict[str, Any] = {"color": COLOURS[comparison.verdict], "zorder": 2 + filled}
    width = 1.6 if filled else 0.8
    span = [estimate.low, estimate.high]
    axes.plot(span, [place] * 2, linewidth=width, solid_capstyle="butt", **style)
    for side, end in zip((MayBe.SMALLER, MayBe.LARGER), axes.get_xlim(), strict=True):
        if may_be in (side, MayBe.EITHER):
            axes.plot([estimate.value, end], [place] * 2, linewidth=0.9, linestyle=":", **style)
    dot = _dot(shape if may_be is None else BOUNDS[may_be], filled=filled and may_be is None)
    axes.plot([estimate.value], [place], **dot, **style)


def _rows(summary: Summary, name: str) -> list[_Row]:
    twice, noise = f"{summary.run.plan.reference}, twice", summary.noise.get(name)
    rows = [_Row(twice, "", summary.aa.get(name), None, noise=noise)]
    above = first = summary.run.plan.profiles[0].name
    for step in summary.steps:
        # A first step would be drawn twice.
        baseline = None if step.before == first else step.baseline.get(name)
        rows.append(
            _Row(
                label=step.profile,
                below=_below(step, above),
                step=step.step.get(name),
                baseline=baseline,
                step_differs=step.other_than_before,
                baseline_differs=step.other_than_baseline,
            )
        )
        above = step.profile
    return rows


def _below(step: StepComparison, above: str) -> str:
    """Say what the row is against, where that is not the row above, and what else differs."""
    if step.before is None:
        return "not a step"
    words = [] if step.before == above else [f"against {step.before}"]
    return ", ".join([*words, *([ANOTHER] if step.other_than_before else [])])


def _panel(axes: Axes, name: str, rows: Sequence[_Row], floor: float) -> None:
    low, high = _range(
        comparison for row in rows for comparison in (row.step, row.baseline) if comparison
    )
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.axvspan(1 / (1 + floor), 1 + floor, color=LIGHT["band"], linewidth=0, zorder=0)
    axes.axvline(1, color=layout.MUTED, linewidth=0.8, zorder=1)
    for place, row in enumerate(rows):
        _row(axes, row, place)
    ticks = _ticks(low, high)
    axes.set_xticks(ticks, [f"{tick:g}x" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks([])
    axes.tick_params(length=3, width=0.8)
    axes.spines.left.set_visible(False)
    side = "right" if METRICS[name].better is Better.HIGHER else "left"
    axes.set_xlabel(f"ratio, log scale; better: {side}")


def _row(axes: Axes, row: _Row, place: int) -> None:
    if place:
        style: dict[str, Any] = {"color": LIGHT["line" if place == 1 else "panel"]}
        axes.axhline(place - 0.5, linewidth=0.8, zorder=0.5, **style)
    up = 0.17 if row.below else 0.0
    at = ("axes fraction", "data")
    layout.aside(
        axes, row.label, (0, place - up), -8, at, color=LIGHT["ink"] if place else layout.MUTED
    )
    if row.below:
        layout.aside(axes, row.below, (0, place + 0.25), -8, at, fontsize=layout.SMALL)
    both = row.step is not None and row.baseline is not None
    _draw_ratio(axes, row.baseline, place + 0.2 * both, OTHER if row.baseline_differs else SAME)
    shape = OTHER if row.step_differs else SAME
    _draw_ratio(axes, row.step, place - 0.14 * both, shape, filled=True)
    words, colour = _words(row.step or row.baseline, row.noise)
    beside = {"transform": axes.get_yaxis_transform(), "color": colour, "fontsize": 9}
    layout.note(axes, 1.04, place, words, **beside)


def _dot(shape: str, *, filled: bool) -> dict[str, Any]:
    """Return how a mark is drawn, but for its colour."""
    size = 5.6 if filled else 4.2
    style: dict[str, Any] = {"marker": shape, "markersize": size, "linestyle": "none"}
    return style if filled else style | {"markerfacecolor": LIGHT["paper"], "markeredgewidth": 1}


def _words(comparison: Comparison | None, noise: float | None) -> tuple[str, str]:
    if comparison is None or comparison.ratio is None:
        return "not counted", LIGHT["inconclusive"]
    ratio, colour = comparison.ratio, COLOURS[comparison.verdict]
    if noise is not None:
        return f"noise {share(noise)}", layout.MUTED
    differs = comparison.verdict.differs
    if differs or comparison.bound:
        verdict = f" {comparison.verdict}" if differs else ""
        return f"{comparison.bound}{figure(ratio.value)}x{verdict}", colour
    if comparison.below is not None:
        return f"< {comparison.below:.0%}", colour
    return comparison.gain_text or comparison.verdict_text, colour


def _range(comparisons: Iterable[Comparison]) -> tuple[float, float]:
    """Return an axis that holds every ratio, and all of its interval unless that is very wide."""
    estimates = [comparison.ratio for comparison in comparisons if comparison.ratio is not None]
    values = [estimate.value for estimate in estimates]
    low = max(min(estimate.low for estimate in estimates), min(values) / 2, 1e-3)
    high = min(max(estimate.high for estimate in estimates), max(values) * 2, 1e3)
    low, high = min(low, 0.9), max(high, 1.11)
    pad = (high / low) ** 0.06
    return low / pad, high * pad


def _ticks(low: float, high: float) -> list[float]:
    """Return 1 and ratios to both sides of it, far enough apart to be read."""
    apart = math.log(high / low) / 4.5
    ticks = [1.0]
    for side in (ABOVE_ONE, BELOW_ONE):
        last = 1.0
        for tick in side:
            if low <= tick <= high and abs(math.log(tick / last)) >= apart:
                ticks.append(tick)
                last = tick
    return sorted(ticks)


def _key(rows: Sequence[_Row], conclusion: Conclusion, name: str) -> list[Artist]:
    """Explain the marks that are there."""
    entries: list[Artist] = []
    shown = [
        comparison
        for row in rows
        for comparison in (row.step, row.baseline)
        if comparison and comparison.ratio
    ]
    if any(row.step and row.step.ratio for row in rows[1:]):
        dot = _dot(SAME, filled=True) | {"linestyle": "-", "linewidth": 1.6}
        entries.append(layout.mark("this step, with its interval", color=layout.MUTED, **dot))
    if any(row.baseline and row.baseline.ratio for row in rows):
        dot = _dot(SAME, filled=False) | {"linestyle": "-", "linewidth": 0.8}
        entries.append(
            layout.mark(f"all steps, against {conclusion.baseline}", color=layout.MUTED, **dot)
        )
    failed = "too noisy here: " if name in conclusion.noisy else ""
    entries.append(layout.area(f"{failed}within the noise", LIGHT["band"]))
    if any(row.step_differs or row.baseline_differs for row in rows):
        entries.append(layout.mark(ANOTHER, color=layout.MUTED, **_dot(OTHER, filled=True)))
    for side, words in (
        (MayBe.LARGER, "at least: load generator saturated"),
        (MayBe.SMALLER, "at most: load generator saturated"),
        (MayBe.EITHER, "both saturated the load generator"),
    ):
        if any(comparison.may_be is side for comparison in shown):
            entries.append(
                layout.mark(words, color=layout.MUTED, **_dot(BOUNDS[side], filled=False))
            )
    return entries


def _describe(conclusion: Conclusion, name: str, notes: Sequence[str]) -> str:
    parts = []
    for step in conclusion.summary.steps:
        comparison = step.step.get(name) or step.baseline.get(name)
        if comparison is not None and comparison.ratio:
            to, another = "", step.other_than_before
            if not step.step:
                to, another = f" (to {conclusion.baseline})", step.other_than_baseline
            beside = f", {ANOTHER}" if another else ""
            parts.append(
                f"{step.profile}{to} {bounded(comparison)} {comparison.verdict_text}{beside}"
            )
    what = (
        f"{METRICS[name].title} of each profile against the one that it is a step from, with "
        f"{levels(conclusion.levels)} intervals."
    )
    rest = f"{'; '.join(parts) or 'No step'}. The tables below hold all of it."
    return " ".join((what, *notes, rest))
