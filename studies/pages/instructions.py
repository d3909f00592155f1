"""The stored counts of instructions."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from typing import Any

from lab.model.document import Cell, Column, Table
from lab.report import markdown
from tools.pages.files import ROOT

RESULTS = ROOT / "studies" / "results" / "instructions.json"


def cells() -> str:
    """Return the table of what one call of each application takes."""
    counts = _counts()
    kinds = dict.fromkeys((application, build) for application, build, _ in counts)
    numbers = list(dict.fromkeys(number for *_, number in counts))
    rows = ((*kind, *(f"{counts[*kind, number]:,}" for number in numbers)) for kind in kinds)
    return _table(["application", "fib"], [f"n = {number}" for number in numbers], rows)


def phases() -> str:
    """Return the table of where the service's instructions go."""
    name, figures = _stored()
    counted = {cell["phase"]: cell["instructions"] for cell in figures["phases"]}
    whole = counted["whole"]
    parts = {
        "request object, URL adapter, context": counted["context"],
        "contexts pushed and popped, route matched": counted["push"] - counted["context"],
        "the view: number, answer, response": counted["view"],
        "Flask's dispatch around it": counted["dispatch"] - counted["push"] - counted["view"],
        "the WSGI call, and the response sent": whole - counted["dispatch"],
        "all": whole,
    }
    rows = ((part, f"{count:,}", f"{count / whole:.0%}") for part, count in parts.items())
    table = _table(["part of `service`, compiled, n = 9000"], ["instructions", "share"], rows)
    made = ", ".join(f"{key} {value}" for key, value in figures["versions"].items())
    return f"{table}\n{name}; {made}.\n"


def saved(before: str, build: str, after: str, other: str, number: str) -> str:
    """Return which share of the instructions of one application and build another one saves."""
    counts = _counts()
    return f"{1 - counts[after, other, number] / counts[before, build, number]:.1%}"


@functools.cache
def _stored() -> tuple[str, dict[str, Any]]:
    """Return the interpreter that was counted first, and its figures."""
    name, figures = next(iter(json.loads(RESULTS.read_text(encoding="utf-8")).items()))
    return name, figures


def _counts() -> dict[tuple[str, str, str], int]:
    """Return the instructions by application, build and number."""
    _, figures = _stored()
    return {
        (cell["application"], cell["build"], cell["number"]): int(cell["instructions"])
        for cell in figures["cells"]
    }


def _table(names: Iterable[str], counts: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    columns = [Column(title, number=False) for title in names]
    columns += [Column(title) for title in counts]
    cells = (tuple(map(Cell, row)) for row in rows)
    return markdown.render_table(Table("", tuple(columns), tuple(cells)))
