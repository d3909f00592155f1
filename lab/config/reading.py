"""
Reads configurations for every command of `lab`. Nothing is started.

`read` takes what a user types: a file, FILE:section, a command in quotes, "-", which is standard
input, or a file with start commands, as Procfile:web. `named` says which of these a name is. `find`
returns the configurations in a folder.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from lab.config import fastapi_run, servers, sources
from lab.config.configuration import Config, Known
from lab.config.files import LARGEST, UnreadableError, is_file, is_folder
from lab.config.server import Server
from lab.config.servers import EDITABLE, STDIN, TRANSLATABLE
from lab.config.shell import SHELLS
from lab.config.start import StartCommand
from lab.config.templates import CONFLICT, CONTROL
from lab.config.words import is_script
from lab.errors import ProfileError

BUILD = re.compile(r"^[ \t]*(main_plugin|embedded_plugins|bin_name)[ \t]*=", re.MULTILINE)
"""What only a profile for uwsgiconfig.py has."""

FOREIGN = frozenset({"node_modules", "site-packages", "__pycache__"})
"""Folders of what others wrote; those that are hidden, and virtual environments, are so, too."""

DEEPEST = 100
"""Folders in each other that are searched."""

MOST_CHARACTERS_SEARCHED = 1 << 20
"""Characters of a file in which its options are looked for."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a configuration stands that is named on the command line."""

    path: Path
    """The file, or `STDIN`; of a command the first word that is a program whose command is read."""

    section: str = ""
    """Of the file; empty where none is named."""

    command: str = ""
    """The command; empty where a configuration's file is named."""

    start: StartCommand | None = None
    """That command in the file that has it, such as a Procfile; None of what is typed."""


def read(
    name: str,
    known: Known,
    *,
    commands: Collection[str] = tuple(TRANSLATABLE),
    container: bool | None = None,
    strict: bool = True,
) -> Config:
    """
    Return a configuration, as it is named on the command line.

    The configuration of a command has the command for its text, and the program for its file.

    Args:
        name: A file, FILE:section, a command in quotes, or "-" for standard input.
        known: What is known besides.
        commands: Programs whose command is read as it is typed.
        container: Whether it runs in a container; None: a Dockerfile says so.
        strict: Whether a command is refused that has an option with which it does not start, and a
            start command whose file is not here.

    Raises:
        ProfileError: It cannot be read; the message says what to name instead.
    """
    source = named(name, commands, known=known)
    known = replace(known, lenient=not strict and source.start is not None)
    config = _read(source, known, commands=commands, container=container)
    for setting, problem in config.refused if strict else ():
        raise ProfileError(setting.option, problem)
    return config


def _read(
    source: Source, known: Known, *, commands: Collection[str], container: bool | None
) -> Config:
    """Return the configuration of a source; see `read`."""
    if source.start is not None:
        known = replace(known.beside(source.path), container=in_container(source.path))
        known.required(source.path)  # which refuses a link to where nothing is read
        known = source.start.known(known)
        known = known if container is None else replace(known, container=container)
        if source.start.program not in {*commands, *EDITABLE}:
            problem = _why_unread(source.start.words, commands)
            raise ProfileError(source.start.spot.file, problem, source.start.spot.line)
        return read_start(source.start, known)
    path, server = source.path, servers.named(source.path.name) if source.command else None
    if server is not None:
        overlay = {**known.overlay, path: source.command}
        known = replace(known, overlay=overlay, cwd=known.cwd or Path())
    elif path == STDIN:
        most = max(server.max_bytes for server in servers.every() if server.reads_command)
        known = replace(known, overlay={**known.overlay, STDIN: sys.stdin.read(most + 1)})
    else:
        known = replace(known, section=source.section or known.section).beside(path)
    inside = in_container(path) if container is None else container
    known = replace(known, container=inside)
    if server is None:
        return read_file(path, known)
    text = _text(path, known, server)
    _check_text(path, text, server)
    return server.read_command(text, known)


def read_start(start: StartCommand, known: Known) -> Config:
    """
    Return what the command of a server sets that stands in the file of another program.

    Raises:
        ProfileError: It cannot be read.
    """
    server = servers.named(start.program)
    assert server is not None
    try:
        return replace(server.read_command(start.text, known), start=start)
    except ProfileError as error:
        raise ProfileError(start.spot.file, str(error), start.spot.line) from None


def named(
    name: str,
    commands: Collection[str] | None = None,
    folder: Path | None = None,
    known: Known | None = None,
) -> Source:
    """
    Return where a configuration stands, as it is named on the command line.

    Args:
        name: A file, FILE:section, a command in quotes, or "-" for standard input; also a file of
            a kind in `lab.config.sources`, with the name of a start command where it has several.
        commands: Programs whose command is read; None: a command of any program.
        folder: What the name of a file is relative to; None for the current folder.
        known: What is known besides; files in its `overlay` need not be on the disk.

    Raises:
        ProfileError: There is no such file or command; the message says what to name instead.
    """
    if name == "-":
        return Source(STDIN)
    given = os.path.expanduser(name)  # noqa: PTH111 - Path raises for a user that does not exist
    given = os.path.join(folder, given) if folder else given  # noqa: PTH118 - Path drops "./"
    path = Path(given)
    texts = known.overlay if known else {}
    is_text = path in texts
    exists = is_text or os.path.exists(given)  # noqa: PTH110 - Path raises for over-long names
    file, section = _divided(given, texts)
    has_file = Path(file) in texts or is_file(file)
    if not exists and has_file and (not file.endswith(".py") or _has_starts(file, texts)):
        return _in_file(Path(file), texts, section)
    if is_text or (exists and is_file(path)):
        return _in_file(path, texts)
    if exists and is_folder(path):
        raise ProfileError(path, why_folder(path))
    if exists:
        problem = "is a pipe, a socket or a device: save it as a file, and give that"
        raise ProfileError(path, problem)
    name = _unwrapped(name)
    words = _words(name)
    programs = [word for word in map(_program, words) if commands is None or word in commands]
    if not programs or (commands is None and not words[1:]):
        problem = _why_unread(words, commands or ()) if words[1:] else _why_missing(name, file)
        raise ProfileError(path, problem)
    try:
        shlex.split(name)
    except ValueError as error:
        raise ProfileError(name, f"this is not a command: {error}") from None
    return Source(Path(programs[0]), command=name)


def _divided(given: str, texts: Container[Path]) -> tuple[str, str]:
    """Return the file and the name in it of FILE:NAME, which may have colons, as npm's scripts."""
    for colon in re.finditer(":", given):
        file = given[: colon.start()]
        if Path(file) in texts or is_file(file):
            return file, given[colon.end() :]
    file, _, section = given.rpartition(":")
    return file, section


def read_file(path: Path, known: Known) -> Config:
    """
    Return a configuration by the path of its file.

    Raises:
        ProfileError: It cannot be read.
    """
    by_name = servers.of_file(path)
    text = _text(path, known, by_name)
    server = servers.of_file(path, text) if path == STDIN else by_name
    server = server or servers.of_file(path, text)
    _check_text(path, text, server)
    if server is None:
        raise ProfileError(path, f"is not read: {_instead_of(path)}")
    return server.read(path, known)


PROSE = frozenset({".md", ".rst", ".markdown"})
"""Endings of documents, which may show a configuration and are none."""


def _check_text(path: Path, text: str, server: Server | None) -> None:
    """
    Refuse what is no text, or is not what the server gets.

    Raises:
        ProfileError: It has bytes of value 0; or it is a template, or a part of a merge or a build.
    """
    if path.suffix in PROSE:
        problem = "is a document: save the configuration that it shows in a file, and give that"
        raise ProfileError(path, problem)
    if "\0" in text:
        raise ProfileError(path, "is not text, because it has NUL bytes: save it as UTF-8")
    if server is None or not server.templates:
        return
    if sign := CONTROL.search(text):
        problem = f"is a template, because it has {sign[1]!r}: give a file that is rendered from it"
        raise ProfileError(path, problem, _line(text, sign.start()))
    if sign := CONFLICT.search(text):
        problem = "has a merge conflict: resolve it"
        raise ProfileError(path, problem, _line(text, sign.start()))
    if sign := BUILD.search(text):
        problem = f"is a build profile of uWSGI, because it has {sign[1]}: give the ini of a server"
        raise ProfileError(path, problem, _line(text, sign.start(1)))


def in_container(path: Path) -> bool:
    """Return whether a file is for a container."""
    return bool(container_sign(path))


def container_sign(path: Path) -> str:
    """
    Return why a file is for a container, in a clause; empty if nothing says so.

    It is in a folder `docker`, or there is a Dockerfile beside it, or in the current folder if that
    contains the file.
    """
    folder, here = path.absolute().parent, Path.cwd()
    folders = (folder, here) if folder.is_relative_to(here) else (folder,)
    if folder.name == "docker":
        return f"{path} is in a folder docker"
    files = (place / "Dockerfile" for place in folders)
    file = next((file for file in files if is_file(file)), None)
    return "" if file is None else f"{os.path.relpath(file)} exists"


def find(folder: Path) -> Iterator[str]:
    """
    Yield the names of the configurations in a folder, and in those below it, in their order.

    Raises:
        ProfileError: There are folders deeper in it than `DEEPEST`.
    """
    searched = [server for server in servers.every() if server.file_pattern]
    waiting = [(folder, 0)]
    while waiting:
        here, depth = waiting.pop()
        below, files = _inside(here)
        if below and depth == DEEPEST:
            problem = f"has folders more than {DEEPEST} deep in each other, so it is not searched"
            raise ProfileError(folder, problem)
        waiting += ((here / name, depth + 1) for name in sorted(below, reverse=True))
        for name in sorted(files):
            server = next((one for one in searched if re.match(one.file_pattern, name)), None)
            if server and _is_configuration(path := here / name, server):
                yield str(path)
            elif not sources.DEVELOPMENT.fullmatch(name):
                yield from start_names(here / name, searched=True)


def start_names(path: Path, known: Known | None = None, *, searched: bool = False) -> list[str]:
    """
    Return the names of the start commands in a file, as "Procfile:web"; none without a server.

    Args:
        path: The file; of a script that a server's reader knows, the name is that of the file.
        known: What is known besides; a file in its `overlay` need not be on the disk.
        searched: Whether it was found in a folder, and was not named.
    """
    known = known or Known()
    try:
        starts = _starts(path, known)
    except ProfileError:  # what is named is read again, and refused
        return []
    if starts is None:
        return [str(path)] if searched and _is_servers(path, known) else []
    return [f"{path}:{start.name}" for start in starts if start.is_default]


def _starts(path: Path, known: Known) -> tuple[StartCommand, ...] | None:
    """
    Return the start commands in a file; None where the file is no other program's.

    Raises:
        ProfileError: It cannot be read.
    """
    if sources.of_file(path.name, lambda: known.read(path) or "") is None:
        return None
    text = known.required(path)
    _check_text(path, text, None)
    starts = sources.starts_of(path, text)
    return None if len(starts) == 1 and _is_servers(path, known) else starts


def _has_starts(file: str, texts: Mapping[Path, str]) -> bool:
    """Return whether a file has start commands; app.py:app is an application."""
    try:
        return bool(_starts(Path(file), Known(overlay=texts)))
    except ProfileError:
        return False


def _is_servers(path: Path, known: Known) -> bool:
    """Return whether a file is a script that a server's reader knows by its text."""
    text = known.read(path) or ""
    by_name = servers.of_file(path)
    return is_script(text) and by_name is None and servers.of_file(path, text) is not None


def _inside(folder: Path) -> tuple[list[str], list[str]]:
    """Return the names of the folders in a folder that are to be searched, and of its files."""
    below: list[str] = []
    files: list[str] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if not _is_foreign(folder / entry.name):
                    below.append(entry.name)
            else:  # a link to a folder is no file, which is seen when it is opened
                files.append(entry.name)
    return below, files


def _is_foreign(folder: Path) -> bool:
    hidden = folder.name.startswith(".") or folder.name in FOREIGN
    return hidden or (folder / "pyvenv.cfg").exists()


def _is_configuration(path: Path, server: Server) -> bool:
    """Return whether a file with such a name is a configuration; what cannot be read is none."""
    if not is_file(path):  # a FIFO would never end
        return False
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return server.has_options(file.read(MOST_CHARACTERS_SEARCHED))
    except OSError:
        return False


def _in_file(path: Path, texts: Mapping[Path, str], section: str = "") -> Source:
    """Return a file, or the start command in it that a section names, or that is the only one."""
    starts = _starts(path, Known(overlay=texts))
    if starts is None:
        return Source(path, section)
    names = " or ".join(f"{path}:{start.name}" for start in starts)
    wanted = [
        start for start in starts if start.name == section or (not section and start.is_default)
    ]
    if not starts:
        problem = "starts no server that lab knows: name the command in quotes, or its script"
        raise ProfileError(path, problem)
    if not wanted:
        is_served = any(not sources.DEVELOPMENT.fullmatch(start.name) for start in starts)
        problem = "starts no server by default" if is_served else "is for development"
        problem = f"has no server {section}" if section else problem
        raise ProfileError(path, f"{problem}: name {names}")
    if wanted[1:]:
        raise ProfileError(path, f"starts {len(wanted)} servers: name {names}")
    return Source(path, command=wanted[0].text, start=wanted[0])


def of_script(source: Source) -> Source:
    """Return the start command of a script that is a configuration of its server; else *source*."""
    if source.command or source.path == STDIN:
        return source
    text = Known().read(source.path) or ""
    if sources.of_file(source.path.name, lambda: text) is None:
        return source
    starts = sources.starts_of(source.path, text)
    return Source(source.path, command=starts[0].text, start=starts[0]) if starts else source


def _instead_of(path: Path) -> str:
    """Return what to give in the place of a file that is not read."""
    if path.name == "Makefile":
        return "give the command that it starts in quotes"
    endings = (ending for server in servers.every() for ending in server.endings)
    kinds = ", ".join(ending for ending in endings if ending.startswith("."))
    return f"give {kinds}, a file with a line [uwsgi], or a command in quotes"


def why_folder(path: Path, otherwise: str = "is a folder: give the file") -> str:
    """Return what to do about a folder in the place of a file; *otherwise*: not one of a run."""
    if (path / "run.json").is_file():
        return f"is the folder of a run: `lab report {path}`"
    if next(path.glob("*/run.json"), None):
        return f"has the folders of runs: `lab report {path}/RUN`, with one of them for RUN"
    return otherwise


def _unwrapped(name: str) -> str:
    """
    Return the command that a shell gets by -c, or that a list in JSON is, as in a Dockerfile.

    >>> _unwrapped('["sh", "-c", "gunicorn app:app -w $N"]'), _unwrapped("gunicorn app:app")
    ('gunicorn app:app -w $N', 'gunicorn app:app')
    """
    if name.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):
            words = json.loads(name)
            name = shlex.join(words) if all(isinstance(word, str) for word in words) else name
    words = _words(name)
    if words and _program(words[0]) in SHELLS:
        behind = (n for n, word in enumerate(words) if re.fullmatch(r"-\w*c", word))
        return next(iter(words[next(behind, len(words)) + 1 :]), name)
    return name


def _words(name: str) -> list[str]:
    """Return the words of a command; of what has a quote that is not closed the parts."""
    try:
        return shlex.split(name)
    except ValueError:  # a quote that is not closed, or that of a name
        return name.split()


def _program(word: str) -> str:
    return PurePath(word).name


def _why_unread(words: Sequence[str], commands: Collection[str]) -> str:
    """Return why words are no command that is read, and what to name instead."""
    server = servers.of_command(words)
    if server is None and fastapi_run.is_start(words):
        return (
            "is read in a file only, such as a Dockerfile: give uvicorn's command, as in "
            "'uvicorn app.main:app'"
        )
    if server is None and any(word.startswith("-") for word in words):
        return f"is no file, and no command of {' or '.join(commands)}"
    if server is None:
        return "the file does not exist"
    form, program = server.file, server.program
    if not form:
        return f"is a command of {program}, a server that lab does not check"
    file = next((word for word in words if word.endswith(PurePath(form).suffix)), None)
    instead = f"name {file}" if file else f"write its options into a {form}, and name that"
    names = " and ".join(f"{command}'s" for command in commands)
    verb = "is" if len(commands) == 1 else "are"
    return f"is a command of {program}, and only {names} {verb} read: {instead}"


def _why_missing(name: str, file: str) -> str:
    """Return what to do about a name that nothing has; *file* is what stands before a colon."""
    profile = f"profiles/{name}.ini"
    if is_file(profile):
        return f"the file does not exist: did you mean {profile}?"
    if is_file(file):
        return f"the file does not exist, and only an .ini has sections: name {file}"
    return f"there is no file {file}" if file.endswith(".ini") else "the file does not exist"


def _text(path: Path, known: Known, server: Server | None) -> str:
    try:
        return known.text(path, server.max_bytes if server else LARGEST)
    except UnreadableError as error:
        raise ProfileError(path, str(error), error.line) from None


def _line(text: str, start: int) -> int:
    """Return the number of the line in which a place of a text is."""
    return text.count("\n", 0, start) + 1
