"""Two versions of an application, compared: a comment for a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from lab.analysis.together import RunConclusion
from lab.model.comparison import Verdict
from lab.model.metric import METRICS
from lab.report.markdown import escaped, render_table
from lab.report.numbers import bounded
from lab.report.remarks import of_both
from lab.report.tables import Cell, Table, printable, ratio_cell, texts

HEAD = "## Performance: new / old"
SAYING = {
    "cpu": "{new} needs {ratio} the CPU per request of {old}",
    "throughput": "{new} serves {ratio} the requests/s of {old}",
    "p99": "the p99 of {new} is {ratio} that of {old}",
    "memory": "{new} needs {ratio} the memory of {old}",
}
"""By metric, in the order of the table."""


def sentence(found: RunConclusion, metric: str) -> str:
    """Say how the new version compares by *metric*, in one sentence."""
    (summary,) = found.summaries
    old, new = (profile.name for profile in summary.run.plan.profiles)
    comparison = summary.compare(metric, new, old)
    if comparison.ratio is None and comparison.between is None:
        return f"{METRICS[metric].title} of {new} and {old} cannot be compared"
    said = SAYING[metric].format(new=new, old=old, ratio=bounded(comparison))
    if comparison.verdict is Verdict.UNDECIDED and comparison.below is not None:
        return f"{said}: no difference above {comparison.below:.0%}"
    return f"{said}: {comparison.verdict}"


def as_markdown(
    found: RunConclusion, metric: str, differs: Sequence[str], told: Sequence[str], end: str
) -> str:
    """
    Return the result as Markdown.

    Args:
        found: What the run comes to.
        metric: What the first sentence is about.
        differs: In what the two differ, in lines.
        told: What the run says to each limit.
        end: What the exit status means.
    """
    (summary,) = found.summaries
    old, new = summary.run.plan.profiles
    rows = tuple(
        (Cell(METRICS[name].title), ratio_cell(summary.compare(name, new.name, old.name)))
        for name in SAYING
    )
    table = render_table(Table("", texts(("", "new / old")), rows))
    said = [escaped(each) for each in printable((*differs, *told))]
    parts = [
        HEAD,
        f"**{escaped(sentence(found, metric))}.**",
        *said[: len(differs)],
        table.rstrip(),
        of_both(summary.run.plan),
        *said[len(differs) :],
        escaped(end),
    ]
    return "\n\n".join(parts) + "\n"
