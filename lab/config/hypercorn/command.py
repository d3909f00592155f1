"""What stands in hypercorn's command line, and in the file that it names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lab.config import files
from lab.config.command_table import CommandTable
from lab.config.configuration import Config, Known
from lab.config.hypercorn import file
from lab.config.interface import ASGI, WSGI
from lab.config.spot import Setting
from lab.errors import ProfileError

PROGRAM = "hypercorn"

TABLE = CommandTable(
    PROGRAM,
    Path(__file__).with_name("options.json"),
    frozenset({"bind", "insecure_bind", "quic_bind", "server_names"}),
)

CONFIG = "config"
"""The option that names the file."""


def is_file(path: Path) -> bool:
    """Return whether a path is that of a file, and not of a command."""
    return path.suffix in {file.TOML, file.PYTHON}


def read(path: Path, known: Known) -> Config:
    """
    Read a file of settings, or a command with the file that it names.

    The command wins over the file, also over its lists.

    Raises:
        ProfileError: It cannot be read.
    """
    if is_file(path):
        return file.read(PROGRAM, path, known)
    config = TABLE.read(path, known)
    named = config.last(CONFIG)
    if named is None:
        return config
    given = tuple(setting for setting in config.settings if setting.option != CONFIG)
    options = {setting.option for setting in given}
    if known.lacks(named.value.removeprefix("file:")):
        problem = "the file of --config is not here"
        unread = (named.value or named.raw, named)
        return replace(config, settings=given, guesses=problem, unread_includes=(unread,))
    in_file = _named(named, known)
    kept = (setting for setting in in_file.settings if setting.option not in options)
    texts = {**in_file.texts, **config.texts}
    return replace(config, settings=(*kept, *given), texts=texts)


def _named(setting: Setting, known: Known) -> Config:
    """Read the file of --config."""
    if setting.value.startswith("python:"):
        raise ProfileError(setting.value, "is a module, and lab imports nothing: give the file")
    if not setting.value or "$" in setting.value:
        raise ProfileError("--config", "has a variable, so its file is unknown: name the file")
    path = known.named(setting.value.removeprefix("file:"))
    if path not in known.overlay and not files.is_file(path):
        problem = "the file does not exist here, so its settings are unknown"
        raise ProfileError(setting.value, problem)
    is_python = setting.value.startswith("file:")
    return (file.read_python if is_python else file.read_toml)(PROGRAM, path, known)


def interface_of(config: Config) -> str:
    """Return how a command has the application called; see `lab.config.interface`."""
    served = target(config)
    return WSGI if served is not None and served.value.startswith("wsgi:") else ASGI


def target(config: Config) -> Setting | None:
    """Return what a command serves, as the value of no option; a file names nothing."""
    return None if is_file(config.file) else TABLE.target(config)
