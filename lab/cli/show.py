"""`lab show`: a profile as a trial runs it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from lab.bench import profiles
from lab.cli.options.decorators import offered
from lab.cli.options.runtime import runtime, with_copy
from lab.cli.types import NAME
from lab.report.edge import say


@click.command("show")
@click.argument("name", metavar="PROFILE", type=NAME)
@offered("keep")
@offered("drop")
@offered("chdir", help="Folder that stands for the chdir of your ini.")
@offered("cwd")
@offered("uwsgi")
@offered("python")
@offered("env")
@offered("env_file")
def show_command(
    *, name: str, keep: Sequence[str], drop: Sequence[str], chdir: Path | None, **started: Any
) -> int:
    """
    Print PROFILE as a trial runs it, with everything that it includes.

    For your own configuration this is the private copy; its comments say what differs and what is
    left out. Nothing is started.
    """
    theirs = with_copy(runtime(**started, own=profiles.is_theirs(name)), keep, drop, chdir)
    profile = profiles.read(name, theirs)
    profiles.check_named([profile] if profile.own else [], theirs)
    for line in profiles.shown(profile):
        say(line)
    return 0
