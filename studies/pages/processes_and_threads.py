"""What studies/results/processes_and_threads.json says: two tables of medians."""

from __future__ import annotations

import functools
import json
from statistics import median
from typing import Any

from lab.model.document import Cell, Column, Table
from lab.report import markdown
from studies.pages.results import RESULTS
from studies.processes_and_threads import HANDLERS, KINDS, NUMBERS


@functools.cache
def _cells() -> Any:
    text = (RESULTS / "processes_and_threads.json").read_text(encoding="utf-8")
    return json.loads(text)["cells"]


def _values(name: str, handler: str, kind: str, number: int) -> list[float | None]:
    """Return what all rounds measured."""
    key = (handler, kind, number)
    return [
        entry[name]
        for entry in _cells()
        if (entry["handler"], entry["kind"], entry["number"]) == key
    ]


def _table(name: str, form: str, factor: float = 1.0) -> str:
    """Return a row for each number; - where some round has no value."""

    def cell(handler: str, kind: str, number: int) -> Cell:
        values = _values(name, handler, kind, number)
        known = [value for value in values if value is not None]
        return Cell(format(factor * median(known), form) if len(known) == len(values) else "-")

    columns = [(handler, kind) for handler in HANDLERS for kind in KINDS]
    titles = [Column("number", number=True), *(Column(f"{h}: {kind}") for h, kind in columns)]
    rows = tuple((Cell(str(n)), *(cell(h, kind, n) for h, kind in columns)) for n in NUMBERS)
    return markdown.render_table(Table("", tuple(titles), rows))


def requests() -> str:
    """Return the requests/s at full load."""
    return _table("throughput", ",.0f")


def p99() -> str:
    """Return p99 at the rate of each handler, in ms; - where a server does not keep up."""
    return _table("p99", ",.0f", 1000)


def memory(kind: str) -> str:
    """Return the memory of 1 and of 16 processes or threads, in MB."""
    least, most = (
        median(v for h in HANDLERS for v in _values("memory", h, kind, n) if v is not None)
        for n in (NUMBERS[0], NUMBERS[-1])
    )
    return f"{least / 1e6:,.0f} and {most / 1e6:,.0f} MB"


def load() -> str:
    """Return the largest share of a CPU that the load used at full load."""
    return f"{max(entry['load'] for entry in _cells()):.2f}"
