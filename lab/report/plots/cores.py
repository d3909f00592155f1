"""Where the time went: what the machine's cores did in the windows, profile by profile."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from lab.analysis.conclusion import Conclusion
from lab.analysis.summary import Summary
from lab.model.measurement import Run, Trial
from lab.model.numbers import figure
from lab.model.wording import visible
from lab.report.caveats import caveats
from lab.report.palette import LIGHT, ON_DARK_PART
from lab.report.plots import layout
from lab.report.svg import Picture

PARTS = {
    "user": "server, own code",
    "system": "server, in the kernel",
    "generator": "load generator",
    "others": "other programs",
    "steal": "taken by the hypervisor",
    "kept": "kept free for the load",
    "idle": "idle, interrupts",
}
"""What a core can be busy with, in the order in which it is stacked."""
ROLES = {"kept": "band"}
"""Part -> role of its colour, where that has another name."""

HATCHES = {"others": "////", "steal": "xxxx", "kept": "...."}

ROW, LABELS, LETTER, RIGHT, BELOW = 0.27, 1.2, 0.083, 0.2, 0.5
"""Inches; of the names at the least, and about what a letter of them takes."""
WIDE = 0.07
"""Share of the axis from which on a part has room for its number."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Core-seconds per second of one profile, by part; a part not read is absent."""

    profile: str
    parts: Mapping[str, float]


def spent(summary: Summary) -> tuple[Spent, ...]:
    """Return the means over each profile's trials; means, because only they add up."""
    run, spents = summary.run, []
    for profile in run.plan.profiles:
        trials = [
            _parts(trial, _cores(run, trial))
            for trial in run.trials
            if trial.measures(profile.name)
        ]
        whole = [parts for parts in trials if parts]
        if whole:
            named = [name for name in PARTS if all(name in parts for parts in whole)]
            means = {name: statistics.fmean(parts[name] for parts in whole) for name in named}
            spents.append(Spent(profile.name, means))
    return tuple(spents)


def draw(conclusion: Conclusion) -> Picture | None:
    """Return the figure; None where no trial has its server's CPU."""
    rows, notes = spent(conclusion.summary), caveats(conclusion)
    if not rows:
        return None
    shown = {name for row in rows for name in row.parts}
    entries = [_entry(name) for name in PARTS if name in shown]
    bottom = BELOW + layout.foot_height(notes)
    canvas = layout.paper(layout.head_height(entries) + ROW * len(rows) + bottom)
    labels = max(LABELS, 0.12 + LETTER * max(len(row.profile) for row in rows))
    across = 1 - (labels + RIGHT) / layout.WIDTH
    axes = layout.panel(canvas, labels / layout.WIDTH, bottom, across, ROW * len(rows))
    whole = max(sum(row.parts.values()) for row in rows)
    for place, row in enumerate(rows):
        _stack(axes, place, row.parts, WIDE * whole)
    axes.set_xlim(0, whole)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), [visible(row.profile) for row in rows])
    axes.tick_params(axis="y", length=0, labelcolor=LIGHT["ink"])
    axes.set_xlabel("cores in use: mean over all trials")
    axes.spines.left.set_visible(False)
    layout.head(canvas, "Where the time went", entries)
    layout.foot(canvas, notes)
    return Picture("Where the time went", _describe(rows, notes), canvas, notes)


def _stack(axes: Axes, place: float, parts: Mapping[str, float], least: float) -> None:
    """Draw the bar of one profile, with the number of each part that is wider than *least*."""
    left = 0.0
    for name, width in parts.items():
        _bar(axes, place, width, name, left)
        # Hatching runs through the numbers of those parts: theirs are in the table.
        if width > least and name not in HATCHES:
            colour = LIGHT["paper" if name in ON_DARK_PART else "ink"]
            middle = left + width / 2
            layout.note(
                axes,
                middle,
                place,
                f"{width:.2f}",
                color=colour,
                ha="center",
                fontsize=layout.SMALL,
            )
        left += width


def _bar(axes: Axes, place: float, width: float, name: str, left: float) -> None:
    axes.barh(place, width, left=left, height=0.74, **_look(name))


def _entry(name: str) -> Patch:
    return Patch(label=PARTS[name], **_look(name))


def _look(name: str) -> dict[str, Any]:
    colours = {"facecolor": LIGHT[ROLES.get(name, name)], "edgecolor": LIGHT["paper"]}
    return {**colours, "hatch": HATCHES.get(name), "linewidth": 0.5}


def _parts(trial: Trial, cores: float | None) -> dict[str, float]:
    readings, elapsed = trial.readings, trial.readings.get("elapsed", 0.0)
    needed = ("server.cpu_user", "server.cpu_system")
    if not trial.windows or elapsed <= 0 or any(name not in readings for name in needed):
        return {}
    parts = {
        "user": readings["server.cpu_user"] / elapsed,
        "system": readings["server.cpu_system"] / elapsed,
        "generator": sum(window.cpu / window.wall for window in trial.windows if window.wall > 0),
    }
    if "machine.foreign_cpu" in readings:
        parts["others"] = max(0.0, readings["machine.foreign_cpu"])
    if "machine.steal" in readings and cores is not None:
        parts["steal"] = max(0.0, readings["machine.steal"]) * cores
    idle = readings.get("machine.idle")
    if idle is None and cores is not None:
        idle = cores - sum(parts.values())
    if trial.share < 1 and cores is not None:
        parts["kept"] = max(0.0, cores * (1 - trial.share) - parts["generator"])
    if idle is not None:
        parts["idle"] = max(0.0, idle)
    return parts


def _cores(run: Run, trial: Trial) -> float | None:
    """Return how many CPUs the trial could use: as read with it, else the machine's."""
    if "machine.cores" in trial.readings:
        return trial.readings["machine.cores"]
    cpu = run.environments.get(trial.environment, {}).get("cpu")
    count = cpu.get("cores") if isinstance(cpu, dict) else None
    return float(count) if isinstance(count, int) else None


def _describe(rows: Sequence[Spent], notes: Sequence[str]) -> str:
    texts = []
    for row in rows:
        parts = ", ".join(f"{PARTS[name]} {figure(value)}" for name, value in row.parts.items())
        texts.append(f"{row.profile}: {parts}")
    return " ".join(("Cores in use, by what used them.", *notes, f"{'; '.join(texts)}."))
