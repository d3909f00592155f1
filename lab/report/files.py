"""The files that a run's folder holds beside its data: the same report in three forms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lab.analysis.sweep import RunConclusion
from lab.report import html_page, markdown, summary_json, sweep


def files(found: RunConclusion) -> Iterator[tuple[str, str]]:
    """Yield the name and the content of each file that is derived from a run."""
    yield "summary.json", summary_json.render(found)
    yield "report.md", markdown.render(found)
    yield from pages(Path("report.html"), found)


def pages(path: Path, found: RunConclusion) -> Iterator[tuple[str, str]]:
    """
    Yield the name and the content of each page.

    *path* is the page of the whole run. Of a few values each has a page beside it.
    """
    if found.sweep is not None:
        yield str(path), html_page.render_sweep(found.sweep)
    for each in found.points if len(found.points) <= sweep.WHOLE else ():
        at = each.summary.run.plan.arms[0].at if found.sweep is not None else {}
        words = (text.replace("%", "pct").removesuffix("/s") for text in at.values())
        name = path.with_stem("-".join((path.stem, *words)))
        yield str(name), html_page.render(each)
