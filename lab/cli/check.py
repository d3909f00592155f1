"""`lab check`: whether this machine is fit to measure, and what its noise allows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import Any

import click
from rich.text import Text

from lab.bench.store import fitness
from lab.bench.store.encoding import encode
from lab.bench.trials.minutes import least_minutes
from lab.bench.trials.noise import sensitivity
from lab.bench.trials.plan import OVERHEAD
from lab.cli.ab.noise import lines
from lab.cli.options.decorators import shared_options
from lab.cli.options.execution import understand
from lab.cli.options.table import Job
from lab.cli.run.comparison import made
from lab.cli.types import duration
from lab.errors import UsageError
from lab.model.sizes import DEFAULT
from lab.report.console import Console
from lab.report.edge import say, say_json
from lab.report.terminal import columns

MARKS = {"ok": ("ok", ""), "warn": ("warn", "yellow"), "fail": ("FAIL", "red")}
"""Level of a finding -> its word and its colour."""

INDENT = " " * 6


@click.command("check")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option(
    "--noise",
    type=duration,
    metavar="TIME",
    help="Measure the noise of this machine for this time, as in 3m, and print what `lab ab` "
    "can detect here and which limit to use.",
)
@click.option("--profile", default="safety", metavar="PROFILE", help="Server for --noise.")
@shared_options("window", "warmup", "results")
def check_command(*, as_json: bool, noise: float | None, profile: str, **sizes: Any) -> int:
    """
    Check whether this machine can measure, and print what to improve.

    Exit status: 0 ready to measure; 1 not ready; with --noise that of `lab run`.
    """
    if noise is not None:
        return _noise(profile, noise, as_json=as_json, **sizes)
    findings = fitness.check()
    if as_json:
        say_json(encode(findings))
    else:
        console = Console()
        wide = max(len(finding.name) for finding in findings)
        for finding in findings:
            for line in _check_lines(finding, wide, columns(console)):
                console.print(line, highlight=False, soft_wrap=True)
        console.print(_verdict(findings), highlight=False, soft_wrap=True)
    return int(any(finding.not_ready for finding in findings))


def _noise(profile: str, seconds: float, *, as_json: bool, **sizes: Any) -> int:
    """Measure the noise of *profile*, and say what it allows; the exit status is the run's."""
    window, warmup = (
        getattr(DEFAULT, name) if sizes[name] is None else sizes[name]
        for name in ("window", "warmup")
    )
    least = least_minutes(2 * (window + warmup + OVERHEAD))
    if seconds < least * 60:
        raise UsageError(f"--noise {seconds:g}s: at least {least}m, which are six blocks")
    job = Job(profiles=(profile,), minutes=seconds / 60, confirm=False, **sizes)
    outcome = made(job, understand(job))
    (summary,) = outcome.conclusion.summaries
    noise_sensitivity = sensitivity(summary)
    if as_json:
        say_json(encode(noise_sensitivity))
    else:
        for line in lines(noise_sensitivity):
            say(line)
    say(f"Run folder: {outcome.folder}", err=True)
    return summary.exit_code


def _verdict(findings: Iterable[fitness.Check]) -> str:
    reasons = "; ".join(finding.not_ready for finding in findings if finding.not_ready)
    return f"\nNot ready to measure: {reasons}." if reasons else "\nReady to measure."


def _check_lines(finding: fitness.Check, wide: int, width: int) -> Iterator[Text]:
    """
    Yield the finding, and below it what it costs and what to do.

    A command stands on one line, however long, so that it can be copied.
    """
    mark, style = MARKS[finding.level]
    yield Text.assemble((f"{mark:<4}", style), f"  {finding.name:<{wide}}  {finding.value}")
    if finding.level == "ok":
        return

    def folded(text: str) -> Iterator[Text]:
        return map(Text, wrap(text, width, initial_indent=INDENT, subsequent_indent=INDENT))

    yield from folded(f"{finding.cost}.")
    for number, part in enumerate(finding.advice.split("`")):
        if number % 2:  # between two backticks
            yield Text(f"{INDENT}  {part}")
        elif (text := part.strip(" ,;")) not in ("", "."):
            yield from folded(text)
