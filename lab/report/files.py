"""The files that a run's folder holds beside its data: the same report in three forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lab import claims
from lab.analysis.summary import Summary
from lab.report import html_page, markdown, summary_json, sweep


def files(found: Sequence[Summary]) -> Iterator[tuple[str, str]]:
    """Yield the name and the content of each file that is derived from a run."""
    yield "summary.json", summary_json.render(*found)
    yield "report.md", markdown.render(*found)
    yield from pages(Path("report.html"), found)


def pages(path: Path, found: Sequence[Summary]) -> Iterator[tuple[str, str]]:
    """
    Yield the name and the content of each page, with what the run says to published claims.

    *path* is the page of the whole run. Of a few values each has a page beside it.
    """
    if len(found) > 1:
        yield str(path), html_page.render_sweep(found)
    for summary in found if len(found) <= sweep.WHOLE else ():
        at = summary.run.plan.arms[0].at if len(found) > 1 else {}
        words = (text.replace("%", "pct").removesuffix("/s") for text in at.values())
        name = path.with_stem("-".join((path.stem, *words)))
        yield str(name), html_page.render(summary, claims.decided(summary))
