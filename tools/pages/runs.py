"""What stored runs say: their tables, ratios and machines, and what they say to claims."""

from __future__ import annotations

from dataclasses import replace

from lab import claims as published
from lab.errors import ResultsError
from lab.report import claims as claims_report
from lab.report import markdown, numbers
from lab.report.machine import machine_lines
from lab.report.tables import document
from tools.pages.files import RUNS, runs, summary


def table(name: str, title: str, rows: str | None = None) -> str:
    """Return a table of a run; of its rows those named in *rows*, with commas between them."""
    tables = {each.title: each for each in document(summary(name)).tables}
    if (found := tables.get(title)) is None:
        raise ResultsError(RUNS / name, f"has no table {title!r}, only {', '.join(tables)}")
    if rows is not None:
        chosen = {row.strip() for row in rows.split(",")}
        if missing := sorted(chosen - {row[0].text for row in found.rows}):
            raise ResultsError(RUNS / name, f"has no row {missing[0]!r} in its table {title!r}")
        found = replace(found, rows=tuple(row for row in found.rows if row[0].text in chosen))
    return markdown.render_table(found)


def ratio(name: str, metric: str, changed: str, reference: str) -> str:
    """Return how two profiles of a run compare, whatever lies between them."""
    found = summary(name).compare(metric, changed, reference)
    if found.ratio is None:
        raise ResultsError(RUNS / name, f"cannot compare {changed} with {reference} by {metric}")
    return f"{numbers.bounded(found)} {found.said}"


def value(name: str, metric: str, profile: str) -> str:
    """Return the median of a metric of one profile, in the unit in which reports print it."""
    rows = {row.profile.name: row for row in summary(name).rows}
    if profile not in rows or metric not in rows[profile].values:
        raise ResultsError(RUNS / name, f"has no {metric} of {profile}")
    return numbers.quantity(metric, rows[profile].values[metric])


def machine(name: str) -> str:
    """Return where a run was made."""
    return "; ".join(machine_lines(summary(name).run.environments))


def claims(source: str) -> str:
    """Return what all stored runs say to the claims of one article."""
    asked = [claim for claim in published.load() if claim.source == source]
    decided = [each for each in published.verdicts(runs(), asked) if each.run is not None]
    return markdown.render_table(claims_report.verdict_table(decided))
