"""What `lab run` is given. What measures is imported when the names are known to be right."""

from __future__ import annotations

from typing import Any

import click

from lab.bench.profiles.catalogue import check_names
from lab.cli.options.decorators import FULL, all_shared_options, named_profiles
from lab.cli.options.table import Job


@click.command("run")
@all_shared_options
@FULL
@named_profiles("locust")
def run_command(*, names: tuple[str, ...], full: bool, **given: Any) -> int:
    """
    Compare PROFILEs under load (default: the article's steps, for 15 minutes).

    A trial starts one server and loads it for seconds. A block has a trial of every PROFILE, in
    shuffled order. The first PROFILE is the reference: it runs twice in each block, to measure the
    noise.

    Without PROFILE the load begins at once and lasts 15 minutes: the ladder, which is the
    article's configurations and further ones, each with one change more than the one before it, and
    two reference lines. With --quick it compares baseline, processes-threads and safety, for 3
    minutes.

    A PROFILE is a name that `lab list` prints, or your own configuration: a uWSGI ini (uwsgi.ini,
    uwsgi.ini:section), a gunicorn.conf.py, or a command, in quotes ('granian --interface wsgi
    shop.wsgi:application') or in a file that starts servers (Dockerfile, compose.yaml:web). `lab`
    starts a private copy of yours, without options that act outside of the trial; `lab show
    PROFILE` prints that copy.
    """
    check_names(names)
    from lab.cli.run.comparison import compare  # noqa: PLC0415 - see above

    return compare(Job(profiles=names, **given), full=full)
