"""
The figures of stored runs.

Such as `ladder: forest`, and `NAME: sweep` of a run at several values; `judges`, which is of
judges.json; and `lint`, which is of no run: what `lab lint` prints.
"""

from __future__ import annotations

import functools

from lab.analysis.conclude import conclude
from lab.analysis.sweep import conclude_sweep
from lab.errors import ResultsError
from lab.report import markdown, svg
from lab.report.figures import FIGURES, of_sweep, pictures
from studies.pages import judges, published_ladder
from tools.pages import terminal
from tools.pages.files import RUNS, document, summary, swept

WITHOUT_RUN = frozenset({"judges", "lint", "published-ladder"})
"""Figures of no run of the lab's, and so of no report that warns."""


def words(figure: str) -> str:
    """Return its title, what it shows and what changes its reading; the tables have its numbers."""
    if figure == "lint":
        return terminal.words()
    picture = _picture(figure)
    shown = picture.description.partition(". ")[0]
    return " ".join((f"{picture.title}. {shown}.", *picture.caveats))


def warnings(figure: str) -> str:
    """Return what stands below it: what the report of its run warns of."""
    run = figure.partition(": ")[0]
    if figure in WITHOUT_RUN:
        return ""
    banners = document(run).banners
    return "".join(f"\n\n{banner}" for banner in markdown.warnings(banners).split("\n\n") if banner)


@functools.cache
def image(figure: str, suffix: str) -> bytes:
    """Return it as a file, `.png` or `.svg`."""
    if figure == "lint":
        return terminal.render().encode()
    picture, name = _picture(figure), figure.rpartition(": ")[2]
    return svg.png(picture) if suffix == ".png" else svg.standalone(name, picture).encode()


@functools.cache
def _picture(figure: str) -> svg.Picture:
    if figure == "judges":
        return judges.picture()
    if figure == "published-ladder":
        return published_ladder.picture()
    run, _, name = figure.partition(": ")
    if name == "sweep":
        drawn = of_sweep(conclude_sweep(swept(run)))
        if drawn is None:
            raise ResultsError(RUNS / run, "has nothing to draw")
        return drawn
    picture = pictures(conclude(summary(run))).get(name)
    if picture is None:
        raise ResultsError(RUNS / run, f"has no figure {name!r}, only {', '.join(FIGURES)}")
    return picture
