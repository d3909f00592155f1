"""
Latency over the whole distribution, the last replies as wide as the first.

The horizontal axis is 1 / (1 - q) on a logarithmic scale, so that 99% and 99.9% are as far apart as
90% and 99%; a timer shows as a stair. The trials' histograms are merged; a line ends where fewer
than ten replies are left beyond it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from lab.analysis.conclusion import Conclusion
from lab.analysis.metrics import merged_latency, quantiles
from lab.analysis.observations import Observation
from lab.analysis.summary import StepComparison, Summary
from lab.model.diagnosis import Standing
from lab.model.numbers import figure
from lab.report.caveats import caveats
from lab.report.palette import LIGHT, MAX_LINES
from lab.report.plots import layout
from lab.report.svg import Picture

BEYOND = 10
"""Replies beyond a quantile below which it says little."""
LEAST = 100
"""Replies of the fewest-replies line that is drawn."""

SHARES = {2: "50%", 10: "90%", 100: "99%", 1000: "99.9%", 10_000: "99.99%", 100_000: "99.999%"}
HEIGHT, BELOW, LEFT, ACROSS = 3.2, 0.5, 0.11, 0.86
"""Inches of the panel and of its axis; shares of the width: where it begins, and how wide it is."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The merged latencies of one profile."""

    profile: str
    counts: bool
    """Whether at least one of its trials counts; only those that do are merged then."""
    latency: Mapping[int, int]
    """Microseconds -> replies."""

    def quantiles(self, shares: Sequence[float]) -> list[float | None]:
        """Return the latency, in seconds, at each share; None with fewer than ten beyond it."""
        least = BEYOND * (1 - 1e-9) / sum(self.latency.values())
        points = zip(shares, quantiles(self.latency, shares), strict=True)
        return [value if 1 - share >= least else None for share, value in points]


def curves(summary: Summary) -> tuple[Curve, ...]:
    """Return every profile's, those without replies left out."""
    profile_curves = (
        _curve(summary.observations, profile.name) for profile in summary.run.plan.profiles
    )
    return tuple(curve for curve in profile_curves if sum(curve.latency.values()) >= LEAST)


def chosen(summary: Summary, all_curves: Sequence[Curve]) -> tuple[Curve, ...]:
    """Return those to draw: all, or the first, the last, and the largest changes between."""
    if len(all_curves) <= MAX_LINES:
        return tuple(all_curves)
    names = [curve.profile for curve in all_curves]
    steps = [step for step in summary.steps if step.profile in names[1:-1]]
    steps.sort(key=lambda step: _weight(summary, step), reverse=True)
    changes = [step.profile for step in steps if _weight(summary, step) > (False, 0.0)]
    # Where trials begin to count, or cease to, no ratio says what the curve shows.
    turns = [b.profile for a, b in itertools.pairwise(all_curves[:-1]) if a.counts != b.counts]
    kept = {names[0], names[-1], *[*turns, *changes][: MAX_LINES - 2]}
    return tuple(curve for curve in all_curves if curve.profile in kept)


def draw(conclusion: Conclusion) -> Picture | None:
    """Return the figure; None without replies."""
    summary, notes = conclusion.summary, caveats(conclusion)
    lines = chosen(summary, curves(summary))
    if not lines:
        return None
    names = [line.profile if line.counts else f"{line.profile} (invalid)" for line in lines]
    entries = [layout.mark(name, **_style(number)) for number, name in enumerate(names)]
    bottom = BELOW + layout.foot_height(notes)
    canvas = layout.paper(layout.head_height(entries) + HEIGHT + bottom)
    axes = layout.panel(canvas, LEFT, bottom, ACROSS, HEIGHT)
    axes.set_xscale("log")
    axes.set_yscale("log")
    right = max(_line(axes, curve, number) for number, curve in enumerate(lines))
    axes.set_xlim(1.1, right)
    marks = [place for place in SHARES if place <= right]
    axes.set_xticks(marks, [SHARES[place] for place in marks])
    layout.decades(axes)
    axes.minorticks_off()
    axes.grid(color=LIGHT["line"], linewidth=0.6)
    axes.set_axisbelow(True)
    begins = "sending" if summary.run.plan.load.rate is None else "due"
    axes.set_xlabel("share of the replies that were faster")
    layout.head(canvas, f"Latency, ms from {begins} to the last byte", entries)
    layout.foot(canvas, notes)
    return Picture("How long a reply took", _describe(lines, notes), canvas, notes)


def _style(number: int) -> dict[str, Any]:
    return {
        "color": LIGHT[f"series{number + 1}"],
        "linestyle": layout.STYLES[number],
        "linewidth": 1.7,
    }


def _line(axes: Axes, curve: Curve, number: int) -> float:
    """Draw one profile's line, and return where it ends."""
    last = sum(curve.latency.values()) / BEYOND
    places = [10 ** (step / 40) for step in range(2, int(40 * math.log10(last)) + 1)]
    values = curve.quantiles([1 - 1 / place for place in places])
    points = [(x, y * 1e3) for x, y in zip(places, values, strict=True) if y is not None]
    axes.plot(*zip(*points, strict=True), **_style(number))
    return points[-1][0]


def _curve(observations: Sequence[Observation], profile: str) -> Curve:
    profile_observations = [item for item in observations if item.trial.measures(profile)]
    good = [item for item in profile_observations if "p50" in item.metrics]
    windows = [window for item in good or profile_observations for window in item.trial.windows]
    return Curve(profile, bool(good), merged_latency(windows))


def _weight(summary: Summary, step: StepComparison) -> tuple[bool, float]:
    """Return how much a step is worth a line: told apart first, then by its size."""
    sizes = [
        abs(math.log(comparison.ratio.value))
        for name in ("throughput", "p99", "cpu")
        if (comparison := step.step.get(name)) is not None
        and comparison.ratio is not None
        and comparison.verdict.differs
    ]
    confirmed = any(
        diagnosis.standing is Standing.CONFIRMED
        for diagnosis in summary.diagnoses.get(step.profile, ())
    )
    return confirmed or bool(sizes), max(sizes, default=0.0)


def _describe(lines: Sequence[Curve], notes: Sequence[str]) -> str:
    texts = []
    for curve in lines:
        values = zip(("50%", "99%"), curve.quantiles([0.5, 0.99]), strict=True)
        parts = (f"{share} {figure(value * 1e3)} ms" for share, value in values if value)
        texts.append(f"{curve.profile}: {', '.join(parts)}")
    what = "Latency by share of replies, logarithmic."
    return " ".join((what, *notes, f"{'; '.join(texts)}."))
