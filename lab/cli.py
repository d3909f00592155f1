"""The `lab` command: one of the two doors to the experiment (the other is Locust)."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from lab import check as machine
from lab import profiles
from lab.analysis.summary import Summary, summarise
from lab.errors import LabError
from lab.experiment import DEFAULT, LOADS, QUICK, Options, Prepared, Sizes, conduct, prepare
from lab.generators.ab import AbGenerator, check_ab
from lab.generators.process import EngineGenerator
from lab.interrupts import interruptible
from lab.model import Generator
from lab.progress import Progress
from lab.report import json as json_report
from lab.report import markdown, terminal
from lab.results import encode, find_run, read_run
from lab.workloads import NAMES, workload

GENERATORS: dict[str, Callable[[], Generator]] = {"engine": EngineGenerator, "ab": AbGenerator}


class Seconds(click.ParamType[float]):
    """A duration such as 3, 2.5s, 500ms or 1m; in seconds."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return seconds, or fail with an example."""
        if isinstance(value, int | float):
            return float(value)
        match = re.fullmatch(r"(\d*\.?\d+)(ms|s|m)?", value)
        if match is None:
            self.fail(f"{value!r} is no duration; write 3, 2.5s, 500ms or 1m", param, ctx)
        return float(match[1]) * {"ms": 0.001, "m": 60.0}.get(match[2], 1.0)


def main() -> None:
    """Run the command line; turn an error into its message and exit status."""
    try:
        with interruptible():
            status = cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except LabError as error:
        for line in (f"lab: {error}", *getattr(error, "__notes__", ())):
            click.echo(line, err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:  # the reader of our output, such as `head`, has seen enough
        sys.stderr.close()
        sys.exit(1)
    sys.exit(status)


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    epilog="Exit status: 0 done, 1 failed, 2 wrong usage, 3 this machine could not measure it, "
    "130 interrupted.",
)
@click.version_option(package_name="uwsgi-fibonacci-lab")
def cli() -> None:
    """
    Compare server profiles under load: what changed, by how much, and does it mean anything.

    \b
    lab run --quick                                the whole ladder, in five minutes
    lab run --app mysite.wsgi:app --path /items/3  the same profiles on your application
    """  # noqa: D301 - click wants the control character itself


@cli.command("run")
@click.argument("names", nargs=-1, metavar="[PROFILE]...")
@click.option(
    "--profiles",
    is_flag=True,
    expose_value=False,
    show_default=False,
    help="May stand before the names, as with locust.",
)
@click.option(
    "--workload",
    "workload_name",
    type=click.Choice(NAMES),
    default="fib",
    help="Application and request of ours.",
)
@click.option("--app", metavar="MODULE:CALLABLE", help="Your WSGI application instead.")
@click.option("--path", metavar="/PATH", help="Request target.  [default: /9000, or / with --app]")
@click.option("--chdir", type=click.Path(path_type=Path), help="Folder to import --app in.")
@click.option("--status", type=int, default=200, help="Status of a correct reply to --app.")
@click.option(
    "--check",
    "pattern",
    metavar="REGEX",
    help="What a correct reply to --app contains, if it is not always the same.",
)
@click.option(
    "--load",
    "load_name",
    type=click.Choice(list(LOADS)),
    default="sustained",
    help="walkthrough: 500 clients at once, 5,000 requests, a connection each.",
)
@click.option(
    "--generator",
    "generator_name",
    type=click.Choice(list(GENERATORS)),
    default="engine",
    help="ab: the articles' tool, for --load walkthrough; it checks no body.",
)
@click.option("--connections", type=int, help="Connections of the load.  [default: 64]")
@click.option(
    "--connection",
    type=click.Choice(["keep-alive", "close"]),
    help="Let the server keep connections open, or one request each.",
)
@click.option("--blocks", type=int, help=f"Blocks.  [default: {DEFAULT.blocks}]")
@click.option("--window", type=Seconds(), help=f"Measured time.  [default: {DEFAULT.window:g}s]")
@click.option(
    "--warmup", type=Seconds(), help=f"Unrecorded time before.  [default: {DEFAULT.warmup:g}s]"
)
@click.option(
    "--quick",
    is_flag=True,
    show_default=False,
    help=f"{QUICK.blocks} blocks of {QUICK.window:g} s windows.",
)
@click.option("--seed", type=int, help="Repeat the order of an earlier run.")
@click.option("--pin/--no-pin", default=True, help="Server and generator on cores of their own.")
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=Path("results"),
    help="Where the run's folder is made.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def run_command(
    *,
    names: tuple[str, ...],
    load_name: str,
    generator_name: str,
    connections: int | None,
    connection: str | None,
    blocks: int | None,
    window: float | None,
    warmup: float | None,
    quick: bool,
    seed: int | None,
    pin: bool,
    results: Path,
    as_json: bool,
    workload_name: str,
    app: str | None,
    path: str | None,
    chdir: Path | None,
    status: int,
    pattern: str | None,
) -> int:
    """
    Compare PROFILEs (default: the whole ladder) and write a run's folder.

    A PROFILE is a name that `lab list` prints, or the path of an ini file of your own. The first
    one is the reference: it runs twice in every block, as the check on the machine.
    """
    if generator_name == "ab":
        check_ab(LOADS[load_name])
    size = QUICK if quick else DEFAULT
    load = LOADS[load_name]
    options = Options(
        profiles=names,
        load=replace(
            load,
            connections=load.connections if connections is None else connections,
            keepalive=load.keepalive if connection is None else connection == "keep-alive",
        ),
        sizes=Sizes(
            size.blocks if blocks is None else blocks,
            size.window if window is None else window,
            size.warmup if warmup is None else warmup,
        ),
        seed=seed,
        results=results,
        pin=pin,
    )
    prepared = prepare(
        options,
        workload(workload_name, app=app, path=path, chdir=chdir, status=status, pattern=pattern),
    )
    announce(prepared)
    with Progress(prepared.plan) as progress:
        outcome = conduct(prepared, options, GENERATORS[generator_name](), progress)
    _show(outcome.summary, as_json=as_json)
    click.echo(f"\nRun folder: {outcome.folder}", err=as_json)
    return outcome.summary.exit_code


@cli.command("report")
@click.argument("run", default="latest")
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=Path("results"),
    help="Where runs are looked for.",
)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def report_command(*, run: str, results: Path, as_markdown: bool, as_json: bool) -> int:
    """Print the report of RUN: a folder, its name, or "latest". Needs no server."""
    summary = summarise(read_run(find_run(results, run)))
    if as_markdown:
        click.echo(markdown.render(summary), nl=False)
    else:
        _show(summary, as_json=as_json)
    return summary.exit_code


@cli.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the profiles as JSON.")
def list_command(*, as_json: bool) -> int:
    """List the profiles: what each changes, and against which."""
    ladder = profiles.ladder()
    found = [profiles.read(name) for name in profiles.find()]
    found.sort(
        key=lambda each: (
            each.name not in ladder,
            each.server != "uwsgi",
            ladder.index(each.name) if each.name in ladder else 0,
            each.name,
        )
    )
    if as_json:
        click.echo(
            encode(
                [
                    {
                        "name": each.name,
                        "server": each.server,
                        "path": each.path,
                        "summary": each.summary,
                        "against": each.against,
                        "ladder": each.name in ladder,
                    }
                    for each in found
                ]
            )
        )
        return 0
    table = Table(box=None, pad_edge=False)
    for title in ("Profile", "What it changes", "Against"):
        table.add_column(title)
    for each in found:
        if each.name not in ladder and found[found.index(each) - 1].name in ladder:
            table.add_row("", "", "")
        table.add_row(each.name, each.summary, each.against or "-")
    Console().print(table)
    click.echo(f"\nThe first {len(ladder)} are the ladder, which `lab run` compares by default.")
    return 0


@cli.command("check")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def check_command(*, as_json: bool) -> int:
    """Say whether this machine is fit to measure, and what each missing thing costs."""
    findings = machine.check()
    if as_json:
        click.echo(encode(findings))
    else:
        table = Table(box=None, pad_edge=False)
        for title in ("", "What", "Found", "What it costs, what to do"):
            table.add_column(title)
        for each in findings:
            table.add_row(*_check_row(each))
        Console().print(table)
    return 3 if any(each.level == "fail" for each in findings) else 0


def announce(prepared: Prepared) -> None:
    """Say on standard error what is going to happen, before it does."""
    plan = prepared.plan
    for reason in prepared.skipped.values():
        click.echo(f"skipped: {reason}", err=True)
    minutes, seconds = divmod(round(prepared.seconds), 60)
    what = (
        f"{plan.window:g} s" if plan.load.requests is None else f"{plan.load.requests:,} requests"
    )
    click.echo(
        f"{len(plan.profiles)} profiles, {plan.blocks} blocks with {plan.reference} twice in each, "
        f"{what} a trial, seed {plan.seed}: about {minutes} min {seconds} s",
        err=True,
    )


def _show(summary: Summary, *, as_json: bool) -> None:
    if as_json:
        click.echo(json_report.render(summary), nl=False)
    else:
        terminal.show(summary, Console())


def _check_row(finding: machine.Check) -> tuple[str, str, str, str]:
    mark = {"ok": "ok", "warn": "[yellow]warn[/]", "fail": "[red]FAIL[/]"}[finding.level]
    note = "" if finding.level == "ok" else f"{finding.cost}. {finding.advice}"
    return mark, finding.name, finding.value, note
