"""The stored comparison of `lab watch` with counters in applications and clients."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab.analysis.stats import paired
from lab.model.document import Cell, Column, Table
from lab.report import markdown
from tools.pages.files import ROOT

RESULTS = ROOT / "studies" / "results" / "watch_errors.json"
COST = RESULTS.with_name("watch_cost.json")

NEAR, PART = 1.0, 0.15
"""Requests, or the part of them, by which a mean may be off to be near."""

HEADS = ("server", "handler", "clients, pause")
FIGURES = ("sent", "in flight", "in code", "in workers", "error")


def table() -> str:
    """Return a row for each server, handler and load: mean and p95 of what was counted."""
    columns = [Column(head, number=False) for head in HEADS] + [Column(head) for head in FIGURES]
    rows = (
        (
            row["server"],
            f"`{row['handler']}`",
            f"{row['clients']}, {row['pause']:g} s",
            *(_level(row[key]) for key in ("client", "in_flight", "in_code", "workers")),
            f"{row['error']:.2f}",
        )
        for row in _stored()["rows"]
    )
    cells = tuple(tuple(map(Cell, row)) for row in rows)
    return markdown.render_table(Table("", tuple(columns), cells))


def in_short() -> str:
    """Return in how many rows the mean is near, or between the two counters, and the worst."""
    rows = _stored()["rows"]
    good = [row for row in rows if _is_near(row) or _is_between(row)]
    worst = max(rows, key=lambda row: abs(row["in_flight"][0] - row["client"][0]))
    return (
        f"In {len(good)} of {len(rows)} rows the mean of the requests in flight is within "
        f"{NEAR:g} request or {PART:.0%} of what the clients counted, or between that and the "
        f"requests in the code. The farthest is {worst['server']} with `{worst['handler']}` and "
        f"{worst['clients']} clients: {worst['in_flight'][0]:.1f} for {worst['client'][0]:.1f}"
    )


def cost() -> str:
    """Return a row for each server and handler: what a watch changes for the server."""
    columns = [Column(head, number=False) for head in HEADS[:2]]
    columns += [Column("CPU per request"), Column("requests/s"), Column("pairs")]
    rows = (
        (
            row["server"],
            f"`{row['handler']}`",
            _change(row["cpu_pairs"]),
            _change(row["rate_pairs"]),
            str(row["pairs"]),
        )
        for row in _stored(COST)["rows"]
    )
    cells = tuple(tuple(map(Cell, row)) for row in rows)
    return markdown.render_table(Table("", tuple(columns), cells))


def most_cost() -> str:
    """Return the largest upper end of an interval for CPU per request, in percent."""
    highest = max(paired(_logs(row["cpu_pairs"])).high for row in _stored(COST)["rows"])
    return f"{highest - 1:.1%}"


def _change(ratios: Sequence[float]) -> str:
    """Return a change in percent with its interval, from the ratios of pairs."""
    change = paired(_logs(ratios))
    return f"{change.value - 1:+.1%} [{change.low - 1:+.1%}, {change.high - 1:+.1%}]"


def _logs(ratios: Sequence[float]) -> list[float]:
    return [math.log(ratio) for ratio in ratios]


def conditions() -> str:
    """Return where and when it was measured."""
    stored = _stored()
    versions = ", ".join(f"{name} {one}" for name, one in stored["versions"].items())
    return (
        f"Linux {stored['kernel']}, {stored['cores']} cores, load average {stored['load']} before "
        f"the first row, Python {stored['python']}, {versions}; {stored['at'][:10]}"
    )


def _is_near(row: dict[str, Any]) -> bool:
    sent, estimate = row["client"][0], row["in_flight"][0]
    return bool(abs(estimate - sent) <= max(NEAR, PART * sent))


def _is_between(row: dict[str, Any]) -> bool:
    return bool(row["in_code"][0] <= row["in_flight"][0] <= row["client"][0])


def _level(level: list[float]) -> str:
    mean, p95 = level
    return f"{mean:.1f} / {p95:g}"


def _stored(path: Path = RESULTS) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return stored
