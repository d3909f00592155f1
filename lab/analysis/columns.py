"""Which figures of a run are worth a column, a row or a panel of its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from lab.analysis.looks import shown
from lab.analysis.summary import Part, Summary
from lab.model.request import labels

OPEN = ("throughput", "cpu", "p50", "p90", "p99", "service_p99", "memory", "drops", "errors")
TIMED = ("throughput", "cpu", "p50", "p99", "memory", "drops", "errors")
COUNTED = ("throughput", "cpu", "drops", "errors")
"""Metrics of the table of measurements. A counted load has the time for all requests and the
slowest reply in place of percentiles: nearly all of what it shows is in its last replies. Requests
sent again stand beside the errors where a server that keeps connections ended some unasked."""

OPEN_PANELS = ("cpu", "p50", "p99", "memory")
TIMED_PANELS = ("throughput", "cpu", "p99", "memory")
COUNTED_PANELS = ("throughput", "cpu", "memory")
"""The same of the figure of changes."""

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
    load = summary.run.plan.load
    names = COUNTED if load.requests is not None else TIMED if load.rate is None else OPEN
    if any(row.values.get("retried") and not row.never_kept for row in summary.rows):
        names = (*names, "retried")
    return (*names[:2], "system", *names[2:]) if summary.has("system") else names


def compared(summary: Summary) -> tuple[str, ...]:
    """Return the metrics of the tables of changes; with a backend, what it cost with it."""
    judged = shown(summary.run.plan.load)
    return (*judged, "system") if summary.has("system") else judged


def panels(summary: Summary) -> tuple[str, ...]:
    """Return the metrics of the figure of changes: those by which anything can be compared."""
    load = summary.run.plan.load
    timed = TIMED_PANELS if load.rate is None else OPEN_PANELS
    names = timed if load.requests is None else COUNTED_PANELS
    return tuple(
        name
        for name in names
        if any(each.ratio for each in (summary.aa[name], *summary.comparisons([name])))
    )


def asked(summary: Summary) -> tuple[RequestRow, ...]:
    """Return the requests of a mix that have a row: those that failed, then the most usual."""
    if not any(row.parts for row in summary.rows):
        return ()
    asks = summary.run.plan.workload.requests
    found = {row.profile.name: {each.request: each for each in row.parts} for row in summary.rows}
    failed = Counter(each.request for row in summary.rows for each in row.parts if each.errors)
    weights = Counter(dict(zip(labels(asks), (each.weight for each in asks), strict=True)))
    names = sorted(weights, key=lambda name: (-failed[name], -weights[name]))[:MOST_PARTS]
    return tuple(
        RequestRow(
            name,
            weights[name] / weights.total(),
            {profile: parts[name] for profile, parts in found.items() if name in parts},
        )
        for name in names
    )
