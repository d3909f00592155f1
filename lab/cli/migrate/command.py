"""`lab migrate`: a configuration of one server as one of another; starts both with --measure."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from lab.cli.migrate.migration import Migration, migrated
from lab.cli.migrate.reader import command_in
from lab.cli.migrate.text import FORMS
from lab.cli.migrate.trial import status_of
from lab.cli.options.decorators import shared_options
from lab.cli.options.table import OPTIONS, Job
from lab.cli.outputs import OUTPUT, write_new
from lab.cli.types import NAME
from lab.config.command import is_command
from lab.config.servers import TRANSLATABLE
from lab.errors import UsageError
from lab.model.sizes import QUICK
from lab.model.wording import in_a_line
from lab.report.edge import say, say_form

MEASURED = (
    *("app", "chdir", "cwd", "python", "uwsgi", "env_file", "keep", "drop"),
    *("path", "method", "data", "header", "cookie", "requests", "static", "writes", "host"),
    *("status", "check", "connections", "connection", "blocks", "minutes", "window", "warmup"),
    *("seed", "pin", "server_share", "results"),
)
"""Options of `lab run` that a measurement takes, too."""


@click.command("migrate")
@click.argument("configuration", metavar="CONFIG", type=NAME)
@click.option(
    "--to", required=True, type=click.Choice(list(TRANSLATABLE)), help="Server to translate to."
)
@click.option(
    "--env",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="Environment variable that CONFIG uses; without =VALUE, the value in your shell; may be "
    "repeated.  [default: it stays a variable]",
)
@click.option(
    "--output",
    type=OUTPUT,
    metavar="FILE",
    help="Write the new configuration to FILE, which must not exist.",
)
@click.option(
    "--format", "form", type=click.Choice(list(FORMS)), default="text", help="Output format."
)
@click.option(
    "--trusted",
    is_flag=True,
    help="Trust CONFIG: read what it includes outside this folder.",
)
@click.option(
    "--measure",
    is_flag=True,
    help="Start both servers and compare them by a run, faults and single requests.",
)
@click.option(
    "--slow-path",
    metavar="/PATH",
    help="Path of a slow reply: checks whether and when the request is ended.",
)
@click.option(
    "--quick-path",
    metavar="/PATH",
    help="Path of a fast reply, for 500 clients at once.  [default: --path]",
)
@shared_options(
    *MEASURED,
    path="/",
    blocks=f"{QUICK.blocks}",
    minutes="",
    window=f"{QUICK.window:g}s",
    warmup=f"{QUICK.warmup:g}s",
    server_share="100%",
)
def migrate_command(
    *,
    configuration: str,
    to: str,
    env: Sequence[str],
    output: Path | None,
    form: str,
    trusted: bool,
    measure: bool,
    slow_path: str | None,
    quick_path: str | None,
    **given: Any,
) -> int:
    """
    Translate CONFIG for another server, and list what changes.

    CONFIG is a uWSGI ini (uwsgi.ini, uwsgi.ini:section), a gunicorn.conf.py, or a command in quotes
    ('granian --workers 4 shop.wsgi:application') or in a file that starts servers (Dockerfile,
    compose.yaml:web). `lab` prints the new configuration and four lists: options that are the same,
    that behave differently, that have no equivalent, and differences that are not visible in the
    configuration.

    `lab` runs nothing of CONFIG, unless you give --measure: then it starts both servers with your
    application and compares them. The options below --quick-path are those of `lab run`.

    Exit status: 0 every option has an equivalent; 4 one has none, or something differs; 3 --measure
    is inconclusive; 2 CONFIG cannot be read.
    """
    name, environ = output.name if output else "", dict(map(_variable, env))
    paths = {"--slow-path": slow_path, "--quick-path": quick_path}
    _check_measured(measure, paths, given)
    is_trusted = trusted or measure  # which starts it
    migration = migrated(configuration, to, environ, name, trusted=is_trusted)
    if output is not None:
        _write(output, migration)
    tried = None
    if measure:
        # The extra `run` has what measures.
        from lab.cli.migrate import measure as measuring  # noqa: PLC0415

        job = Job(env=env, **given)
        chdir = job.chdir and job.chdir.expanduser().resolve()
        left = job.drop
        trial = migrated(configuration, to, environ, drop=left, chdir=chdir, trusted=is_trusted)
        alone = command_in(configuration) if is_command(configuration) else configuration
        trying = measuring.TrialSettings(alone, trial, job, slow_path, quick_path)
        tried = measuring.tried(trying)
    say_form(FORMS[form](migration, tried), form)
    return status_of(migration, tried)


def _check_measured(
    measure: bool, paths: Mapping[str, str | None], given: Mapping[str, Any]
) -> None:
    """Refuse what only a measurement takes, where none is asked for."""
    usual = Job()
    is_set = {
        OPTIONS[name].name: value is not None and value != getattr(usual, name)
        for name, value in given.items()
    }
    is_set |= {name: path is not None for name, path in paths.items()}
    for name, stands in is_set.items():
        if stands and not measure:
            raise UsageError(f"{name} goes with --measure")
    for name, path in paths.items():
        if path is not None and not path.startswith("/"):
            raise UsageError(f"{name} {path}: a path begins with a slash")


def _variable(text: str) -> tuple[str, str]:
    """Return name and value of what stands behind --env."""
    name, equals, value = text.partition("=")
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise UsageError(f"--env {text}: write NAME=VALUE, or NAME for the value that it has here")
    if not equals and name not in os.environ:
        raise UsageError(f"--env {name}: it is not set here: write --env {name}=VALUE")
    return name, value if equals else os.environ[name]


def _check_beside(path: Path, beside: Path) -> None:
    """Refuse, before anything is written, a file whose variables cannot be written beside it."""
    if beside == path:
        problem = "that is what the file of its variables is called: name another FILE"
        raise UsageError(f"--output {in_a_line(str(path))}: {problem}")
    if os.path.lexists(beside) and not os.path.lexists(path):
        problem = "the file exists, and the variables go there: give a FILE in another folder"
        raise UsageError(f"{in_a_line(str(beside))}: {problem}")


def _write(path: Path, migration: Migration) -> None:
    """Write the new configuration, and the file of its variables beside it."""
    files = {path: migration.text}
    if migration.environment:
        beside = path.with_name(migration.environment_file)
        _check_beside(path, beside)
        files[beside] = migration.environment
    for file, text in files.items():
        write_new(file, text)
        say(f"written: {in_a_line(str(file))}", err=True)
