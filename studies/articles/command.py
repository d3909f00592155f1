"""`lab claims`: what runs say to the articles' claims, and with --run the runs that are missing."""

from __future__ import annotations

from pathlib import Path

import click

from lab.bench.store.folder import find_run, read_run
from lab.cli.options.decorators import shared_option
from lab.cli.report import JSON, MARKDOWN
from lab.cli.types import duration
from lab.errors import UsageError
from lab.model.wording import seconds
from lab.report import markdown, terminal
from lab.report.console import Console
from lab.report.edge import say, say_json
from studies import articles
from studies.articles import show
from studies.articles.claim import ClaimVerdict
from studies.articles.missing import RESULTS, Ledger, Wanted, make_runs

BUDGET = "60m"
"""Time that --run takes, where nothing is said."""


@click.command("claims")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    help="Where RUNs are looked for, and with --run made. Without RUN what is there counts beside "
    f"the stored runs.  [default: {RESULTS}]",
)
@MARKDOWN
@JSON
@click.option("--run", "missing", is_flag=True, help="Make the runs that the open claims need.")
@click.option(
    "--budget",
    type=duration,
    help="Time for --run, such as 30m: a run that is expected to last longer than what is left of "
    f"it is not begun.  [default: {BUDGET}]",
)
@shared_option("blocks", help="Blocks of each run that --run makes.")
@shared_option("smallest", help="Smallest difference that they have to see, as in 20%.")
@shared_option("server_cores", help="CPUs of their servers, as in 0,2-3.")
@shared_option("generator_cores", help="CPUs of their load.")
def claims_command(
    *,
    runs: tuple[str, ...],
    results: Path | None,
    as_markdown: bool,
    as_json: bool,
    missing: bool,
    budget: float | None,
    blocks: int | None,
    smallest: float | None,
    server_cores: str | None,
    generator_cores: str | None,
) -> int:
    """
    Compare stored runs with what the articles claim, or make the runs that are missing.

    With RUN: what these runs say, and no other. Without RUN: what this project's stored runs
    decided, and with --results the runs there as well; and what the open claims take.

    With --run the open claims are asked, as many as there is time for: one run for all that need
    the same workload and load. What the stored runs or those under --results have decided is not
    asked again, so the same command goes on where the last one ended, however it ended. A run that
    ended early or with exit status 3 decides nothing, and is repeated. One that left a claim
    open is not: --blocks asks it with more.
    """
    if missing:
        if runs or as_markdown or as_json:
            raise UsageError("--run: leave out RUN, --markdown and --json; it makes runs")
        time = seconds(BUDGET) if budget is None else budget
        cores = server_cores, generator_cores
        return make_runs(Wanted(results or RESULTS, time, blocks, smallest, *cores))
    for name, value in {
        "--budget": budget,
        "--blocks": blocks,
        "--smallest": smallest,
        "--server-cores": server_cores,
        "--generator-cores": generator_cores,
    }.items():
        if value is not None:
            raise UsageError(f"{name} says how runs are made: add --run, or leave it out")
    verdicts = _said(runs, results)
    if as_json:
        say_json(show.render_json(verdicts))
    elif as_markdown:
        say(markdown.render_document(show.document(verdicts)), end="")
    else:
        make_document = show.document if runs else show.overview
        terminal.show_document(make_document(verdicts), Console())
    return 0


def _said(runs: tuple[str, ...], results: Path | None) -> tuple[ClaimVerdict, ...]:
    """Return what RUNs say; without any, the stored runs and those of a folder that was named."""
    if results is not None and not results.is_dir():
        problem = "is a file, not a folder" if results.exists() else "the folder does not exist"
        raise UsageError(f"--results {results}: {problem}")
    if results is not None and not runs:
        return Ledger(results).verdicts()
    folders = [find_run(results or RESULTS, name) for name in runs] or articles.stored_runs()
    return articles.verdicts([read_run(folder) for folder in folders])
