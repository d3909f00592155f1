"""Reads what is to be migrated: a file, or a command in quotes. Nothing is started."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import PurePath

from lab.config import reading, servers
from lab.config.command import is_command
from lab.config.configuration import Config, Known
from lab.config.servers import STDIN
from lab.config.shell import start_of, unknown_options
from lab.config.spot import Spot
from lab.config.start import Surroundings
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


def read(
    name: str, environ: Mapping[str, str], *, trusted: bool = False, known: Known | None = None
) -> Config:
    """
    Return what stands in a configuration; see `lab.config.reading.read`.

    A translation needs all of it, so a command must be the only one, and certain.

    Args:
        name: A file, as uwsgi.ini:section, or a command in quotes.
        environ: Environment variables whose values are known.
        trusted: Whether what it names outside of the caller's folder is read.
        known: What is known besides; its `overlay` may have the file.

    Raises:
        ProfileError: It is neither, or cannot be read.
    """
    if is_command(name):
        name = command_in(name)
        _check_alone(name)
    known = (known or Known()).for_files(environ, trusted=trusted)
    config = reading.read(name, known)
    if config.start is not None:
        _check_alone(config.start.text)
        if not config.start.alone:
            file = str(config.start.spot.file)
            where = "its line" if name.startswith(file) else file
            problem = f"{where} has more than one command: give the command of the server in quotes"
            raise ProfileError(name, problem)
    if is_command(name) or config.start is not None:
        text = config.texts[config.file]
        if word := unknown_options(text, servers.of_config(config).program):
            raise ProfileError(name, f"holds {word}, which may stand for options: write them")
    servers.of_config(config).translator.check_certain(config)
    return config


def command_in(line: str) -> str:
    """Return the command of a server in a line, if nothing but `cd FOLDER` stands around it."""
    start = start_of("", _in_a_line(line), Spot(STDIN, 1, 1), Surroundings())
    return start.text if start is not None and start.alone else line


def _check_alone(text: str) -> None:
    """Refuse what is more than one command, or has words that a shell reads otherwise."""
    line = _in_a_line(text)
    try:
        values = shlex.split(line)
    except ValueError:  # a quote that is not closed: the reader says so
        return
    for sign in _signs(line):
        problem = f"holds {sign!r}, which is not understood: give the line that starts it alone"
        raise ProfileError(text, problem)
    if [word.value for word in words_of(line, STDIN)] != values:
        raise ProfileError(
            text, "cannot be split into words: give only the line that starts the server"
        )


def _in_a_line(text: str) -> str:
    return re.sub(r"\\\n", " ", text).strip()


def _signs(line: str) -> Iterator[str]:
    """Yield what makes a line more than one command, or a part of it none that is read."""
    if "\n" in line:
        yield "\n"
    for word in words_of(line, STDIN):
        if word.raw.startswith("#"):
            yield "#"
        if match := _GLUED.search(word.raw):
            yield match[0]
    for piece in pieces(line):
        signs = _COMMANDS if piece.startswith('"') else _OPERATORS
        if not piece.startswith(("'", "\\")) and (match := signs.search(piece)):
            yield match[0]


def around(name: str, config: Config) -> list[Note]:
    """
    Return what stands around a command and is not carried over.

    Args:
        name: What was read: a file, or a command in quotes.
        config: What stands in it.
    """
    server = servers.of_config(config)
    if config.start is None and not is_command(name):
        return server.translator.around(config)
    start = config.start
    text = f"{start.before} {start.text}" if start else name
    words = words_of(_in_a_line(text), STDIN)
    before = itertools.takewhile(lambda word: PurePath(word.value).name != server.program, words)
    kept = (word for word in before if not server.takes_variable(word.raw))
    shown = " ".join(word.raw for word in kept if word.value not in {"env", "exec"})
    return [Note(one_line(shown), AROUND)] if shown else []
