"""What `lab tune` takes beside the options of `lab run`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from lab.cli.options.decorators import shared_options
from lab.cli.types import ParsedType, duration, number, whole_number
from lab.config.servers import GROUPS
from lab.errors import UsageError
from lab.model.wording import size

MEASURED = (
    *("app", "chdir", "cwd", "python", "uwsgi", "env", "env_file", "keep", "drop"),
    *("path", "method", "data", "header", "cookie", "requests", "static", "writes", "host"),
    *("status", "check", "connections", "connection", "window", "warmup"),
    *("seed", "pin", "server_cores", "generator_cores", "server_share", "results"),
)
"""Options of `lab run` that mean what they mean there."""

CONNECTIONS = 64
"""Clients at once, where nothing else is said."""

Command = Callable[..., int]


def groups(_context: click.Context, option: click.Parameter, value: str) -> frozenset[str]:
    """Return the groups that are named, separated by commas."""
    named = frozenset(part.strip() for part in value.split(",") if part.strip())
    for group in sorted(named - GROUPS.keys()):
        raise UsageError(f"{option.opts[0]} {group}: there is no such group; {', '.join(GROUPS)}")
    return named


def measuring(command: Command) -> Command:
    """Take the options of a tune that measures."""
    shown = {"path": "/", "window": "2s", "warmup": "0.5s", "server_share": "100%"}
    command = shared_options(*MEASURED, **shown)(command)
    for made in reversed(_OWN):
        command = made(command)
    return command


_OWN = (
    click.option(
        "--minutes",
        type=number(1, 24 * 60),
        default=10.0,
        help="Total time, including the proof.",
    ),
    click.option(
        "--memory",
        type=ParsedType(size),
        metavar="SIZE",
        help="Maximum memory (PSS) of the server.",
    ),
    click.option("--p99", type=duration, metavar="TIME", help="Maximum p99."),
    click.option(
        "--rate",
        type=number(1, 100_000),
        metavar="R",
        help="Requests/s in production: search the settings that need the least CPU.",
    ),
    click.option(
        "--busy",
        type=whole_number(1, 1_000_000),
        metavar="N",
        help="Requests in flight in production.",
    ),
    click.option(
        "--watch",
        metavar="SERVER",
        help="Take --busy from a running server: watch this port, process, unit or socket for "
        "60 s, as `lab watch` does.",
    ),
    click.option(
        "--db-connections",
        type=whole_number(1, 1_000_000),
        metavar="N",
        help="Connections that your database allows: the maximum of concurrent requests.",
    ),
    click.option(
        "--threads-safe/--one-thread",
        "threads",
        default=None,
        help="Whether the application is thread-safe.  [default: yes if CONFIG has threads]",
    ),
    click.option("--gevent", is_flag=True, help="Also try greenlets."),
    click.option(
        "--only",
        default="",
        callback=groups,
        metavar="GROUPS",
        show_default=False,
        help=f"Change only these groups: {', '.join(GROUPS)}.",
    ),
    click.option(
        "--without",
        default="",
        callback=groups,
        metavar="GROUPS",
        show_default=False,
        help="Do not change these groups.",
    ),
    click.option(
        "--minimal",
        is_flag=True,
        help="Drop changes without a proven effect, and prove the rest again.",
    ),
    click.option(
        "--resume",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        metavar="FOLDER",
        help="Continue an interrupted tune, with the same options.",
    ),
)
