"""`lab tune`: better settings for a configuration; with --dry-run what it lacks, unmeasured."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from lab.cli.options.execution import application
from lab.cli.options.table import Job
from lab.cli.outputs import OUTPUT, write_new
from lab.cli.tune.allowed import tries
from lab.cli.tune.missing import MissingSettings, missing
from lab.cli.tune.moves import Facts, ground_of
from lab.cli.tune.options import CONNECTIONS, measuring
from lab.cli.tune.text import FORMS
from lab.cli.types import CONTAINER, NAME
from lab.cli.watch.busy import watched_busy
from lab.config.configuration import Known
from lab.config.reading import named, of_script, read
from lab.config.servers import EDITABLE, GROUPS, TRANSLATABLE, check_serves
from lab.errors import UsageError
from lab.model.wording import in_a_line
from lab.report.edge import say, say_form


@click.command("tune")
@click.argument("configuration", metavar="CONFIG", type=NAME)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print what is missing for safety and what would be tried; start nothing.",
)
@click.option(
    "--output",
    type=OUTPUT,
    metavar="FILE",
    help="Write the result to FILE, which must not exist.  [default: CONFIG with .tuned "
    "before its ending; with --dry-run none]",
)
@click.option(
    "--format", "form", type=click.Choice(list(FORMS)), default="text", help="Output format."
)
@CONTAINER
@click.option(
    "--trusted",
    is_flag=True,
    help="Trust CONFIG: read what it includes outside this folder, and with --dry-run "
    "the environment. Always on without --dry-run.",
)
@click.option(
    "--server",
    "servers",
    multiple=True,
    type=click.Choice(list(TRANSLATABLE)),
    help="Also try CONFIG translated for this server; may be repeated.",
)
@measuring
def tune_command(
    *,
    configuration: str,
    dry_run: bool,
    output: Path | None,
    form: str,
    container: bool | None,
    trusted: bool,
    **given: Any,
) -> int:
    """
    Search better settings of CONFIG for your application on this machine, and prove them.

    CONFIG is a uWSGI ini (uwsgi.ini, uwsgi.ini:section), a gunicorn.conf.py, or a command of
    granian, gunicorn, uvicorn or hypercorn, in quotes or in a file that starts servers
    (Dockerfile). `lab` tries one change, then compares the best combination with CONFIG in new
    trials, and reports only what these show. It writes a copy with the changed lines and their
    reasons; CONFIG stays unchanged. It does not change timeouts, size limits, worker replacement or
    security.

    --dry-run starts nothing and prints the lines that CONFIG lacks to lose no request, with their
    reasons.

    Exit status: 0 better settings, proven and written (--dry-run: nothing is missing); 4 no
    measurable improvement (--dry-run: lines are missing); 3 inconclusive; 2 CONFIG cannot be read.
    """
    if server := given.pop("watch"):
        if given["busy"] is not None or given["connections"] is not None:
            raise UsageError("--watch sets the requests in flight: leave out --busy, --connections")
        given["busy"] = watched_busy(server)
    typed = configuration
    configuration, given["cwd"] = _as_command(typed, given["cwd"], measures=not dry_run)
    options: dict[str, Any] = {name: given.pop(name) for name in _OWN}
    without = options["without"] | (GROUPS.keys() - options["only"] if options["only"] else set())
    if contradicted := options["only"] & options["without"]:
        raise UsageError(f"--only and --without both name {', '.join(sorted(contradicted))}")
    job = Job(**given)
    if dry_run:
        options |= {"without": without, "container": container, "trusted": trusted}
        options["script"] = "" if configuration == typed else typed
        return _lacks(typed, job, options, output, form)
    # The extra `run` has what measures.
    from lab.cli.tune import report, tuning  # noqa: PLC0415

    wanted = tuning.TuneJob(
        configuration,
        job,
        **{name: options[name] for name in _TOLD},
        greenlets=options["gevent"],
        only=frozenset(options["only"]),
        without=frozenset(without),
        output=output,
        container=container,
    )
    tune_result = tuning.tuned(wanted)
    say_form(report.FORMS[form](tune_result), form)
    return tune_result.status


_TOLD = (
    *("minutes", "memory", "p99", "rate", "busy", "db_connections"),
    *("threads", "minimal", "resume", "servers"),
)
_OWN = (*_TOLD, "gevent", "only", "without")
"""Options of a tune alone."""


def _as_command(name: str, cwd: Path | None, *, measures: bool) -> tuple[str, Path | None]:
    """
    Return a start command of a file as if it were typed, and its folder; else what is given.

    A script of a server is edited, but what is measured is its command.
    """
    source = named(name, EDITABLE)
    start = (of_script(source) if measures else source).start
    return (name, cwd) if start is None else (start.text, cwd or start.folder)


def _lacks(name: str, job: Job, options: dict[str, Any], output: Path | None, form: str) -> int:
    """Say what a configuration lacks, and what would be tried."""
    connections = options["busy"] or job.connections or CONNECTIONS
    known = Known.of_caller(connections=connections, db_connections=options["db_connections"])
    given = dict(application(job).runtime.variables.reveal())
    known = known.for_files(given, trusted=options["trusted"])
    config = read(name, known, commands=EDITABLE, container=options["container"])
    cpus = os.cpu_count() or 1
    ground = ground_of(name, config, cpus)
    threads = ground.in_threads if options["threads"] is None else options["threads"]
    facts = Facts(max(2, cpus // 2), connections, threads, options["gevent"])
    servers = [server for server in options["servers"] if server != ground.program]
    for server in servers:
        check_serves(name, ground.service, server)
    tried = [
        *tries(ground, facts, options["without"]),
        *(f"server: {server}" for server in servers),
    ]
    missing_settings = missing(config, tried, options["script"])
    if output is not None and missing_settings.lacks:
        _write(output, missing_settings)
    say_form(FORMS[form](missing_settings), form)
    return missing_settings.status


def _write(path: Path, missing_settings: MissingSettings) -> None:
    """Write the configuration with all that it lacks."""
    write_new(path, missing_settings.after.texts[missing_settings.after.file])
    say(f"written: {in_a_line(str(path))}", err=True)
