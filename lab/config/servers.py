"""
The dialects of servers: what the options of each are and mean, and how it is told others.

Who needs to know asks here, by a profile, a program or a file; no other part of the lab asks which
server it is. To add a server that is known by its command alone, add an entry to `commands.toml`.
To add one of whose options more is known, add a module with its `Dialect`, and name that in
`_KNOWN`. Nothing here starts a server.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePath

from lab.config.change import Steps
from lab.config.configuration import Config
from lab.config.granian.server import GRANIAN
from lab.config.gunicorn.server import GUNICORN
from lab.config.interface import WSGI
from lab.config.meaning import Settings
from lab.config.server import Dialect
from lab.config.uwsgi.server import UWSGI
from lab.model.profile import Profile

COMMANDS = Path(__file__).with_name("commands.toml")
"""The servers that are known by their command alone."""

STDIN = Path("-")
"""What a command is called that standard input says."""

_KNOWN: tuple[Dialect, ...] = (UWSGI, GUNICORN, GRANIAN)


@cache
def every() -> tuple[Dialect, ...]:
    """Return all of them, those first whose options are known."""
    entries = tomllib.loads(COMMANDS.read_text(encoding="utf-8"))
    return (*_KNOWN, *(_by_command(program, said) for program, said in entries.items()))


def _by_command(program: str, said: Mapping[str, Sequence[str]]) -> Dialect:
    """Return that of an entry of `COMMANDS`."""
    known = {"listen", "workers", "threads", "calls"}
    assert said.keys() <= known, f"{COMMANDS}: {program} has {said}"
    listen, workers, threads = (
        tuple(said.get(key, ())) for key in ("listen", "workers", "threads")
    )
    calls = str(said.get("calls", WSGI))
    return Dialect(program, program, listen, workers, threads, calls=calls)


def named(program: str) -> Dialect | None:
    """Return that of a program, by the last part of its path."""
    name = PurePath(program).name
    return next((each for each in every() if each.program == name), None)


def of_command(words: Sequence[str]) -> Dialect | None:
    """Return that of the first word that is a program's; of `env A=1 gunicorn` gunicorn's."""
    return next(filter(None, map(named, words)), None)


def of(profile: Profile) -> Dialect:
    """Return that of a profile: of the first of its commands that has one."""
    if profile.server == UWSGI.program:
        return UWSGI
    return next(filter(None, map(of_command, profile.commands)), Dialect())


def settings(profile: Profile) -> Settings:
    """Return what the options of a profile mean, whichever server it is for."""
    return of(profile).settings(profile)


def of_file(path: Path, text: str = "") -> Dialect | None:
    """Return that of a configuration, by its name, or else by its *text*; None where none is."""
    if path == STDIN:
        return next(each for each in every() if each.reads_command)
    by_name = (each for each in every() if path.name.endswith(each.endings or ("\0",)))
    return next(by_name, None) or next((each for each in every() if each.recognises(text)), None)


def edited(config: Config, steps: Steps) -> str:
    """
    Return the text of a configuration's file after the steps; see `Dialect.edited`.

    Raises:
        ProfileError: A step cannot be made in that file; the message says what to do by hand.
    """
    return next(each for each in every() if each.name == config.server).edited(config, steps)


def with_text(config: Config, text: str, file: Path | None = None) -> Config:
    """
    Return what a configuration is with another text; nothing is written.

    Args:
        config: As it was read.
        text: What stands in its file then.
        file: The file, where it is another one.

    Raises:
        ProfileError: It is none of its form.
    """
    dialect = next(each for each in every() if each.name == config.server)
    file = file or config.file
    overlay = {**config.known.overlay, file: text}
    return dialect.read(file, replace(config.known, overlay=overlay))


def of_code(code: str) -> Dialect:
    """Return that of a rule of the linter's, by the rule's code."""
    return next(each for each in every() if each.code and code.startswith(each.code))
