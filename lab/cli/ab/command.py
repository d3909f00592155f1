"""`lab ab`: did a new version of an application become slower than the old one?"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from lab.analysis.ending import METRICS, is_over
from lab.analysis.health import gravest
from lab.analysis.judging import UNJUDGED, ThresholdOutcome
from lab.analysis.thresholds import Threshold, check, parse
from lab.bench import profiles
from lab.bench.load.process import EngineGenerator
from lab.bench.store.folder import write_text
from lab.bench.trials import counts
from lab.bench.trials.announcement import announcement
from lab.bench.trials.conduct import Outcome, conduct
from lab.bench.trials.pair import NEW, OLD, prepare_pair, served_alike
from lab.bench.trials.progress import Progress
from lab.bench.trials.replies import TriedOut
from lab.cli.ab.conclusion import PairConclusion, PairRun, verdict_line
from lab.cli.ab.sides import INSTALL, Version, VersionsJob, versions
from lab.cli.options.decorators import FULL, shared_options
from lab.cli.options.execution import application, understand
from lab.cli.options.table import Job
from lab.cli.outputs import OUTPUT
from lab.cli.report import show
from lab.cli.types import NAME
from lab.errors import LabError, OtherReplyError, UsageError
from lab.report.console import Console
from lab.report.edge import say, say_json
from lab.report.files import files
from lab.report.versions import as_markdown, no_result

SAFETY = "safety"
"""The profile of ours that serves --app."""

MINUTES = 10.0
"""At most, where nothing else is asked for."""

OTHERWISE = (
    "--check REGEX describes a correct reply, --new-reply allows the new version other replies; "
    "--header, --cookie and --env authenticate a request that is refused"
)

SHARED = (
    *("app", "chdir", "uwsgi", "env", "env_file", "keep", "drop"),
    *("path", "method", "data", "header", "cookie", "requests", "static", "writes", "host"),
    *("status", "check", "connections", "connection", "window", "warmup"),
    *("quick", "seed", "pin", "server_cores", "generator_cores", "server_share", "turns"),
    *("results", "json", "blocks", "minutes"),
)
"""Options that mean what they mean for `lab run`."""


@click.command("ab")
@click.argument("old", type=NAME)
@click.argument("new", type=NAME)
@click.option(
    "--config",
    metavar="FILE",
    default=SAFETY,
    help="Configuration of your server, or one of the lab's profiles with --app. A relative FILE "
    "is read in the folder of each version; an absolute one is the same for both.",
)
@click.option(
    "--install",
    metavar="COMMAND",
    help="Command that installs the application, run in the folder of the version.  [default: "
    f"{INSTALL}]",
)
@click.option(
    "--python",
    "pythons",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="An existing virtual environment; nothing is installed. Twice: for the old version, "
    "then for the new one.",
)
@click.option(
    "--setup",
    metavar="COMMAND",
    help="Command that is run once in the folder of each version, before the servers.",
)
@click.option(
    "--env-old",
    multiple=True,
    metavar="NAME=VALUE",
    help="Environment variable of the old version only. Its value is not stored.",
)
@click.option(
    "--env-new", multiple=True, metavar="NAME=VALUE", help="The same for the new version."
)
@click.option(
    "--fail-if",
    "limits",
    multiple=True,
    metavar="LIMIT",
    help="Limit: exit with 99 if new/old is beyond it, as in 'cpu > 1.05'; may be repeated.",
)
@click.option(
    "--metric",
    type=click.Choice(METRICS),
    default=METRICS[0],
    help="Metric of the first line. Without a limit the run ends when it is better, worse, or "
    "within 5 %.",
)
@click.option(
    "--count",
    is_flag=True,
    help="Also count instructions in user space and system calls per request (valgrind, strace), "
    "for limits such as 'instructions > 1.02' and 'syscalls > 1'.",
)
@click.option("--new-reply", is_flag=True, help="Allow the new version other replies.")
@click.option(
    "--confirm/--no-confirm",
    default=None,
    help="Before 99, a second run with new processes, another order and swapped folders must "
    "agree.  [default: if CI is set]",
)
@click.option(
    "--markdown",
    type=OUTPUT,
    metavar="FILE",
    help="Write the result as Markdown, for a comment on a pull request.",
)
@shared_options(
    *SHARED, path="/", blocks="as many as fit", minutes=f"{MINUTES:g}", server_share="100%"
)
@FULL
def ab_command(
    *,
    old: str,
    new: str,
    limits: Sequence[str],
    metric: str,
    count: bool,
    confirm: bool | None,
    markdown: Path | None,
    full: bool,
    **given: Any,
) -> int:
    """
    Compare two versions of an application: is NEW slower than OLD?

    OLD and NEW are git revisions of the repository in this folder, or folders (./main for a folder
    with the name of a revision). Revisions are checked out into temporary folders. OLD runs twice
    in each block, to measure the noise. The run ends when each limit of --fail-if is crossed or
    excluded; without a limit, when --metric is decided.

    Exit status: 0 no limit crossed; 99 regression; 3 inconclusive; 1 a version does not run.
    """
    if given["app"] is None and given["config"] in profiles.find():
        raise UsageError(
            "name what to serve: --config deploy/uwsgi.ini, or --app shop.wsgi:application"
        )
    parsed_limits = _limits(limits, metric, count=count)
    confirm = bool(os.environ.get("CI")) if confirm is None else confirm
    request = VersionsJob(
        old=old,
        new=new,
        **{name: given.pop(name) for name in ("config", "install", "setup", "env_old", "env_new")},
        env=given["env"],
        env_file=given["env_file"],
        pythons=given.pop("pythons"),
    )
    measured = partial(_measured, request, parsed_limits, new_reply=given.pop("new_reply"))
    try:
        first = measured(given, swapped=False)
    except LabError as error:
        if markdown is not None:
            write_text(markdown, no_result(error.lines))
        raise
    pair_conclusion, as_json = PairConclusion(first, wanted=confirm), given["json"]
    if not as_json:
        conclusion, folder = first.outcome.conclusion, first.outcome.folder
        say(f"{first.answer(metric)}\n")
        show(conclusion, folder, full=full, as_json=False, tries=False)
    _tell(first.verdicts, pair_conclusion, metric, markdown)
    try:
        if pair_conclusion.is_waited_for:
            say("A limit is crossed: a second run, with swapped folders, must agree", err=True)
            pair_conclusion = replace(
                pair_conclusion, second=measured(given | {"seed": None}, swapped=True)
            )
            _tell(pair_conclusion.verdicts_of_second, pair_conclusion, metric, markdown)
    finally:
        if as_json:
            say_json(pair_conclusion.json)
    if not as_json:
        say(pair_conclusion.end)
    return pair_conclusion.status


def _tell(
    new: Sequence[str], pair_conclusion: PairConclusion, metric: str, markdown: Path | None
) -> None:
    """Say what is new, and write the comment: a second run may fail, or be ended."""
    for line in new:
        say(line, err=True)
    if markdown is not None:
        first = pair_conclusion.first
        conclusion, answer = first.outcome.conclusion, pair_conclusion.answer(metric)
        text = as_markdown(
            conclusion, answer, first.differs, pair_conclusion.verdicts, pair_conclusion.end
        )
        write_text(markdown, text)


@dataclass(frozen=True, slots=True)
class Limits:
    """What decides."""

    thresholds: Sequence[Threshold]
    metric: str
    """Where there are none."""
    counted: Sequence[Threshold] | None
    """Those on counts; None where nothing is counted."""


def _limits(limits: Sequence[str], metric: str, *, count: bool) -> Limits:
    on_counts = tuple(filter(None, map(counts.parse, limits)))
    thresholds = tuple(_limit(limit) for limit in limits if counts.parse(limit) is None)
    if on_counts and not count:
        raise UsageError(f"--fail-if '{on_counts[0].text}': it needs --count")
    if count:
        counts.require_tools()
    return Limits(thresholds, metric, on_counts if count else None)


def _limit(text: str) -> Threshold:
    """
    Return a limit on new/old; `cpu > 1.05` is short for `cpu(new/old) > 1.05`.

    >>> str(_limit("cpu>1.05").metric), _limit("cpu(new/old) > 1.05").limit
    ('cpu', 1.05)
    """
    short = re.fullmatch(r"\s*(\w+)\s*([<>].*)", text)
    limit = parse(f"{short[1]}({NEW}/{OLD}) {short[2]}" if short else text)
    check(limit, (OLD, NEW))
    return limit


def _measured(
    request: VersionsJob,
    limits: Limits,
    given: dict[str, Any],
    *,
    swapped: bool,
    new_reply: bool,
) -> PairRun:
    """Make one run, and judge it."""
    say_err = partial(say, err=True)
    with versions(request, swapped=swapped, say=say_err) as (old, new):
        differs = [*old.differs(new)]
        for line in differs:
            say_err(line)
        outcome, costs = _run(old, new, limits, given, new_reply=new_reply)
    conclusion, counted = outcome.conclusion, 0
    judgements, status = conclusion.judgements, conclusion.status
    lines = [verdict_line(judgement, conclusion.summaries[0].run) for judgement in judgements]
    crossed = {
        judgement.threshold.text
        for judgement in judgements
        if judgement.outcome is ThresholdOutcome.FAILED
    }
    untold = [
        judgement.threshold.text
        for judgement in judgements
        if judgement.outcome is ThresholdOutcome.OPEN
    ]
    if costs is not None:
        count_lines, counted = counts.report(costs, limits.counted or ())
        # Where counts alone decide, it does not matter how noisy the machine is.
        status = 0 if status == UNJUDGED and limits.counted and not limits.thresholds else status
        lines, status = [*lines, *count_lines], gravest(status, counted)
    return PairRun(outcome, differs, lines, frozenset(crossed), counted, status, untold)


def _run(
    old: Version,
    new: Version,
    limits: Limits,
    given: dict[str, Any],
    *,
    new_reply: bool,
) -> tuple[Outcome, tuple[counts.Cost, counts.Cost] | None]:
    jobs = [_job(version, given) for version in (old, new)]
    understood = understand(jobs[0])
    options = replace(
        understood.options,
        thresholds=tuple(threshold.text for threshold in limits.thresholds),
        stay={NEW},
        over=is_over,
        trying=TriedOut.ALL,
        confirm=False,
    )
    workloads = [application(job) for job in jobs]
    sides = [
        (version.config, workload) for version, workload in zip((old, new), workloads, strict=True)
    ]
    prepared = prepare_pair(options, *sides, deciding=limits.metric, new_reply=new_reply)
    if old.folder != new.folder and (place := served_alike(prepared.plan)) is not None:
        raise UsageError(
            f"both versions would serve {place}, which their configuration names: --chdir . "
            "serves each from its own folder, and so does `chdir = %d` in an ini"
        )
    for line in announcement(prepared):
        say(line, err=True)
    costs = None if limits.counted is None else counts.counts(prepared)
    generator = EngineGenerator(prepared.generators)
    try:
        with Progress(prepared.plan, Console(stderr=True)) as progress:
            return conduct(prepared, options, generator, progress, files), costs
    except OtherReplyError as error:
        error.add_note(OTHERWISE)
        raise


def _job(version: Version, given: dict[str, Any]) -> Job:
    """Return what is asked of one version."""
    options = dict(given)
    if options["blocks"] is None and options["minutes"] is None and not options["quick"]:
        options["minutes"] = MINUTES
    options["env"] = (*options["env"], *version.env)
    folder = version.folder / (options["chdir"] or "")
    if not folder.is_dir():
        raise UsageError(f"--chdir {options['chdir']}: {version.given} has no such folder")
    # Where a configuration says what is served, its own chdir counts, unless one was named.
    options["chdir"] = folder if options["app"] or options["chdir"] else None
    return Job(profiles=(version.config,), python=version.python, cwd=folder, **options)
