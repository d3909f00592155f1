"""
Every trial in the order in which they ran, as a ratio to its own profile's median.

So profiles of any speed share an axis, and a machine that drifts shows as a slope.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.analysis.metrics import derive
from lab.analysis.observations import Observation
from lab.analysis.summary import Summary
from lab.model import METRICS, Role, Trial
from lab.report.numbers import figure
from lab.report.palette import LIGHT
from lab.report.svg import Picture

WIDTH, PANEL, ABOVE, BELOW, GAP = 13.0, 1.75, 0.45, 0.45, 0.3
"""Inches."""
NAMED = 3
"""Trials farthest from their median that are named in each panel."""
FAR = math.log(1.1)
"""Nearer to the median than this, none is worth a name."""

MARKS = {
    "counts": ("o", True, "counts"),
    "doubt": ("o", False, "does not count, or with a remark"),
    "a/a": ("s", True, "A/A"),
    "counter": ("^", True, "counter-run"),
    "repeated": ("x", True, "disturbed and made again"),
}
"""Kind of a trial -> its marker, whether it is filled, and what the key says."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One trial as it is drawn and listed."""

    number: int
    """In run order, from 1."""
    trial: Trial
    metrics: dict[str, float]
    """As derived, whether they count or not."""
    observation: Observation | None
    """None for a trial that was made again."""

    @property
    def kind(self) -> str:
        """A key of MARKS."""
        if self.observation is None:
            return "repeated"
        if self.observation.findings:
            return "doubt"
        role = self.trial.slot.arm.role
        return {Role.AA: "a/a", Role.COUNTER: "counter"}.get(role, "counts")


def shown(summary: Summary) -> tuple[Shown, ...]:
    """Return every trial of the run, in run order."""
    run = summary.run
    judged = {id(item.trial): item for item in summary.observations}
    return tuple(
        Shown(
            number,
            trial,
            derive(trial),
            judged.get(id(trial)),
        )
        for number, trial in enumerate(run.trials, 1)
    )


def draw(summary: Summary) -> Picture | None:
    """Return the figure; None without a metric to show."""
    trials = shown(summary)
    wanted = ("cpu", "p99") if summary.run.plan.load.rate is not None else ("throughput", "cpu")
    names = [name for name in wanted if any(name in each.metrics for each in trials)]
    if not names:
        return None
    height = ABOVE + len(names) * PANEL + (len(names) - 1) * GAP + BELOW
    canvas = Figure(figsize=(WIDTH, height))
    for position, name in enumerate(names):
        bottom = BELOW + (len(names) - 1 - position) * (PANEL + GAP)
        axes = canvas.add_axes((0.06, bottom / height, 0.925, PANEL / height))
        _panel(axes, name, trials, last=position == len(names) - 1)
    kinds = {each.kind for each in trials}
    key = canvas.add_axes((0.06, 1 - 0.22 / height, 0.9, 0.2 / height))
    key.set_axis_off()
    for kind in (kind for kind in MARKS if kind in kinds):
        _plot(key, [math.nan], [math.nan], kind)
    key.legend(loc="center left", ncols=len(MARKS), frameon=False, fontsize=8, borderpad=0,
               borderaxespad=0, handletextpad=0.2)  # fmt: skip
    return Picture("Every trial, in run order", _describe(trials), canvas)


def _panel(axes: Axes, name: str, trials: Sequence[Shown], *, last: bool) -> None:
    centres = _centres(name, trials)
    points = [
        (each.number, each.metrics[name] / centre, each)
        for each in trials
        if each.metrics.get(name, 0) > 0 and (centre := centres.get(each.trial.slot.arm.name))
    ]
    axes.set_yscale("log")
    _blocks(axes, trials, named=last)
    axes.axhline(1, color=LIGHT["muted"], linewidth=0.8, zorder=1)
    for kind in MARKS:
        own = [(x, y) for x, y, each in points if each.kind == kind]
        if own:
            _plot(axes, [x for x, _ in own], [y for _, y in own], kind)
    reach = max((abs(math.log(y)) for _, y, _ in points), default=0.0)
    reach = max(reach * 1.15, math.log(1.12))
    axes.set_ylim(math.exp(-reach), math.exp(reach))
    axes.set_xlim(0, len(trials) + 1)
    steps = [
        step for step in (1.05, 1.1, 1.25, 1.5, 2, 3, 5, 10, 30, 100) if math.log(step) < reach
    ]
    ticks = [1.0, *(edge for step in steps[-2:] for edge in (step, 1 / step))]
    axes.set_yticks(ticks, [f"{tick:.3g}" for tick in ticks])
    axes.set_xticks([])
    axes.minorticks_off()
    axes.tick_params(length=2)
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)
    axes.set_title(f"{METRICS[name].title}, over the profile's median", loc="left", fontsize=8.5,
                   pad=3)  # fmt: skip
    _name(axes, [point for point in points if point[2].observation is not None], len(trials))


def _name(axes: Axes, points: Sequence[tuple[int, float, Shown]], width: int) -> None:
    """Write the profile beside the trials farthest from their median, not one over another."""
    named: list[int] = []
    for x, y, each in sorted(points, key=lambda point: -abs(math.log(point[1]))):
        apart = all(abs(x - other) > width / 10 for other in named)
        if len(named) < NAMED and apart and abs(math.log(y)) > FAR:
            named.append(x)
            side = "right" if x > 0.85 * width else "left"
            axes.annotate(each.trial.slot.arm.name, (x, y), (-5 if side == "right" else 5, 0),
                          textcoords="offset points", va="center", ha=side, fontsize=7.5,
                          color=LIGHT["muted"])  # fmt: skip


def _plot(axes: Axes, xs: Sequence[float], ys: Sequence[float], kind: str) -> None:
    marker, filled, title = MARKS[kind]
    colour = LIGHT["worse"] if kind in ("doubt", "repeated") else LIGHT["better"]
    if kind == "a/a":
        colour = LIGHT["same"]
    axes.plot(xs, ys, linestyle="none", marker=marker, markersize=3.6, color=colour,
              markerfacecolor=colour if filled else LIGHT["paper"], markeredgewidth=0.9,
              label=title, zorder=3)  # fmt: skip


def _centres(name: str, trials: Sequence[Shown]) -> dict[str, float]:
    """Return each profile's median over the trials that were not made again."""
    values: dict[str, list[float]] = {}
    for each in trials:
        if each.observation is not None and each.metrics.get(name, 0) > 0:
            values.setdefault(each.trial.slot.arm.name, []).append(each.metrics[name])
    return {profile: statistics.median(found) for profile, found in values.items()}


def _blocks(axes: Axes, trials: Sequence[Shown], *, named: bool) -> None:
    """Shade every other block, and number them under the lowest panel."""
    for block in sorted({each.trial.slot.block for each in trials}):
        numbers = [each.number for each in trials if each.trial.slot.block == block]
        first, last = min(numbers) - 0.5, max(numbers) + 0.5
        if block % 2 == 0:
            axes.axvspan(first, last, color=LIGHT["panel"], linewidth=0, zorder=0)
        if named:
            words = f"block {block + 1}" if block == 0 else str(block + 1)
            axes.text((first + last) / 2, -0.06, words, ha="center", va="top", fontsize=7.5,
                      transform=axes.get_xaxis_transform(), color=LIGHT["muted"])  # fmt: skip


def _describe(trials: Sequence[Shown]) -> str:
    counts = {kind: sum(each.kind == kind for each in trials) for kind in MARKS}
    parts = (f"{number} {MARKS[kind][2]}" for kind, number in counts.items() if number)
    spread = []
    for name in ("throughput", "cpu"):
        centres = _centres(name, trials)
        ratios = [
            each.metrics[name] / centres[each.trial.slot.arm.name]
            for each in trials
            if each.observation is not None and each.metrics.get(name, 0) > 0
        ]
        if ratios:
            low, high = figure(min(ratios)), figure(max(ratios))
            spread.append(f"{METRICS[name].title} from {low} to {high} times the median")
    return f"{len(trials)} trials: {', '.join(parts)}. {'; '.join(spread)}."
