"""What studies/results/cluster.json says: what an act on a cluster costs clients."""

from __future__ import annotations

import json
from typing import Any

from lab.model.document import Cell, Column, Table
from lab.report import markdown
from tools.pages.files import ROOT

RESULTS = ROOT / "studies" / "results" / "cluster.json"

KINDS = {
    "new": "new connections",
    "kept": "kept connections",
    "kept_and_retried": "kept, one retry",
}


def acts() -> str:
    """Return a row for each act, with what each kind of client lost."""
    columns = (Column("act", number=False), *map(Column, KINDS.values()))
    cells = tuple(
        (Cell(act), *(Cell(f"{row[kind]['lost']} of {row[kind]['requests']:,}") for kind in KINDS))
        for act, row in _stored()["acts"].items()
    )
    return markdown.render_table(Table("", columns, cells))


def versions() -> str:
    """Return what it ran on."""
    return ", ".join(f"{name} {version}" for name, version in _stored()["versions"].items())


def _stored() -> Any:
    return json.loads(RESULTS.read_text())
