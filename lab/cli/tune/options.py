"""What `lab tune` takes beside the options of `lab run`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from lab.cli.options.decorators import each_of
from lab.cli.types import ParsedType, duration, number, whole_number
from lab.config.servers import GROUPS
from lab.errors import UsageError
from lab.model.wording import size

MEASURED = (
    *("app", "chdir", "cwd", "python", "uwsgi", "env", "env_file", "keep", "drop"),
    *("path", "method", "data", "header", "cookie", "requests", "static", "writes", "host"),
    *("status", "check", "connections", "connection", "window", "warmup"),
    *("seed", "pin", "server_cores", "generator_cores", "results"),
)
"""Options of `lab run` that mean what they mean there."""

CONNECTIONS = 64
"""Clients at once, where nothing else is said."""

Command = Callable[..., int]


def groups(_context: click.Context, option: click.Parameter, value: str) -> frozenset[str]:
    """Return the groups that are named, separated by commas."""
    named = frozenset(part.strip() for part in value.split(",") if part.strip())
    for each in sorted(named - GROUPS.keys()):
        raise UsageError(f"{option.opts[0]} {each}: there is no such group; {', '.join(GROUPS)}")
    return named


def measuring(command: Command) -> Command:
    """Take the options of a tune that measures."""
    command = each_of(*MEASURED, path="/", window="2s", warmup="0.5s")(command)
    for made in reversed(_OWN):
        command = made(command)
    return command


_OWN = (
    click.option(
        "--minutes",
        type=number(1, 24 * 60),
        default=10.0,
        help="Time, the proof included.",
    ),
    click.option(
        "--memory",
        type=ParsedType(size),
        metavar="SIZE",
        help="Memory (PSS) of the server at the most.",
    ),
    click.option("--p99", type=duration, metavar="TIME", help="Its p99 at the most."),
    click.option(
        "--rate",
        type=number(1, 100_000),
        metavar="R",
        help="Requests/s that come: then the settings are looked for that need the least CPU.",
    ),
    click.option(
        "--busy",
        type=whole_number(1, 1_000_000),
        metavar="N",
        help="Requests that are under way at once in production.",
    ),
    click.option(
        "--db-connections",
        type=whole_number(1, 1_000_000),
        metavar="N",
        help="Connections that your database allows: at most so many requests run at once.",
    ),
    click.option(
        "--threads-safe/--one-thread",
        "threads",
        default=None,
        help="May the application run in threads?  [default: if CONFIG has threads]",
    ),
    click.option("--gevent", is_flag=True, help="Try greenlets as well."),
    click.option(
        "--only",
        default="",
        callback=groups,
        metavar="GROUPS",
        show_default=False,
        help=f"Change these alone: {', '.join(GROUPS)}.",
    ),
    click.option(
        "--without",
        default="",
        callback=groups,
        metavar="GROUPS",
        show_default=False,
        help="Leave these as they are.",
    ),
    click.option(
        "--minimal",
        is_flag=True,
        help="Leave out what is not shown to matter, and prove the rest again.",
    ),
    click.option(
        "--resume",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        metavar="FOLDER",
        help="Go on where a tune ended; give it the same options.",
    ),
)
