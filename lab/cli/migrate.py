"""`lab migrate`: a configuration of one server as one of another. Starts nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from lab.dialects.vocabulary.translators import TRANSLATORS
from lab.errors import FileError, UsageError
from lab.migrate.migrated import Migrated, migrated
from lab.migrate.show import FORMS
from lab.model.wording import in_a_line, visible_lines
from lab.report.edge import say


@click.command("migrate")
@click.argument("configuration", metavar="CONFIG")
@click.option("--to", required=True, type=click.Choice(list(TRANSLATORS)), help="The other server.")
@click.option(
    "--env",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="Environment variable that CONFIG names, without =VALUE the caller's own; may be "
    "repeated.  [default: it stays a variable]",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the new configuration to FILE, which must not be there yet.",
)
@click.option(
    "--format", "form", type=click.Choice(list(FORMS)), default="text", help="Form of it."
)
def migrate_command(
    *, configuration: str, to: str, env: Sequence[str], output: Path | None, form: str
) -> int:
    """
    Print CONFIG as a configuration of another server, and what that changes.

    CONFIG is a uWSGI ini (uwsgi.ini, uwsgi.ini:section), a gunicorn.conf.py, or a command in
    quotes ('granian --workers 4 mysite.wsgi:application'). Each line says what it was. Below
    stand what is the same, what means something else, what is lost, with the way out, and in what
    the servers differ though no option shows it. Nothing is started, and nothing that stands in
    CONFIG is run.

    Exit status: 0 all is carried over; 4 something is lost, or means something else; 2 CONFIG
    cannot be read.
    """
    name = output.name if output else ""
    found = migrated(configuration, to, dict(map(_variable, env)), name)
    if output is not None:
        _write(output, found)
    text = FORMS[form](found)
    say(text if form == "json" else visible_lines(text), end="")
    return found.status


def _variable(text: str) -> tuple[str, str]:
    """Return name and value of what stands behind --env."""
    name, equals, value = text.partition("=")
    if not equals and name not in os.environ:
        raise UsageError(f"--env {name}: it is not set here: write --env {name}=VALUE")
    return name, value if equals else os.environ[name]


def _write(path: Path, found: Migrated) -> None:
    """Write the new configuration, and the file of its variables beside it."""
    files = {path: found.text}
    if found.environment:
        files[path.with_name(found.environment_file)] = found.environment
    for each, text in files.items():
        try:
            with each.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            problem = f"--output {in_a_line(str(each))}: it is there already: name another FILE"
            raise UsageError(problem) from None
        except OSError as error:
            raise FileError(each, f"cannot be written: {error.strerror}") from None
        say(f"written: {in_a_line(str(each))}", err=True)
