"""`lab report` and `lab compare`: what stored runs say. Neither needs a server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from lab.analysis.across import across
from lab.analysis.comparable import require_comparable
from lab.analysis.health import gravest
from lab.analysis.judging import exit_code, judge_across
from lab.analysis.points import summaries
from lab.analysis.summary import Summary
from lab.analysis.sweep import RunConclusion, conclude_run
from lab.analysis.thresholds import check, parse
from lab.bench.machine import project
from lab.bench.store.folder import find_run, read_run, write_text
from lab.cli.options.decorators import FOLDER, FULL, shared_option
from lab.cli.outputs import OUTPUT
from lab.cli.types import NAME
from lab.errors import UsageError
from lab.model.document import Document
from lab.report import across as across_report
from lab.report import markdown, opening, summary_json
from lab.report.edge import say, say_json
from lab.report.sweep import WHOLE, documents
from lab.report.thresholds import lines

RESULTS = click.option(
    "--results",
    type=FOLDER,
    default=Path("results"),
    help="Folder of the runs.",
)
MARKDOWN = click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command("report")
@click.argument("run", default="latest", type=NAME)
@RESULTS
@MARKDOWN
@JSON
@click.option(
    "--html",
    "page",
    type=OUTPUT,
    help="Write an offline HTML page to this file.",
)
@FULL
@click.option("--at", metavar="VALUE", help="Value of a sweep to report.")
@shared_option("fail_if")
def report_command(
    *,
    run: str,
    at: str | None,
    results: Path,
    as_markdown: bool,
    as_json: bool,
    page: Path | None,
    full: bool,
    fail_if: tuple[str, ...],
) -> int:
    """
    Print the report of RUN: a folder, its name, or "latest".

    Without --fail-if, the limits are those of the run.
    """
    given = [parse(limit) for limit in fail_if]
    folder = find_run(results, run)
    stored_run = read_run(folder)
    for threshold in given:
        check(threshold, [profile.name for profile in stored_run.plan.profiles])
    run_conclusion = conclude_run(_chosen(summaries(stored_run), at), given or None)
    if page is not None:
        from lab.report.files import pages  # noqa: PLC0415 - as `_print`, of Jinja and matplotlib

        for name, text in pages(page, run_conclusion):
            write_text(Path(name), text)
            say(name)
    elif as_markdown:
        say(markdown.render(run_conclusion), end="")
    else:
        show(run_conclusion, folder, full=full, as_json=as_json)
    return judged(run_conclusion, quiet=page is not None or as_markdown or as_json)


@click.command("compare")
@click.argument("before", type=NAME)
@click.argument("after", type=NAME)
@RESULTS
@MARKDOWN
@JSON
@shared_option("fail_if")
def compare_command(
    *,
    before: str,
    after: str,
    results: Path,
    as_markdown: bool,
    as_json: bool,
    fail_if: tuple[str, ...],
) -> int:
    """
    Compare two runs of the same profiles on the same machine, such as of two commits.

    Each profile is compared with the reference of its run, because absolute figures of two days are
    not comparable. --fail-if is about the change from BEFORE to AFTER.
    """
    thresholds = [parse(limit) for limit in fail_if]
    first, second = (read_run(find_run(results, name)) for name in (before, after))
    differing = require_comparable(first, second)
    known = {profile.name for profile in first.plan.profiles}
    for threshold in thresholds:
        check(threshold, [p.name for p in second.plan.profiles if p.name in known])
    worst, documents = 0, []
    # Runs that may be compared have the same rates.
    for pair in zip(summaries(first), summaries(second), strict=True):
        comparison = across(*pair)
        judgements = [judge_across(threshold, comparison) for threshold in thresholds]
        status = exit_code(judgements, comparison.exit_code)
        worst = gravest(worst, status)
        if as_json:
            documents.append(across_report.render_json(comparison, differing, judgements, status))
            continue
        document = across_report.document(comparison, differing, judgements)
        if as_markdown:
            say(markdown.render_document(document), end="")
        else:
            _print(document)
    if as_json:
        say_json(summary_json.joined(documents))
    return worst


def _chosen(run_summaries: Sequence[Summary], at: str | None) -> Sequence[Summary]:
    """Return what is said at the value *at*; all where it is None. Raises UsageError."""
    if at is None:
        return run_summaries
    values = [value for summary in run_summaries for value in summary.run.plan.arms[0].at.values()]
    if len(run_summaries) == 1 or at not in values:
        known = (
            f"one of {', '.join(values)}"
            if len(run_summaries) > 1
            else "the run has one load: leave it out"
        )
        raise UsageError(f"--at {at}: {known}")
    return [run_summaries[values.index(at)]]


def show(
    run_conclusion: RunConclusion, folder: Path, *, full: bool, as_json: bool, tries: bool = True
) -> None:
    """
    Print one screen of a run in *folder*; in full all of it, and of a few values each one's.

    Args:
        run_conclusion: What it comes to.
        folder: The run's.
        full: Whether all of it is printed.
        as_json: Whether it is printed as JSON.
        tries: Whether the screen says what to try next.
    """
    if as_json:
        say_json(summary_json.render(run_conclusion))
        return
    shown = list(
        documents(run_conclusion)
        if full
        else opening.documents(run_conclusion, _next_steps(folder, tries=tries))
    )
    for content in shown if len(run_conclusion.points) <= WHOLE or not full else shown[:1]:
        _print(content)


def _print(content: Document) -> None:
    """Print a report on the terminal, or into a pipe."""
    # The extra `run` has what tables on a terminal need; Markdown and JSON do without.
    from lab.report.console import Console  # noqa: PLC0415
    from lab.report.terminal import show_document  # noqa: PLC0415

    show_document(content, Console())


def judged(run_conclusion: RunConclusion, *, quiet: bool) -> int:
    """
    Print what a run says to its limits on standard error, and return its exit status.

    Unless *quiet* what the status means stands below the report.
    """
    if not quiet:
        say(opening.exit_text(run_conclusion.status, run_conclusion))
    for line in lines(run_conclusion):
        say(line, err=True)
    return run_conclusion.status


def _next_steps(folder: Path, *, tries: bool) -> opening.NextSteps:
    """Return the next steps for a run in *folder*, with paths relative to the current folder."""
    here = Path.cwd()
    shown = folder.relative_to(here) if folder.is_relative_to(here) else folder
    page = shown / "report.html"
    return opening.NextSteps(
        project.lab_command(), str(shown), str(page) if page.exists() else None, tries
    )
