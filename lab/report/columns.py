"""Which figures of a run are worth a column, a row or a panel of its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from lab.analysis.summary import Part, Summary
from lab.model.metric import METRICS, Form, also_shown, shown
from lab.model.request import labels

MOST_PARTS = 40
"""Requests of a mix that have a row of their own: those that failed, then the most usual."""


@dataclass(frozen=True, slots=True)
class RequestRow:
    """One of several requests, and what came of it."""

    request: str
    """Such as "POST /cart"."""

    share: float
    """Of all that are asked."""

    parts: Mapping[str, Part]
    """By profile; absent where nothing came of it."""


def measured(summary: Summary) -> tuple[str, ...]:
    """Return the metrics of the table of measurements."""
    form = Form.of(summary.run.plan.load)
    return tuple(
        name
        for name, metric in METRICS.items()
        if form in metric.table and summary.shows(metric, metric.only)
    )


def compared(summary: Summary) -> tuple[str, ...]:
    """Return the metrics of the tables of changes; with a backend, what it cost with it."""
    load = summary.run.plan.load
    return (*shown(load), *filter(summary.has, also_shown(load)))


def panels(summary: Summary) -> tuple[str, ...]:
    """Return the metrics of the figure of changes: those by which anything can be compared."""
    form = Form.of(summary.run.plan.load)
    return tuple(
        name
        for name, metric in METRICS.items()
        if form in metric.drawn
        and any(comparison.ratio for comparison in (summary.aa[name], *summary.comparisons([name])))
    )


def request_rows(summary: Summary) -> tuple[RequestRow, ...]:
    """Return the requests of a mix that have a row: those that failed, then the most usual."""
    if not any(row.parts for row in summary.rows):
        return ()
    asks = summary.run.plan.workload.requests
    parts_by_profile = {
        row.profile.name: {part.request: part for part in row.parts} for row in summary.rows
    }
    failed = Counter(part.request for row in summary.rows for part in row.parts if part.errors)
    weights = Counter(dict(zip(labels(asks), (ask.weight for ask in asks), strict=True)))
    names = sorted(weights, key=lambda name: (-failed[name], -weights[name]))[:MOST_PARTS]
    return tuple(
        RequestRow(
            name,
            weights[name] / weights.total(),
            {profile: parts[name] for profile, parts in parts_by_profile.items() if name in parts},
        )
        for name in names
    )
