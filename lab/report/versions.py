"""Two versions of an application, compared: a comment for a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lab.analysis.conclusion import Conclusion
from lab.analysis.health import HEADLINE
from lab.analysis.summary import Summary
from lab.analysis.sweep import RunConclusion
from lab.model.document import Cell, Table, printable, texts
from lab.model.metric import METRICS
from lab.model.numbers import bounded, quantity, share
from lab.model.wording import counted
from lab.report import opening
from lab.report.markdown import escaped, fenced, render_table
from lab.report.remarks import load_words
from lab.report.tables import ratio_cell
from lab.report.warnings import POINTERS, with_status

HEAD = "## Performance: new / old"
SAYING = {
    "cpu": "{new} needs {ratio} the CPU per request of {old}",
    "throughput": "{new} serves {ratio} the requests/s of {old}",
    "p99": "the p99 of {new} is {ratio} that of {old}",
    "memory": "{new} needs {ratio} the memory of {old}",
}
"""By metric, in the order of the table."""


def sentence(run_conclusion: RunConclusion, metric: str) -> str:
    """Say how the new version compares by *metric*, in one sentence."""
    (summary,) = run_conclusion.summaries
    old, new = (profile.name for profile in summary.run.plan.profiles)
    comparison = summary.compare(metric, new, old)
    if comparison.ratio is None and comparison.between is None:
        return f"{METRICS[metric].title} of {new} and {old} cannot be compared"
    statement = SAYING[metric].format(new=new, old=old, ratio=bounded(comparison))
    return f"{statement}: {comparison.verdict_text}"


def no_result(why: Sequence[str]) -> str:
    """Return the comment of a run that has none: a branch that does not import, another reply."""
    return f"{HEAD}\n\n**No result.**\n\n{_verbatim(why)}\n"


def _verbatim(lines: Iterable[str]) -> str:
    """Return lines, of a log or of an application's reply, as a block that is no Markdown."""
    return fenced("\n".join(printable("\n".join(lines).splitlines())), "text")


def as_markdown(
    run_conclusion: RunConclusion,
    answer: str,
    differs: Sequence[str],
    limits: Sequence[str],
    end: str,
) -> str:
    """
    Return the result as Markdown.

    Args:
        run_conclusion: What the run comes to.
        answer: The first sentence.
        differs: In what the two differ, in lines.
        limits: What the run says to each limit.
        end: What the exit status means.
    """
    (point,) = run_conclusion.points
    summary, failed = point.summary, [*_failed(point)]
    old, new = summary.run.plan.profiles
    sides = [summary.row(profile.name) for profile in (old, new)]
    rows = tuple(
        (
            Cell(", ".join(filter(None, METRICS[name].column))),
            *(Cell(quantity(name, side.values.get(name))) for side in sides),
            ratio_cell(summary.compare(name, new.name, old.name)),
        )
        for name in SAYING
    )
    table = render_table(Table("", texts(("", "old", "new", "new / old")), rows))
    lines = [escaped(line) for line in printable((*differs, *limits))]
    parts = [
        HEAD,
        f"**{escaped(answer)}.**",
        *lines[: len(differs)],
        *([_verbatim(failed)] if failed else ()),
        table.rstrip(),
        escaped(_load_sentence(summary)),
        *lines[len(differs) :],
        escaped(end),
    ]
    return "\n\n".join(parts) + "\n"


def _failed(conclusion: Conclusion) -> Iterator[str]:
    """Yield that a version failed, and what trials do not count, with why."""
    yield from (
        with_status(warning) for warning in conclusion.warnings if type(warning) in POINTERS
    )
    lost = opening.uncounted(conclusion)
    for name, why in () if lost is None else lost.rows:
        yield f"{name.text}: {why.text}"


def _load_sentence(summary: Summary) -> str:
    """Say what was asked, how often, and how noisy it was."""
    run = summary.run
    noise = share(summary.noise[HEADLINE]) if HEADLINE in summary.noise else "unknown"
    return (
        f"{run.plan.workload.path}: {load_words(run.plan)}, {counted(run.blocks, 'block')}. "
        f"Old compared with itself: {noise} noise in {METRICS[HEADLINE].title}."
    )
