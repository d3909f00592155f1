"""
Every trial in the order in which they ran, as a ratio to its own profile's median.

So profiles of any speed share an axis, and a machine that drifts shows as a slope.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from lab.analysis.conclusion import Conclusion
from lab.analysis.metrics import derive
from lab.analysis.observations import Observation
from lab.analysis.summary import Summary
from lab.model.measurement import Trial
from lab.model.metric import METRICS
from lab.model.metric import shown as changes_of
from lab.model.numbers import figure
from lab.model.plan import Role
from lab.report.caveats import caveats
from lab.report.palette import LIGHT
from lab.report.plots import layout
from lab.report.svg import Picture

PANEL, ABOVE, BELOW, GAP = 1.35, 0.2, 0.3, 0.35
"""Inches."""
LEFT, ACROSS = 0.1, 0.88
"""Shares of the width: where panels begin, and how wide they are."""
NAMED = 3
"""Trials farthest from their median that are named in each panel."""
STEPS = (1.05, 1.1, 1.25, 1.5, 2, 3, 5, 10, 30, 100)
"""Ratios of which the two widest that fit are marked, up and down."""
FAR = math.log(1.1)
"""Nearer to the median than this, none is worth a name."""

MARKS = {
    "counts": ("o", "better", True, "counts"),
    "doubt": ("o", "worse", False, "invalid, or with a remark"),
    "a/a": ("s", "same", True, "the same server twice"),
    "counter": ("^", "better", True, "counter-run"),
    "repeated": ("x", "worse", True, "disturbed, repeated"),
}
"""Kind of a trial -> its marker and colour, whether it is filled, and what the key says."""


@dataclass(frozen=True, slots=True)
class DrawnTrial:
    """One trial as it is drawn and listed."""

    number: int
    """In run order, from 1."""
    trial: Trial
    metrics: dict[str, float]
    """As derived, whether they count or not."""
    observation: Observation | None
    """None for a trial that was repeated."""

    @property
    def kind(self) -> str:
        """A key of MARKS."""
        if self.observation is None:
            return "repeated"
        if self.observation.findings:
            return "doubt"
        role = self.trial.slot.arm.role
        return {Role.AA: "a/a", Role.COUNTER: "counter"}.get(role, "counts")


def shown(summary: Summary) -> tuple[DrawnTrial, ...]:
    """Return every trial of the run, in run order."""
    run = summary.run
    judged = {id(item.trial): item for item in summary.observations}
    return tuple(
        DrawnTrial(number, trial, derive(trial), judged.get(id(trial)))
        for number, trial in enumerate(run.trials, 1)
    )


def draw(conclusion: Conclusion) -> Picture | None:
    """Return the figure; None without a metric to show."""
    trials, notes = shown(conclusion.summary), caveats(conclusion)
    wanted = changes_of(conclusion.summary.run.plan.load)
    names = [name for name in wanted if any(name in trial.metrics for trial in trials)]
    if not names:
        return None
    entries = [
        layout.mark(MARKS[kind][-1], **_point(kind))
        for kind in MARKS
        if any(trial.kind == kind for trial in trials)
    ]
    below = BELOW + layout.foot_height(notes)
    height = ABOVE + len(names) * PANEL + (len(names) - 1) * GAP + below
    canvas = layout.paper(layout.head_height(entries) + height)
    for place, name in enumerate(names, 1):
        bottom = below + (len(names) - place) * (PANEL + GAP)
        axes = layout.panel(canvas, LEFT, bottom, ACROSS, PANEL)
        _panel(axes, name, trials, last=place == len(names))
    layout.head(canvas, "Every trial over its profile's median, in run order", entries)
    layout.foot(canvas, notes)
    return Picture("Every trial, in run order", _describe(trials, notes), canvas, notes)


def _panel(axes: Axes, name: str, trials: Sequence[DrawnTrial], *, last: bool) -> None:
    points = _ratios(name, trials)
    axes.set_yscale("log")
    _blocks(axes, trials, named=last)
    axes.axhline(1, color=layout.MUTED, linewidth=0.8, zorder=1)
    for kind in MARKS:
        if places := [
            (drawn_trial.number, ratio) for drawn_trial, ratio in points if drawn_trial.kind == kind
        ]:
            _plot(axes, places, kind)
    reach = max((abs(math.log(ratio)) for _, ratio in points), default=0.0)
    reach = max(reach * 1.15, math.log(1.12))
    axes.set_ylim(math.exp(-reach), math.exp(reach))
    axes.set_xlim(0, len(trials) + 1)
    steps = [step for step in STEPS if math.log(step) < reach]
    ticks = [1.0, *(edge for step in steps[-2:] for edge in (step, 1 / step))]
    axes.set_yticks(ticks, [f"{tick:.3g}" for tick in ticks])
    axes.set_xticks([])
    axes.minorticks_off()
    axes.tick_params(length=2)
    axes.spines.bottom.set_visible(False)
    axes.set_title(METRICS[name].title, pad=3)
    _name(axes, points, len(trials))


def _name(axes: Axes, points: Sequence[tuple[DrawnTrial, float]], width: int) -> None:
    """Write the profile beside the trials farthest from their median, not one over another."""
    named: list[int] = []
    for drawn_trial, ratio in sorted(points, key=lambda point: -abs(math.log(point[1]))):
        apart = all(abs(drawn_trial.number - other) > width / 10 for other in named)
        far = drawn_trial.observation is not None and abs(math.log(ratio)) > FAR
        if len(named) < NAMED and apart and far:
            named.append(drawn_trial.number)
            side = -5 if drawn_trial.number > 0.85 * width else 5
            layout.aside(
                axes,
                drawn_trial.trial.slot.arm.name,
                (drawn_trial.number, ratio),
                side,
                fontsize=layout.SMALL,
            )


def _plot(axes: Axes, places: Sequence[tuple[float, float]], kind: str) -> None:
    axes.plot(*zip(*places, strict=True), **_point(kind))


def _point(kind: str) -> dict[str, Any]:
    """Return how a trial is drawn."""
    marker, colour, filled, _ = MARKS[kind]
    face = LIGHT[colour if filled else "paper"]
    return {
        "marker": marker,
        "linestyle": "none",
        "color": LIGHT[colour],
        "markerfacecolor": face,
        "markersize": 3.6,
        "markeredgewidth": 0.9,
        "zorder": 3,
    }


def _ratios(name: str, trials: Sequence[DrawnTrial]) -> list[tuple[DrawnTrial, float]]:
    """Return those with the metric, over their arm's median of the trials not repeated."""
    values: dict[str, list[float]] = {}
    having = [(trial, trial.metrics[name]) for trial in trials if trial.metrics.get(name, 0) > 0]
    for drawn_trial, value in having:
        if drawn_trial.observation is not None:
            values.setdefault(drawn_trial.trial.slot.arm.name, []).append(value)
    centres = {arm: statistics.median(arm_values) for arm, arm_values in values.items()}
    placed = (
        (drawn_trial, value, centres.get(drawn_trial.trial.slot.arm.name))
        for drawn_trial, value in having
    )
    return [(drawn_trial, value / centre) for drawn_trial, value, centre in placed if centre]


def _blocks(axes: Axes, trials: Sequence[DrawnTrial], *, named: bool) -> None:
    """Shade every other block, and number them under the lowest panel."""
    for block in sorted({trial.trial.slot.block for trial in trials}):
        numbers = [trial.number for trial in trials if trial.trial.slot.block == block]
        first, last = min(numbers) - 0.5, max(numbers) + 0.5
        if block % 2 == 0:
            axes.axvspan(first, last, color=LIGHT["panel"], linewidth=0, zorder=0)
        if named and (last - first) * 40 > len(trials):  # room for a number
            words = f"block {block + 1}" if block == 0 else str(block + 1)
            below = {"va": "top", "transform": axes.get_xaxis_transform()}
            layout.note(
                axes, (first + last) / 2, -0.06, words, ha="center", fontsize=layout.SMALL, **below
            )


def _describe(trials: Sequence[DrawnTrial], notes: Sequence[str]) -> str:
    counts = {kind: sum(trial.kind == kind for trial in trials) for kind in MARKS}
    parts = (f"{number} {MARKS[kind][-1]}" for kind, number in counts.items() if number)
    spread = []
    for name in ("throughput", "cpu"):
        judged = (point for point in _ratios(name, trials) if point[0].observation is not None)
        ratios = [ratio for _, ratio in judged]
        if ratios:
            low, high = figure(min(ratios)), figure(max(ratios))
            spread.append(f"{METRICS[name].title} from {low} to {high} times the median")
    return " ".join((f"{len(trials)} trials: {', '.join(parts)}.", *notes, f"{'; '.join(spread)}."))
