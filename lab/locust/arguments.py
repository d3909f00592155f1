"""
The options of a comparison, on Locust's command line and in its web form.

Locust has a `--profile` of its own, which groups test runs; ours is `--profiles`. The four
attributes that its web form looks at are set on the returned action, because argument groups
refuse them as keywords.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from locust import events

from lab import profiles
from lab.experiment import DEFAULT, LOADS, Options, Sizes
from lab.model import Workload
from lab.workloads import NAMES, workload


@events.init_command_line_parser.add_listener
def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add a group of our own to Locust's parser."""
    group = parser.add_argument_group(
        "Comparison of server profiles",
        "With --host, and --profiles left alone, a server that already runs is loaded instead.",
    )

    def add(name: str, *, several: bool = False, **arguments: Any) -> None:
        action: Any = group.add_argument(name, **arguments)
        action.include_in_web_ui = True
        action.is_multiple = several
        action.is_secret = action.is_required = False

    add(
        "--profiles",
        several=True,
        nargs="*",
        # Not empty: Locust takes the type of a list in its web form from what is in it.
        default=list(profiles.ladder()),
        choices=list(profiles.find()),
        metavar="PROFILE",
        help="profiles to compare, the reference first (default: the whole ladder; see: lab list)",
    )
    add("--blocks", type=int, default=DEFAULT.blocks, help="every profile runs once in each")
    add("--window", type=float, default=DEFAULT.window, help="measured seconds of each trial")
    add("--warmup", type=float, default=DEFAULT.warmup, help="unrecorded seconds before it")
    add(
        "--load",
        choices=list(LOADS),
        default="sustained",
        help="walkthrough: 500 clients at once, 5,000 requests, a connection each",
    )
    add(
        "--connection",
        choices=["keep-alive", "close"],
        default="keep-alive",
        help="let the server keep connections open, or one request each",
    )
    add("--workload", choices=list(NAMES), default="fib", help="application and request of ours")
    add("--app", default="", help="your WSGI application instead: package.module:callable")
    add("--path", default="", help="request target (default: /9000, or / with --app)")
    add("--chdir", default="", help="folder to import --app in")
    add("--check", default="", help="regular expression that a correct reply to --app contains")
    add("--seed", type=int, default=0, help="repeat the order of an earlier run; 0 draws one")
    add("--results", default="results", help="where the run's folder is made")


def asks_for_running_server(parsed: argparse.Namespace, host: str | None) -> bool:
    """Return whether *host* is to be loaded, rather than servers that are started here."""
    return bool(host) and tuple(parsed.profiles) in ((), profiles.ladder())


def options(parsed: argparse.Namespace, connections: int | None) -> Options:
    """
    Return Locust's parsed options as an experiment's.

    Args:
        parsed: From the command line, or from the web form over it.
        connections: Number of users that was asked for; None to take the load's own.
    """
    load = LOADS[parsed.load]
    return Options(
        profiles=tuple(parsed.profiles),
        load=replace(
            load,
            connections=connections or load.connections,
            keepalive=load.keepalive and parsed.connection == "keep-alive",
        ),
        sizes=Sizes(parsed.blocks, parsed.window, parsed.warmup),
        seed=parsed.seed or None,
        results=Path(parsed.results),
    )


def chosen_workload(parsed: argparse.Namespace) -> Workload:
    """
    Return the workload that was asked for.

    Raises:
        UsageError: A part of it cannot be meant so.
    """
    return workload(
        parsed.workload,
        app=parsed.app or None,
        path=parsed.path or None,
        chdir=Path(parsed.chdir) if parsed.chdir else None,
        pattern=parsed.check or None,
    )
