"""`lab tune`: what a configuration lacks, before anything is measured. Starts nothing."""

from __future__ import annotations

from pathlib import Path

import click

from lab.dialects.config import Known
from lab.errors import FileError, UsageError
from lab.model.wording import in_a_line, visible_lines
from lab.report.edge import say
from lab.tune.missing import Missing, missing
from lab.tune.read import read
from lab.tune.show import FORMS


@click.command("tune")
@click.argument("configuration", metavar="CONFIG")
@click.option(
    "--dry-run",
    is_flag=True,
    required=True,
    help="Say what is missing, and start nothing. There is no other way yet.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write CONFIG with all of it to FILE, which must not be there yet.",
)
@click.option(
    "--format", "form", type=click.Choice(list(FORMS)), default="text", help="Form of it."
)
@click.option(
    "--connections",
    type=click.IntRange(min=1),
    default=64,
    help="Clients that you expect at once.",
)
@click.option(
    "--container/--no-container",
    default=None,
    help="Whether it runs under a cgroup limit, as PID 1.  [default: a Dockerfile, or docker/]",
)
def tune_command(
    *,
    configuration: str,
    dry_run: bool,
    output: Path | None,
    form: str,
    connections: int,
    container: bool | None,
) -> int:
    """
    Print the lines that CONFIG lacks so that no request is lost, each with its reason.

    CONFIG is a uWSGI ini (uwsgi.ini, uwsgi.ini:section), a gunicorn.conf.py, or a command of
    granian or gunicorn in quotes. The lines are those that `lab lint` knows; none is for speed, and
    none is measured. What a comment `; lab: ignore[CODE]` says is meant so is left out. Nothing is
    started, nothing that stands in CONFIG is run, and CONFIG stays as it is.

    Exit status: 0 nothing is missing; 4 something is; 2 CONFIG cannot be read.
    """
    if not dry_run:
        raise UsageError("lab tune measures nothing yet: write --dry-run")
    known = Known.of_caller(connections=connections)
    found = missing(read(configuration, known, container=container))
    if output is not None and found.lacks:
        _write(output, found)
    text = FORMS[form](found)
    say(text if form == "json" else visible_lines(text), end="")
    return found.status


def _write(path: Path, found: Missing) -> None:
    """Write the configuration with all that it lacks."""
    text = found.after.texts[found.after.file]
    try:
        with path.open("xb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
    except FileExistsError:
        problem = f"--output {in_a_line(str(path))}: it is there already: name another FILE"
        raise UsageError(problem) from None
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror}") from None
    say(f"written: {in_a_line(str(path))}", err=True)
