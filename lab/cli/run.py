"""`lab run`: the comparison itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from lab.analysis.thresholds import PLANNED, Threshold, check, parse
from lab.cli.report import FAIL_IF, judged, show
from lab.errors import UsageError
from lab.experiment.conduct import (
    DEFAULT,
    LOADS,
    QUICK,
    Options,
    Outcome,
    Prepared,
    Sizes,
    conduct,
    prepare,
)
from lab.experiment.progress import Progress
from lab.experiment.rates import CAPACITY_BLOCKS, Rate, capacity, parse_rates
from lab.generators.ab import AbGenerator, check_ab
from lab.generators.process import EngineGenerator
from lab.model import Generator, Load
from lab.report.files import files
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


CHDIR = click.option("--chdir", type=click.Path(path_type=Path), help="Folder to import --app in.")
STATUS = click.option("--status", type=int, default=200, help="Status of a correct reply to --app.")
CHECK = click.option(
    "--check",
    "pattern",
    metavar="REGEX",
    help="What a correct reply to --app contains, if it is not always the same.",
)
"""How any command that takes `--app` is told about it."""


@click.command("run")
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
@click.option(
    "--path",
    metavar="/PATH",
    help="Request target; fib takes powers, as /10^99.  [default: /9000, or / with --app]",
)
@CHDIR
@STATUS
@CHECK
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
@click.option(
    "--rate",
    "rate_text",
    metavar="RATES",
    help="Open loop: requests a second, as in 2000, or shares of the slowest profile's measured "
    "capacity, as in 50%,80%,95%; a run for each.",
)
@click.option(
    "--confirm/--no-confirm",
    default=None,
    help="Put each cause to the test by toggling its one setting, in the same blocks.  "
    "[default: confirm, unless --quick]",
)
@FAIL_IF
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
    rate_text: str | None,
    confirm: bool | None,
    limits: tuple[str, ...],
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
    Compare PROFILEs (default: the ladder and two reference lines) and write a run's folder.

    A PROFILE is a name that `lab list` prints, or the path of an ini file of your own. The first
    one is the reference: it runs twice in every block, as the check on the machine.
    """
    if generator_name == "ab":
        check_ab(LOADS[load_name])
        if rate_text is not None:
            raise UsageError("--rate needs the engine: ab knows no rate")
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
        confirm=not quick if confirm is None else confirm,
    )
    thresholds = [parse(limit) for limit in limits]
    rates = parse_rates(rate_text) if rate_text is not None else ()
    if rates:
        _check_open_loop(load, thresholds)
    subject = workload(
        workload_name, app=app, path=path, chdir=chdir, status=status, pattern=pattern
    )

    def compare(options: Options) -> Outcome:
        prepared = prepare(options, subject)
        for each in thresholds:
            check(each, [profile.name for profile in prepared.plan.profiles])
        announce(prepared)
        with Progress(prepared.plan) as progress:
            return conduct(prepared, options, GENERATORS[generator_name](), progress, files)

    outcome = compare(_at_rates(compare, options, rates) if rates else options)
    show(outcome.summaries, as_json=as_json)
    click.echo(f"\nRun folder: {outcome.folder}", err=as_json)
    return judged(outcome.summaries, thresholds)


def _check_open_loop(load: Load, thresholds: Sequence[Threshold]) -> None:
    """
    Refuse what has no meaning in an open loop, before its capacity is measured for minutes.

    Raises:
        UsageError: The load counts its requests, or a threshold is on what the plan sets.
    """
    if load.requests is not None:
        raise UsageError("--rate is for a load that lasts; --load walkthrough counts its requests")
    for each in thresholds:
        if each.metric == "throughput":
            raise UsageError(f"--fail-if {each.text!r} with --rate: {PLANNED}")


def _at_rates(
    compare: Callable[[Options], Outcome], options: Options, rates: Sequence[Rate]
) -> Options:
    """Return *options* for open loops at *rates*; where one is a share, run a closed loop first."""
    measured = 0.0
    if any(rate.is_share for rate in rates):
        blocks = min(CAPACITY_BLOCKS, options.sizes.blocks)
        click.echo("capacity first, in a closed loop:", err=True)
        sizes = replace(options.sizes, blocks=blocks)
        (summary,) = compare(replace(options, sizes=sizes, confirm=False)).summaries
        found = capacity(summary)
        measured = found.rate
        click.echo(f"capacity: {found}", err=True)
    planned = {str(rate): rate.of(measured) for rate in rates}
    for name, rate in planned.items():
        click.echo(f"open loop at {name}: {rate:,.0f} requests a second", err=True)
    if len(planned) > 1:
        return replace(options, rates=planned)
    return replace(options, load=replace(options.load, rate=rate))


def announce(prepared: Prepared) -> None:
    """Say on standard error what is going to happen, before it does."""
    plan = prepared.plan
    for reason in prepared.skipped.values():
        click.echo(f"skipped: {reason}", err=True)
    minutes, seconds = divmod(round(prepared.seconds), 60)
    what = (
        f"{plan.window:g} s" if plan.load.requests is None else f"{plan.load.requests:,} requests"
    )
    several = len(plan.arms) // len(plan.profiles)
    rates = f" at {several} rates" if several > 1 else ""
    click.echo(
        f"{len(plan.profiles)} profiles{rates}, {plan.blocks} blocks with {plan.reference} "
        f"twice in each, {what} a trial, seed {plan.seed}: about {minutes} min {seconds} s",
        err=True,
    )
