"""Where the time went: what the machine's cores did in the windows, profile by profile."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from matplotlib.figure import Figure

from lab.analysis.summary import Summary
from lab.model import Run, Trial
from lab.report.numbers import figure
from lab.report.palette import LIGHT, ON_DARK_PART
from lab.report.svg import Picture

PARTS = {
    "user": "server, own code",
    "system": "server, in the kernel",
    "generator": "load generator",
    "others": "other programs",
    "steal": "taken by the hypervisor",
    "idle": "idle, interrupts",
}
"""What a core can be busy with, in the order in which it is stacked."""
HATCHES = {"others": "////", "steal": "xxxx"}

WIDTH, ROW, LABELS, ABOVE, BELOW = 13.0, 0.27, 1.95, 0.3, 0.5
"""Inches."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Core-seconds a second of one profile, by part; a part not read is absent."""

    profile: str
    parts: Mapping[str, float]


def spent(summary: Summary) -> tuple[Spent, ...]:
    """Return the means over each profile's trials; means, because only they add up."""
    run, found = summary.run, []
    for profile in run.plan.profiles:
        trials = [
            _parts(trial, _cores(run, trial)) for trial in run.trials if trial.is_own(profile.name)
        ]
        whole = [parts for parts in trials if parts]
        if whole:
            named = [name for name in PARTS if all(name in parts for parts in whole)]
            means = {name: statistics.fmean(parts[name] for parts in whole) for name in named}
            found.append(Spent(profile.name, means))
    return tuple(found)


def draw(summary: Summary) -> Picture | None:
    """Return the figure; None where no trial has its server's CPU."""
    rows = spent(summary)
    if not rows:
        return None
    height = ABOVE + ROW * len(rows) + BELOW
    canvas = Figure(figsize=(WIDTH, height))
    axes = canvas.add_axes(
        (LABELS / WIDTH, BELOW / height, 1 - (LABELS + 0.2) / WIDTH, ROW * len(rows) / height)
    )
    whole = max(sum(row.parts.values()) for row in rows)
    for place, row in enumerate(rows):
        left = 0.0
        for name, width in row.parts.items():
            axes.barh(
                place, width, left=left, height=0.74, color=LIGHT[name], linewidth=0.5,
                edgecolor=LIGHT["paper"], hatch=HATCHES.get(name),
            )  # fmt: skip
            if width > 0.035 * whole:
                colour = LIGHT["paper" if name in ON_DARK_PART else "ink"]
                # Hatching runs through the numbers of these two: theirs are in the table.
                if name not in HATCHES:
                    axes.text(left + width / 2, place, f"{width:.2f}", ha="center", va="center",
                              fontsize=7.5, color=colour)  # fmt: skip
            left += width
    axes.set_xlim(0, whole)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), [row.profile for row in rows])
    axes.tick_params(axis="y", length=0, labelcolor=LIGHT["ink"])
    axes.set_xlabel("cores: seconds of CPU in each second of the window, mean over all trials",
                    fontsize=7.5, loc="left")  # fmt: skip
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    shown = {name for row in rows for name in row.parts}
    keys = [
        axes.barh(
            [0],
            [0],
            color=LIGHT[name],
            hatch=HATCHES.get(name),
            edgecolor=LIGHT["paper"],
            linewidth=0.5,
            label=title,
        )
        for name, title in PARTS.items()
        if name in shown
    ]
    canvas.legend(
        handles=keys, loc="upper left", ncols=len(keys), frameon=False, fontsize=8,
        bbox_to_anchor=(LABELS / WIDTH, 1.0), borderaxespad=0.3, columnspacing=1.6,
        handlelength=1.4, borderpad=0,
    )  # fmt: skip
    return Picture("Where the time went", _describe(rows), canvas)


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


def _describe(rows: tuple[Spent, ...]) -> str:
    texts = []
    for row in rows:
        parts = ", ".join(f"{PARTS[name]} {figure(value)}" for name, value in row.parts.items())
        texts.append(f"{row.profile}: {parts}")
    return "Cores in use, by what used them. " + "; ".join(texts) + "."
