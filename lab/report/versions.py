"""Two versions of an application, compared: a comment for a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from lab.analysis.summary import Summary
from lab.analysis.together import RunConclusion
from lab.model.comparison import Verdict
from lab.model.metric import METRICS
from lab.report import numbers, opening
from lab.report.tables import printable

ASKED = ("cpu", "throughput", "p99", "memory")
"""Metrics of the table, in its order."""


def as_markdown(
    found: RunConclusion, differs: Sequence[str], told: Sequence[str], status: int
) -> str:
    """
    Return the result as Markdown.

    Args:
        found: What the run comes to.
        differs: In what the two differ, in lines.
        told: What the run says to each limit.
        status: The exit status.
    """
    (summary,) = found.summaries
    rows = [f"| {METRICS[name].title} | {_cell(summary, name)} |" for name in ASKED]
    ending = opening.end(status)
    table = "\n".join(("| | new / old |", "|---|---|", *printable(rows)))
    parts = ["## Performance: new / old", *printable(differs), table, *printable(told), ending]
    return "\n\n".join(parts) + "\n"


def _cell(summary: Summary, metric: str) -> str:
    """Return a ratio with its interval and verdict."""
    old, new = summary.run.plan.profiles
    comparison = summary.compare(metric, new.name, old.name)
    if comparison.verdict is Verdict.INVALID or comparison.ratio is None:
        return "not compared"
    return f"{numbers.ratio(comparison.ratio)} {comparison.verdict}"
