"""What `lab run` is given. What measures is imported when the names are known to be right."""

from __future__ import annotations

from typing import Any

import click

from lab.bench.profiles.catalogue import check_names
from lab.cli.options.decorators import FULL, every_option, named_profiles
from lab.cli.options.table import Job


@click.command("run")
@named_profiles("locust")
@every_option
@FULL
def run_command(*, names: tuple[str, ...], full: bool, **given: Any) -> int:
    """
    Compare PROFILEs (default: the ladder and two reference lines) and write a run's folder.

    A PROFILE is a name that `lab list` prints, or a configuration of your own: a uWSGI ini
    (uwsgi.ini, uwsgi.ini:section), a gunicorn.conf.py, or a whole command, in quotes ('granian
    --interface wsgi mysite.wsgi:app') or in a Procfile (Procfile:web). Yours is not changed: a
    private copy listens where the lab asks, and leaves out what would reach beyond it; `lab show
    PROFILE` prints that copy.

    The first one is the reference: it runs twice in every block, as the check on the machine.
    """
    check_names(names)
    from lab.cli.run.comparison import compare  # noqa: PLC0415 - see above

    return compare(Job(profiles=names, **given), full=full)
