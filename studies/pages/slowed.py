"""What studies/results/slowed.json says: slowed servers against servers on whole CPUs."""

from __future__ import annotations

import functools
import json
from typing import Any

from lab.model.document import Cell, Column, Table
from lab.report import markdown
from studies.pages.results import RESULTS
from studies.slowed import CASES, SHARES


@functools.cache
def _agreement() -> dict[tuple[str, float], Any]:
    stored = json.loads((RESULTS / "slowed.json").read_text(encoding="utf-8"))
    return {(each["case"], each["share"]): each for each in stored["agreement"]}


def table() -> str:
    """Return a row for each case: its ratio on whole CPUs, and what each share makes of it."""
    columns = (
        Column("requests/s against one", number=False),
        Column("on two whole CPUs"),
        *(Column(f"slowed to {share:.0%}, over that") for share in SHARES[1:]),
        Column("CPU per request at 25%"),
    )
    rows = []
    for case in CASES:
        found = [_agreement().get((case, share)) for share in SHARES[1:]]
        known = [each for each in found if each is not None]
        if not known:
            continue
        at = _agreement().get((case, 0.25))
        rows.append(
            (
                Cell(case),
                Cell(f"{known[0]['whole']:.2f}x"),
                *(Cell(_ratio(each)) for each in found),
                Cell("-" if at is None else f"{at['cpu_ratio']:.2f}x"),
            )
        )
    return markdown.render_table(Table("", columns, tuple(rows)))


def _ratio(found: Any) -> str:
    if found is None:
        return "-"
    value, low, high = found["ratio"]
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"
