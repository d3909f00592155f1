"""`lab show`: print a profile as `lab run` starts it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from lab.bench import profiles
from lab.cli.options.decorators import shared_option
from lab.cli.options.runtime import runtime, with_private_copy
from lab.cli.types import NAME
from lab.report.edge import say


@click.command("show")
@click.argument("name", metavar="PROFILE", type=NAME)
@shared_option("keep")
@shared_option("drop")
@shared_option("chdir")
@shared_option("cwd")
@shared_option("uwsgi")
@shared_option("python")
@shared_option("env")
@shared_option("env_file")
def show_command(
    *, name: str, keep: Sequence[str], drop: Sequence[str], chdir: Path | None, **given: Any
) -> int:
    """
    Print PROFILE as `lab run` starts it, with everything that it includes.

    For your own configuration this is the private copy; its comments say what differs and what is
    left out. Nothing is started.
    """
    started = runtime(**given, users_config=profiles.is_users_own(name))
    started = with_private_copy(started, keep, drop, chdir)
    profile = profiles.read(name, started)
    profiles.check_keep_and_drop([profile] if profile.private_copy else [], started)
    for line in profiles.lines_of(profile):
        say(line)
    return 0
