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
    return {(entry["case"], entry["share"]): entry for entry in stored["agreement"]}


def table() -> str:
    """Return a row for each case: the CPUs that it uses, against those of its reference."""
    columns = (
        Column("CPUs used, against one server of the case", number=False),
        Column("on two whole CPUs"),
        *(Column(f"slowed to {share:.0%}") for share in SHARES[1:]),
        Column("requests/s, whole"),
        Column("requests/s, slowed to 25%"),
    )
    rows = [
        (
            Cell(case),
            *(Cell(_span(case, share, "used")) for share in SHARES),
            Cell(_span(case, 1.0, "rate")),
            Cell(_span(case, 0.25, "rate")),
        )
        for case in CASES
    ]
    return markdown.render_table(Table("", columns, tuple(rows)))


def dearer() -> str:
    """Return by how much windows of a quarter make a request dearer, over all cases."""
    ratios = [entry["cpu"] for (_, share), entry in _agreement().items() if share == 0.25]
    return f"{min(ratios):.2f} to {max(ratios):.2f}"


def _span(case: str, share: float, what: str) -> str:
    agreement = _agreement().get((case, share))
    if agreement is None:
        return "-"
    low, middle, high = agreement[what]
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"
