"""The figures of a report, from one code for a page, a file and a picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import matplotlib as mpl

from lab.analysis.summary import Summary
from lab.report import svg
from lab.report.plots import forest, percentiles, time, trials
from lab.report.svg import Picture

FIGURES: Mapping[str, Callable[[Summary], Picture | None]] = {
    "forest": forest.draw,
    "time": time.draw,
    "percentiles": percentiles.draw,
    "trials": trials.draw,
}
"""By name, in the order in which a report shows them."""


def pictures(summary: Summary) -> dict[str, Picture]:
    """Return the figures by name, without those for which the run has nothing to show."""
    with mpl.rc_context(svg.STYLE):
        drawn = ((name, draw(summary)) for name, draw in FIGURES.items())
        return {name: picture for name, picture in drawn if picture is not None}


def figure_files(summary: Summary) -> dict[str, bytes]:
    """
    Return every figure as a file: `forest.svg`, `forest.png`, ...

    The SVG follows its reader's light or dark; the PNG, at twice the size, is light. The bytes are
    the same for the same run and the same matplotlib.
    """
    files = {}
    for name, picture in pictures(summary).items():
        files[f"{name}.svg"] = svg.standalone(name, picture).encode()
        files[f"{name}.png"] = svg.png(picture)
    return files
