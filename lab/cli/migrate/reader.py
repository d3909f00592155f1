"""Reads what is to be migrated: a file, or a command in quotes. Nothing is started."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePath

from lab.config import servers
from lab.config.command import is_command
from lab.config.configuration import Config, Known
from lab.config.servers import TRANSLATABLE
from lab.config.spot import Setting
from lab.config.vocabulary.service import one_line
from lab.config.vocabulary.translation import AROUND, Note
from lab.config.words import pieces, words_of
from lab.errors import ProfileError

_COMMANDS = re.compile(r"`|\$\((?!nproc(?: --all)?\))")
"""Commands in a command; the number of CPUs is read."""

_OPERATORS = re.compile(rf"[;&|<>]|{_COMMANDS.pattern}")
"""Outside of quotes."""

_GLUED = re.compile(r"""\$["']|\$\w+["'\\]+\w""")
"""What a shell reads otherwise than the words: quotes behind a `$` or a variable's name."""


def read(name: str, environ: Mapping[str, str], *, trusted: bool = False) -> Config:
    """
    Return what stands in a configuration.

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
    server = servers.of_file(path, text)
    if server is None or server.program not in TRANSLATABLE:
        raise ProfileError(
            name, f"is no configuration of {_known()}: name the file, or its command in quotes"
        )
    config = server.read(path, known)
    server.check_certain(config)
    return config


def _command(text: str, known: Known) -> Config:
    words, at = _words(text)
    server = TRANSLATABLE[PurePath(words[at].value).name]
    variables = (word.raw for word in words[:at] if server.takes_variable(word.raw))
    rest = (word.raw for word in words[at + 1 :])
    return server.read_command(" ".join((*variables, server.program, *rest)), known)


def _words(text: str) -> tuple[list[Setting], int]:
    """
    Return the words of a command, and which of them is the program.

    Raises:
        ProfileError: It is no command, or more than one.
    """
    line = re.sub(r"\\\n", " ", text).strip()
    try:
        values = shlex.split(line)
    except ValueError as error:
        raise ProfileError(text, f"this is no command: {error}") from None
    for sign in _signs(line):
        problem = f"holds {sign!r}, which is not understood: give the line that starts it alone"
        raise ProfileError(text, problem)
    words = list(words_of(line, Path("-")))
    if [word.value for word in words] != values:
        raise ProfileError(text, "cannot be taken apart into words: give the start line alone")
    named = (n for n, word in enumerate(words) if PurePath(word.value).name in TRANSLATABLE)
    at = next(named, None)
    if at is None:
        raise ProfileError(text, f"it starts none of {_known()}")
    return words, at


def _signs(line: str) -> Iterator[str]:
    """Yield what makes a line more than one command, or a part of it none that is read."""
    if "\n" in line:
        yield "\n"
    for word in words_of(line, Path("-")):
        if word.raw.startswith("#"):
            yield "#"
        if found := _GLUED.search(word.raw):
            yield found[0]
    for piece in pieces(line):
        signs = _COMMANDS if piece.startswith('"') else _OPERATORS
        if not piece.startswith(("'", "\\")) and (found := signs.search(piece)):
            yield found[0]


def around(name: str, config: Config) -> list[Note]:
    """
    Return what stands around a command and is not carried over.

    Args:
        name: What was read: a file, or a command in quotes.
        config: What stands in it.
    """
    if is_command(name):
        words, at = _words(name)
        server = TRANSLATABLE[PurePath(words[at].value).name]
        kept = (word for word in words[:at] if not server.takes_variable(word.raw))
        before = " ".join(word.raw for word in kept if word.value not in {"env", "exec"})
        return [Note(one_line(before), AROUND)] if before else []
    return servers.of_config(config).around(config)


def _known() -> str:
    return ", ".join(each.name for each in TRANSLATABLE.values())
