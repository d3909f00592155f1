"""
Put the tables of stored runs into the documentation: `python -m lab.run_tables`.

A page says where: between `<!-- run NAME: TITLE -->` and `<!-- end -->` stands the table TITLE of
docs/runs/NAME, and `TITLE (a, b)` keeps its rows a and b only. Within a line, between
`<!-- ratio NAME: METRIC of CHANGED / REFERENCE -->` and `<!-- -->` stands that comparison, whatever
lies between the two profiles; after `<!-- machine NAME -->` where the run was made. So no figure is
typed by hand.
"""

from __future__ import annotations

import re
from pathlib import Path

from lab.analysis.compare import compare
from lab.analysis.summary import summarise
from lab.environment import ROOT
from lab.errors import ResultsError
from lab.report import markdown
from lab.report.machine import machine_lines
from lab.report.numbers import ratio
from lab.results import read_run, write_text

RUNS = ROOT / "docs" / "runs"

_BLOCK = re.compile(
    r"(<!-- run (\S+): ([^(\n]+?)(?: \((.+?)\))? -->\n).*?(<!-- end -->)", re.DOTALL
)
_RATIO = re.compile(r"(<!-- ratio (\S+): (\w+) of (\S+) / (\S+) -->).*?(<!-- -->)", re.DOTALL)
_MACHINE = re.compile(r"(<!-- machine (\S+) -->).*?(<!-- -->)", re.DOTALL)
_SECTION = re.compile(r"## (.+?)\n\n((?:\|.*\n)+)")


def pages() -> tuple[Path, ...]:
    """Return the pages that may hold tables."""
    return (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))


def fill(text: str) -> str:
    """
    Return *text* with every table as its run has it.

    Raises:
        ResultsError: There is no such run, or it has no such table.
    """
    text = _BLOCK.sub(lambda found: f"{found[1]}{_table(*found.group(2, 3, 4))}{found[5]}", text)
    text = _MACHINE.sub(lambda found: f"{found[1]}{_machine(found[2])}{found[3]}", text)
    return _RATIO.sub(lambda found: f"{found[1]}{_ratio(*found.group(2, 3, 4, 5))}{found[6]}", text)


def _machine(name: str) -> str:
    return "; ".join(machine_lines(read_run(RUNS / name).environments))


def _ratio(name: str, metric: str, changed: str, reference: str) -> str:
    comparison = compare(read_run(RUNS / name), metric, changed, reference)
    if comparison.ratio is None:
        raise ResultsError(RUNS / name, f"cannot compare {changed} with {reference} by {metric}")
    return f"{ratio(comparison.ratio)} {comparison.verdict}"


def _table(name: str, title: str, rows: str | None) -> str:
    report = markdown.render(summarise(read_run(RUNS / name)))
    tables = dict(_SECTION.findall(report))
    if title not in tables:
        raise ResultsError(RUNS / name, f"has no table {title!r}, only {', '.join(tables)}")
    lines = tables[title].splitlines(keepends=True)
    if rows is not None:
        chosen = {row.strip() for row in rows.split(",")}
        lines = lines[:2] + [line for line in lines[2:] if line.split("|")[1].strip() in chosen]
    return "".join(lines)


def main() -> None:
    """Rewrite the pages whose tables are not their runs' any more."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if (filled := fill(text)) != text:
            write_text(page, filled)
            print(page)  # noqa: T201 - the console is the product


if __name__ == "__main__":
    main()
