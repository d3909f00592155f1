"""Reads what is to be tuned: a file, or a command in quotes. Nothing is started."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

from lab.config import servers
from lab.config.command import is_command
from lab.config.configuration import Config, Known
from lab.errors import ProfileError
from lab.lint.lint import in_container, lint


def read(name: str, known: Known, *, container: bool | None = None) -> Config:
    """
    Return a configuration; one of a command has the command itself for its text.

    Args:
        name: A file, as uwsgi.ini:section, or a command in quotes.
        known: What is known besides.
        container: Whether it runs in one; None if a Dockerfile says so.

    Raises:
        ProfileError: It cannot be read.
    """
    dialect = servers.of_command(_words(name)) if is_command(name) else None
    # The linter reads files, and the command of a server that has no file.
    if dialect is None or dialect.reads_command or not (dialect.code and dialect.listen):
        return lint(name, known, container=container).config
    path = Path(dialect.program)
    inside = in_container(path) if container is None else container
    known = replace(known, container=inside, overlay={**known.overlay, path: name})
    return dialect.read(path, known)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise ProfileError(command, f"this is no command: {error}") from None
