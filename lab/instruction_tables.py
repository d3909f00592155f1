"""
Put the stored counts of instructions into the documentation; `lab.run_tables` calls it.

Between `<!-- instructions cells -->` and `<!-- end -->` stands what one call of each application
takes, between `<!-- instructions phases -->` and `<!-- end -->` where the service's go. Within a
line, between `<!-- instructions saved: APPLICATION BUILD / APPLICATION BUILD at NUMBER -->` and
`<!-- -->` stands which share of the first one's the second one saves.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable
from typing import Any

from lab.system.programs import ROOT

RESULTS = ROOT / "benchmarks" / "results" / "instructions.json"

_BLOCK = re.compile(r"(<!-- instructions (cells|phases) -->\n).*?(<!-- end -->)", re.DOTALL)
_SAVED = re.compile(
    r"(<!-- instructions saved: (\S+) (\w+) / (\S+) (\w+) at (.+?) -->).*?(<!-- -->)", re.DOTALL
)


def fill(text: str) -> str:
    """Return *text* with the counts as they are stored."""
    tables = {"cells": _cells, "phases": _phases}
    text = _BLOCK.sub(lambda found: f"{found[1]}{tables[found[2]]()}{found[3]}", text)
    return _SAVED.sub(
        lambda found: f"{found[1]}{_saved(*found.group(2, 3, 4, 5, 6))}{found[7]}", text
    )


@functools.cache
def _stored() -> tuple[str, dict[str, Any]]:
    """Return the interpreter that was counted first, and its figures."""
    name, figures = next(iter(json.loads(RESULTS.read_text(encoding="utf-8")).items()))
    return name, figures


def _cells() -> str:
    _, figures = _stored()
    numbers = list(dict.fromkeys(cell["number"] for cell in figures["cells"]))
    kinds = dict.fromkeys((cell["application"], cell["build"]) for cell in figures["cells"])
    rows = [
        [name, build, *(f"{_count(name, build, number):,}" for number in numbers)]
        for name, build in kinds
    ]
    return _table(["application", "fib", *(f"n = {number}" for number in numbers)], rows, 2)


def _phases() -> str:
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
    rows = [[part, f"{count:,}", f"{count / whole:.0%}"] for part, count in parts.items()]
    made = ", ".join(f"{key} {value}" for key, value in figures["versions"].items())
    table = _table(["part of `service`, compiled, n = 9000", "instructions", "share"], rows, 1)
    return f"{table}\n{name}; {made}.\n"


def _count(application: str, build: str, number: str) -> int:
    _, figures = _stored()
    wanted = (application, build, number)
    return next(
        int(cell["instructions"])
        for cell in figures["cells"]
        if (cell["application"], cell["build"], cell["number"]) == wanted
    )


def _saved(before: str, build: str, after: str, other: str, number: str) -> str:
    return f"{1 - _count(after, other, number) / _count(before, build, number):.1%}"


def _table(titles: Iterable[str], rows: Iterable[Iterable[str]], names: int) -> str:
    """Return a Markdown table whose first *names* columns are text."""
    titles = list(titles)
    marks = ["---"] * names + ["---:"] * (len(titles) - names)
    return "".join(f"| {' | '.join(row)} |\n" for row in (titles, marks, *rows))
