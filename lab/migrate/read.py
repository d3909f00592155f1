"""Reads what is to be migrated: a file, or a command in quotes. Nothing is started."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePath

from lab import dialects
from lab.dialects.command import is_command
from lab.dialects.config import Config, Known
from lab.dialects.vocabulary.translators import TRANSLATORS
from lab.errors import ProfileError


def read(name: str, environ: Mapping[str, str], *, trusted: bool = False) -> tuple[str, Config]:
    """
    Return the program that a configuration is for, and what stands in it.

    Args:
        name: A file, as uwsgi.ini:section, or a command in quotes.
        environ: Environment variables whose values are known.
        trusted: Whether what it names outside of the caller's folder is read.

    Raises:
        ProfileError: It is neither, or cannot be read.
    """
    known = Known().for_files(environ, trusted=trusted)
    if is_command(name):
        return _command(name, known)
    file, colon, section = name.rpartition(":")
    if colon and file and not Path(name).exists():
        name, known = file, replace(known, section=section)
    path = Path(name)
    known = known.beside(path)
    text = known.required(path)
    dialect = dialects.of_file(path, text)
    if dialect is None or dialect.program not in TRANSLATORS:
        raise ProfileError(
            name, f"is no configuration of {_known()}: name the file, or its command in quotes"
        )
    return dialect.program, dialect.read(path, known)


def _command(text: str, known: Known) -> tuple[str, Config]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ProfileError(text, f"this is no command: {error}") from None
    at = next((n for n, word in enumerate(words) if PurePath(word).name in TRANSLATORS), None)
    if at is None:
        raise ProfileError(text, f"it starts none of {_known()}")
    program = PurePath(words[at]).name
    return program, TRANSLATORS[program].of_command(words[at + 1 :], known)


def _known() -> str:
    return ", ".join(each.name for each in TRANSLATORS.values())
