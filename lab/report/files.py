"""The files that a run's folder holds beside its data: the same report in three forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lab import claims
from lab.analysis.summary import Summary
from lab.report import html, markdown
from lab.report import json as json_report


def files(found: Sequence[Summary]) -> Iterator[tuple[str, str]]:
    """Yield the name and the content of each file that is derived from a run."""
    yield "summary.json", json_report.render(*found)
    yield "report.md", markdown.render(*found)
    yield from pages(Path("report.html"), found)


def pages(path: Path, found: Sequence[Summary]) -> Iterator[tuple[str, str]]:
    """Yield the name and the content of each page, with what the run says to published claims."""
    for name, summary in html.files(path, found):
        yield str(name), html.render(summary, claims.decided(summary))
