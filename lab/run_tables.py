"""
Put the tables and figures of stored runs into the documentation: `python -m lab.run_tables`.

A page says where: between `<!-- run NAME: TITLE -->` and `<!-- end -->` stands the table TITLE of
docs/runs/NAME, and `TITLE (a, b)` keeps its rows a and b only. Within a line, between
`<!-- ratio NAME: METRIC of CHANGED / REFERENCE -->` and `<!-- -->` stands that comparison, whatever
lies between the two profiles; after `<!-- machine NAME -->` where the run was made. So no figure is
typed by hand.

Between `<!-- claims SOURCE -->` and `<!-- end -->` stands what all stored runs say to the claims of
one article; between `<!-- selftest -->` and `<!-- end -->` what docs/runs/selftest.json says, and
between `<!-- stress -->` and `<!-- end -->` what docs/runs/stress.json says.

`<!-- figure NAME: FIGURE -->` on the line above an image makes it that figure of the run: the image
is docs/figures/NAME-FIGURE.svg, its text what the figure shows; FIGURE is forest, time, percentiles
or trials. What the README shows is drawn as PNG, too. `<!-- figure stress -->` there makes it
docs/figures/stress.svg, of docs/runs/stress.json.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lab import claims, instruction_tables
from lab.analysis.compare import compare, own
from lab.analysis.summary import Summary, summarise
from lab.environment import ROOT
from lab.errors import ResultsError
from lab.report import claims as claims_report
from lab.report import markdown
from lab.report.machine import machine_lines
from lab.report.numbers import ratio
from lab.results import read_json, read_run, write_text
from lab.selftest import page as selftest_page
from lab.selftest.result import SelfTestResult
from lab.stress import page as stress_page
from lab.stress.result import StressResult

if TYPE_CHECKING:
    from lab.report.svg import Picture

RUNS = ROOT / "docs" / "runs"
IMAGES = ROOT / "docs" / "figures"

_BLOCK = re.compile(
    r"(<!-- run (\S+): ([^(\n]+?)(?: \((.+?)\))? -->\n).*?(<!-- end -->)", re.DOTALL
)
_CLAIMS = re.compile(r"(<!-- claims (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
_SELFTEST = re.compile(r"(<!-- selftest -->\n).*?(<!-- end -->)", re.DOTALL)
_STRESS = re.compile(r"(<!-- stress -->\n).*?(<!-- end -->)", re.DOTALL)
_RATIO = re.compile(r"(<!-- ratio (\S+): (\w+) of (\S+) / (\S+) -->).*?(<!-- -->)", re.DOTALL)
_MACHINE = re.compile(r"(<!-- machine (\S+) -->).*?(<!-- -->)", re.DOTALL)
_FIGURE = re.compile(r"(<!-- figure (\S+): (\w+) -->\n!\[)[^\]]*(\]\()")
_STRESS_FIGURE = re.compile(r"(<!-- figure stress -->\n!\[)[^\]]*(\]\()")
_SECTION = re.compile(r"## (.+?)\n\n((?:\|.*\n)+)")


def pages() -> tuple[Path, ...]:
    """Return the pages that may hold tables."""
    return (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))


def fill(text: str) -> str:
    """
    Return *text* with every table as its run has it, and every figure's words.

    Raises:
        ResultsError: There is no such run, or it has no such table, row or figure.
    """
    text = _BLOCK.sub(lambda found: f"{found[1]}{_table(*found.group(2, 3, 4))}{found[5]}", text)
    text = _CLAIMS.sub(lambda found: f"{found[1]}{_claims(found[2])}{found[3]}", text)
    text = instruction_tables.fill(text)
    text = _SELFTEST.sub(lambda found: f"{found[1]}{_selftest()}{found[2]}", text)
    text = _STRESS.sub(lambda found: f"{found[1]}{_stress()}{found[2]}", text)
    text = _STRESS_FIGURE.sub(lambda found: f"{found[1]}{_stress_words()}{found[2]}", text)
    text = _MACHINE.sub(lambda found: f"{found[1]}{_machine(found[2])}{found[3]}", text)
    text = _FIGURE.sub(lambda found: f"{found[1]}{_words(*found.group(2, 3))}{found[4]}", text)
    return _RATIO.sub(lambda found: f"{found[1]}{_ratio(*found.group(2, 3, 4, 5))}{found[6]}", text)


def refresh() -> list[Path]:
    """
    Rewrite the pages and figures that are not their runs' any more, and return them.

    Raises:
        ResultsError: A page names a run, a table or a figure that is not there.
    """
    changed = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if (filled := fill(text)) != text:
            write_text(page, filled)
            changed.append(page)
        for name, figure in _figures(text):
            formats = ("svg", "png") if page.parent == ROOT else ("svg",)
            changed += _draw(name, figure, formats)
        if _STRESS_FIGURE.search(text):
            changed += _draw_stress()
    return list(dict.fromkeys(changed))


def _figures(text: str) -> Iterator[tuple[str, str]]:
    for found in _FIGURE.finditer(text):
        yield found[2], found[3]


def _draw(name: str, figure: str, formats: tuple[str, ...]) -> Iterator[Path]:
    """Draw a figure of a run; yield the files that were not so already."""
    from lab.report import svg  # noqa: PLC0415 - see _picture

    picture = _picture(name, figure)
    IMAGES.mkdir(exist_ok=True)
    for form in formats:
        path = IMAGES / f"{name}-{figure}.{form}"
        content = svg.png(picture) if form == "png" else svg.standalone(figure, picture).encode()
        yield from _written(path, content)


def _draw_stress() -> Iterator[Path]:
    from lab.stress.figure import svg  # noqa: PLC0415 - see _picture

    yield from _written(IMAGES / "stress.svg", svg(_stress_result()).encode())


def _written(path: Path, content: bytes) -> Iterator[Path]:
    """Write a file, and yield it, unless it was so already."""
    if not path.exists() or path.read_bytes() != content:
        path.write_bytes(content)
        yield path


def _words(name: str, figure: str) -> str:
    """Return a figure's title and what it shows; its numbers are in the tables beside it."""
    return _alternative(_picture(name, figure))


def _stress_words() -> str:
    from lab.stress.figure import draw  # noqa: PLC0415 - see _picture

    return _alternative(draw(_stress_result()))


def _alternative(picture: Picture) -> str:
    return f"{picture.title}. {picture.description.partition('. ')[0]}."


def _picture(name: str, figure: str) -> Picture:
    # matplotlib takes half a second to import, and only this needs it.
    from lab.report.figures import FIGURES, pictures  # noqa: PLC0415

    found = pictures(_summary(name)).get(figure)
    if found is None:
        raise ResultsError(RUNS / name, f"has no figure {figure!r}, only {', '.join(FIGURES)}")
    return found


@functools.cache
def _summary(name: str) -> Summary:
    return summarise(read_run(RUNS / name))


def _machine(name: str) -> str:
    return "; ".join(machine_lines(_summary(name).run.environments))


@functools.cache
def _claims(source: str) -> str:
    runs = [read_run(folder) for folder in claims.stored_runs()]
    found = claims.verdicts(runs, [claim for claim in claims.load() if claim.source == source])
    decided = [verdict for verdict in found if verdict.run is not None]
    return markdown.render_table(claims_report.verdict_table(decided))


def _selftest() -> str:
    return selftest_page.render(read_json(RUNS / "selftest.json", SelfTestResult))


def _stress() -> str:
    return stress_page.render(_stress_result())


@functools.cache
def _stress_result() -> StressResult:
    return read_json(RUNS / "stress.json", StressResult)


def _ratio(name: str, metric: str, changed: str, reference: str) -> str:
    found = _summary(name)
    sides = own(changed), own(reference)
    comparison = compare(found.observations, metric, *sides, found.floors[metric])
    if comparison.ratio is None:
        raise ResultsError(RUNS / name, f"cannot compare {changed} with {reference} by {metric}")
    return f"{ratio(comparison.ratio)} {comparison.verdict}"


def _table(name: str, title: str, rows: str | None) -> str:
    report = markdown.render(_summary(name))
    tables = dict(_SECTION.findall(report))
    if title not in tables:
        raise ResultsError(RUNS / name, f"has no table {title!r}, only {', '.join(tables)}")
    lines = tables[title].splitlines(keepends=True)
    if rows is not None:
        named = [(line.split("|")[1].strip(), line) for line in lines[2:]]
        chosen = {row.strip() for row in rows.split(",")}
        if missing := sorted(chosen - dict(named).keys()):
            raise ResultsError(RUNS / name, f"has no row {missing[0]!r} in its table {title!r}")
        lines = lines[:2] + [line for row, line in named if row in chosen]
    return "".join(lines)


def main() -> None:
    """Bring the documentation up to its runs, and name what was changed."""
    for path in refresh():
        print(path)  # noqa: T201 - the console is the product


if __name__ == "__main__":
    main()
