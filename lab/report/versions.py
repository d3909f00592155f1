"""Two versions of an application, compared: a comment for a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from lab.analysis.together import RunConclusion
from lab.model.metric import METRICS
from lab.report import opening
from lab.report.markdown import escaped, render_table
from lab.report.remarks import of_both
from lab.report.tables import Cell, Table, printable, ratio_cell, texts

HEAD = "## Performance: new / old"
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
    old, new = summary.run.plan.profiles
    rows = tuple(
        (Cell(METRICS[name].title), ratio_cell(summary.compare(name, new.name, old.name)))
        for name in ASKED
    )
    table = render_table(Table("", texts(("", "new / old")), rows))
    said = [escaped(each) for each in printable((*differs, *told))]
    parts = [
        HEAD,
        *said[: len(differs)],
        table.rstrip(),
        of_both(summary.run.plan),
        *said[len(differs) :],
        opening.end(status),
    ]
    return "\n\n".join(parts) + "\n"
