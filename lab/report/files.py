"""The files that a run's folder holds beside its data: the same report in three forms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lab.analysis.sweep import RunConclusion
from lab.report import html_page, markdown, summary_json, sweep


def files(run_conclusion: RunConclusion) -> Iterator[tuple[str, str]]:
    """Yield the name and the content of each file that is derived from a run."""
    yield "summary.json", summary_json.render(run_conclusion)
    yield "report.md", markdown.render(run_conclusion)
    yield from pages(Path("report.html"), run_conclusion)


def pages(path: Path, run_conclusion: RunConclusion) -> Iterator[tuple[str, str]]:
    """
    Yield the name and the content of each page.

    *path* is the page of the whole run. Of a few values each has a page beside it.
    """
    if run_conclusion.sweep is not None:
        yield str(path), html_page.render_sweep(run_conclusion.sweep)
    for conclusion in run_conclusion.points if len(run_conclusion.points) <= sweep.WHOLE else ():
        at = conclusion.summary.run.plan.arms[0].at if run_conclusion.sweep is not None else {}
        words = (text.replace("%", "pct").removesuffix("/s") for text in at.values())
        name = path.with_stem("-".join((path.stem, *words)))
        yield str(name), html_page.render(conclusion)
