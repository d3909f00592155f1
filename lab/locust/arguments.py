"""
The options of a comparison, on Locust's command line and in its web form.

Locust has a `--profile` of its own, which groups test runs; ours is `--profiles`. The four
attributes that its web form looks at are set on the returned action, because argument groups
refuse them as keywords.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from locust import events

from lab import profiles
from lab.errors import UsageError
from lab.experiment.conduct import DEFAULT, LOADS, Options, Sizes
from lab.locust.generator import CLIENTS
from lab.model import Load, Workload
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
        default=list(profiles.usual()),
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
    add(
        "--rate",
        type=float,
        default=0.0,
        help="requests a second at planned instants, over all workers; 0: each connection sends "
        "its next request when it has its last reply",
    )
    add(
        "--client",
        choices=list(CLIENTS),
        default=CLIENTS[0],
        help="what makes the requests: the lab's engine, or Locust's FastHttpUser client",
    )
    add(
        "--confirm",
        choices=["yes", "no"],
        default="yes",
        help="put each cause to the test by toggling its one setting, in the same blocks",
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
    return bool(host) and tuple(parsed.profiles) in ((), profiles.usual())


def options(parsed: argparse.Namespace, connections: int | None) -> Options:
    """
    Return Locust's parsed options as an experiment's.

    Args:
        parsed: From the command line, or from the web form over it.
        connections: Number of users that was asked for; None to take the load's own.

    Raises:
        UsageError: The rate does not go with the load or with the client.
    """
    load = LOADS[parsed.load]
    _check_rate(parsed.rate, load, parsed.client)
    return Options(
        profiles=tuple(parsed.profiles),
        load=replace(
            load,
            connections=connections or load.connections,
            keepalive=load.keepalive and parsed.connection == "keep-alive",
            rate=parsed.rate or None,
        ),
        sizes=Sizes(parsed.blocks, parsed.window, parsed.warmup),
        seed=parsed.seed or None,
        results=Path(parsed.results),
        confirm=parsed.confirm == "yes",
    )


def _check_rate(rate: float, load: Load, client: str) -> None:
    """Refuse a rate that could not be kept to."""
    if not 0 <= rate < math.inf:
        raise UsageError(f"--rate {rate:g}: expected requests a second, or 0 for a closed loop")
    if rate and load.requests is not None:
        raise UsageError("--rate needs a load that goes on: leave out --load walkthrough")
    if rate and client != CLIENTS[0]:
        raise UsageError(f"--rate needs the lab's engine: leave out --client {client}")


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
