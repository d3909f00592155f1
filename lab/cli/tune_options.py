"""What `lab tune` takes beside the options of `lab run`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from lab.cli.options import Seconds, offered
from lab.dialects.vocabulary.wanted import GROUPS
from lab.errors import UsageError

MEASURED = (
    *("app", "chdir", "cwd", "python", "uwsgi", "env", "env_file", "keep", "drop"),
    *("path", "method", "data", "header", "cookie", "requests", "static", "writes", "host"),
    *("status", "check", "connections", "connection", "window", "warmup"),
    *("seed", "pin", "server_cores", "generator_cores", "results"),
)
"""Options of `lab run` that mean what they mean there."""

CONNECTIONS = 64
"""Clients at once, where nothing else is said."""

SHOWN = {"path": "/", "window": "2s", "warmup": "0.5s"}
"""What the help says of those whose default is another one."""

Command = Callable[..., int]


class Size(click.ParamType[float]):
    """A size such as 512M or 2G; in bytes."""

    name = "size"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return bytes, or fail with an example."""
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG])(i?B?)", str(value), re.IGNORECASE)
        if found is None:
            self.fail(f"{value!r}: write it as in 512M", param, ctx)
        base = 1000 if found[3].upper() == "B" else 1024
        return float(found[1]) * float(base ** ("KMG".index(found[2].upper()) + 1))


def groups(_context: click.Context, option: click.Parameter, value: str) -> frozenset[str]:
    """Return the groups that are named, separated by commas."""
    named = frozenset(part.strip() for part in value.split(",") if part.strip())
    for each in sorted(named - GROUPS.keys()):
        raise UsageError(f"{option.opts[0]} {each}: there is no such group; {', '.join(GROUPS)}")
    return named


def measuring(command: Command) -> Command:
    """Take the options of a tune that measures."""
    for name in reversed(MEASURED):
        changed = {"shown": SHOWN[name]} if name in SHOWN else {}
        command = offered(name, **changed)(command)
    for made in reversed(_OWN):
        command = made(command)
    return command


_OWN = (
    click.option(
        "--minutes",
        type=click.FloatRange(min=1, max=24 * 60),
        default=10.0,
        help="Time, the proof included.",
    ),
    click.option(
        "--memory", type=Size(), metavar="SIZE", help="Memory (PSS) of the server at the most."
    ),
    click.option("--p99", type=Seconds(), metavar="TIME", help="Its p99 at the most."),
    click.option(
        "--rate",
        type=click.FloatRange(min=1),
        metavar="R",
        help="Requests/s that come: then the settings are looked for that need the least CPU.",
    ),
    click.option(
        "--busy",
        type=click.IntRange(min=1),
        metavar="N",
        help="Requests that are under way at once in production.",
    ),
    click.option(
        "--db-connections",
        type=click.IntRange(min=1),
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
