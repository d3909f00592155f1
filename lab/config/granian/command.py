"""What stands in granian's command line."""

from __future__ import annotations

from pathlib import Path

from lab.config.command_table import CommandTable
from lab.config.configuration import Config
from lab.config.interface import of_granian
from lab.config.uwsgi.table import atoi

PROGRAM = "granian"

TABLE = CommandTable(
    PROGRAM,
    Path(__file__).with_name("options.json"),
    frozenset(
        {"ssl-ca", "ssl-crl", "env-files", "static-path-route", "static-path-mount"}
        | {"reload-paths", "reload-ignore-dirs", "reload-ignore-patterns", "reload-ignore-paths"}
    ),
)


def interface_of(config: Config) -> str:
    """Return how a command has the application called; see `lab.config.interface`."""
    option = config.last("interface")
    return of_granian(option.value if option else None)


def default_threads(config: Config) -> int:
    """Return how many threads of a worker run the application without --blocking-threads."""
    share = config.number("backpressure")
    share = share or max(128, config.number("backlog", 1024)) // workers_of(config)
    return max(1, share // 2)


def workers_of(config: Config) -> int:
    """Return the number of workers; 1 if it is unknown."""
    setting = config.last("workers")
    return max(1, atoi(setting.value)) if setting else 1
