"""The figures of a report, from one code for a page, a file and a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import matplotlib as mpl

from lab.analysis.conclusion import Conclusion
from lab.analysis.sweep import SweepConclusion
from lab.report import svg
from lab.report.columns import panels
from lab.report.plots import cores, forest, percentiles, sweep, trials
from lab.report.svg import Picture

FIGURES: Mapping[str, Callable[[Conclusion], Picture | None]] = {
    "forest": forest.draw,
    "time": cores.draw,
    "percentiles": percentiles.draw,
    "trials": trials.draw,
}
"""By name, in the order in which a report shows them."""


@mpl.rc_context(svg.STYLE)
def pictures(conclusion: Conclusion, names: Iterable[str] = FIGURES) -> dict[str, Picture]:
    """Return the figures by name, without those for which the run has nothing to show."""
    drawn = ((name, FIGURES[name](conclusion)) for name in names)
    return {name: picture for name, picture in drawn if picture is not None}


@mpl.rc_context(svg.STYLE)
def of_changes(conclusion: Conclusion) -> dict[str, Picture]:
    """Return what each step changed, a figure for each metric; first the one that judges."""
    names = sorted(panels(conclusion.summary), key=lambda name: name != conclusion.metric)
    return {name: forest.draw_metric(conclusion, name) for name in names}


@mpl.rc_context(svg.STYLE)
def of_sweep(sweep_conclusion: SweepConclusion) -> Picture | None:
    """Return the figure of a sweep; None where nothing was measured."""
    return sweep.draw(sweep_conclusion)
