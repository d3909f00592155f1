"""What stands in uvicorn's command line."""

from __future__ import annotations

from pathlib import Path

from lab.config.command_table import CommandTable
from lab.config.configuration import Config
from lab.config.interface import ASGI, WSGI
from lab.config.spot import Setting

PROGRAM = "uvicorn"

APPLICATION = "UVICORN_APP"
"""The variable that names the application, where no word of the command does."""

TABLE = CommandTable(
    PROGRAM,
    Path(__file__).with_name("options.json"),
    frozenset({"reload-dir", "reload-include", "reload-exclude", "header"}),
    {"WEB_CONCURRENCY": "workers", "FORWARDED_ALLOW_IPS": "forwarded-allow-ips"},
)


def interface_of(config: Config) -> str:
    """Return how a command has the application called; see `lab.config.interface`."""
    option = config.last("interface")
    return WSGI if option is not None and option.value == WSGI else ASGI


def target(config: Config) -> Setting | None:
    """Return what a command serves, as the value of no option; None where nothing names it."""
    return TABLE.target(config) or config.last(APPLICATION)
