"""The page of the stored runs: what each one comes to, and the command that prints its report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lab.report import markdown
from tools.pages.files import RUNS, document, names, written

PAGE = RUNS / "README.md"

HEAD = """\
# Stored runs

The figures in the documentation come from these runs. A folder has the data of a run
([format](../reference/run-format.md)). `lab report docs/runs/NAME --full` prints its report, and
`--html FILE` writes the report as a page.
"""


def refresh() -> list[Path]:
    """Rewrite the page where it is not what the runs say, and return it then."""
    return written(PAGE, "\n".join((HEAD, *map(section, names()))))


def section(name: str) -> str:
    """Return a run's title, its warnings, its first sentence, and the command that repeats it."""
    return "\n".join((f"## {name}\n", *_paragraphs(name)))


def _paragraphs(name: str) -> Iterator[str]:
    report = document(name)
    yield f"{markdown.escaped(report.title)}\n"
    if warned := markdown.warnings(report.banners):
        yield warned.rstrip() + "\n"
    yield f"{markdown.escaped(report.headline)}\n"
    yield f"{markdown.escaped(report.footer[0])}\n"
