"""
The servers that `lab` knows, by program, profile, file and configuration.

No other part of `lab` asks which server it is. To add a server that is known by its command alone,
add an entry to `commands.toml`. To add a server whose options are known, add a folder with its
`Server`, and name that in `_KNOWN`. Nothing here starts a server.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from lab.config.configuration import Config
from lab.config.granian.server import GRANIAN
from lab.config.gunicorn.server import GUNICORN
from lab.config.interface import ASGI, UNKNOWN, WSGI
from lab.config.meaning import Settings
from lab.config.server import Server
from lab.config.steps import Steps
from lab.config.uwsgi.server import UWSGI
from lab.config.vocabulary.steps_for_meaning import GROUPS as OF_EVERY_SERVER
from lab.errors import UsageError
from lab.model.wording import in_a_line

if TYPE_CHECKING:  # what reads a configuration needs neither
    from lab.config.vocabulary.service import Service
    from lab.model.profile import Profile

COMMANDS = Path(__file__).with_name("commands.toml")
"""The servers that are known by their command alone."""

STDIN = Path("-")
"""What a command is called that standard input says."""

_KNOWN: tuple[Server, ...] = (UWSGI, GUNICORN, GRANIAN)

TRANSLATABLE: Mapping[str, Server] = {server.program: server for server in _KNOWN if server.output}
"""Program -> its server, of those that `lab` translates from and to."""

EDITABLE = tuple(server.program for server in _KNOWN if server.edits_command)
"""Programs whose command is edited."""

GROUPS: Mapping[str, str] = {
    **OF_EVERY_SERVER,
    **{group: text for server in _KNOWN for group, text in server.groups.items()},
}
"""Groups of changes that `lab tune` tries -> what each group is."""


@cache
def every() -> tuple[Server, ...]:
    """Return all of them, those first whose options are known."""
    entries = tomllib.loads(COMMANDS.read_text(encoding="utf-8"))
    return (*_KNOWN, *(_by_command(program, said) for program, said in entries.items()))


def _by_command(program: str, said: Mapping[str, Sequence[str]]) -> Server:
    """Return that of an entry of `COMMANDS`."""
    known = {"listen", "workers", "threads", "calls"}
    assert said.keys() <= known, f"{COMMANDS}: {program} has {said}"
    listen, workers, threads = (
        tuple(said.get(key, ())) for key in ("listen", "workers", "threads")
    )
    calls = str(said.get("calls", WSGI))
    return Server(program, program, listen, workers, threads, calls=calls)


def named(program: str) -> Server | None:
    """Return that of a program, by the last part of its path."""
    name = PurePath(program).name
    return next((each for each in every() if each.program == name), None)


def of_command(words: Sequence[str]) -> Server | None:
    """Return that of the first word that is a program's; of `env A=1 gunicorn` gunicorn's."""
    return next(filter(None, map(named, words)), None)


def of(profile: Profile) -> Server:
    """Return that of a profile: of the first of its commands that has one."""
    if profile.server == UWSGI.program:
        return UWSGI
    return next(filter(None, map(of_command, profile.commands)), Server())


def settings(profile: Profile) -> Settings:
    """Return what the options of a profile mean, whichever server it is for."""
    return of(profile).settings(profile)


def of_file(path: Path, text: str = "") -> Server | None:
    """Return that of a configuration, by its name, or else by its *text*; None where none is."""
    if path == STDIN:
        return next(each for each in every() if each.reads_command)
    by_name = (each for each in every() if path.name.endswith(each.endings or ("\0",)))
    return next(by_name, None) or next((each for each in every() if each.recognises(text)), None)


def of_config(config: Config) -> Server:
    """Return the server of a configuration that was read."""
    return next(server for server in every() if server.name == config.server)


def edited(config: Config, steps: Steps) -> str:
    """
    Return the text of a configuration's file after the steps; see `Server.edited`.

    Raises:
        ProfileError: A step cannot be made in that file; the message says what to do by hand.
    """
    return of_config(config).edited(config, steps)


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
    file = file or config.file
    overlay = {**config.known.overlay, file: text}
    return of_config(config).read(file, replace(config.known, overlay=overlay))


def of_code(code: str) -> Server:
    """Return that of a rule of the linter's, by the rule's code."""
    return next(each for each in every() if each.code and code.startswith(each.code))


def check_serves(name: str, service: Service, to: str) -> None:
    """
    Refuse a server that does not call an application as its present server does.

    Args:
        name: The configuration, as it was typed.
        service: What the configuration asks for.
        to: Program of the other server.

    Raises:
        UsageError: The other server does not serve that interface.
    """
    interface, server = service.interface, TRANSLATABLE[to]
    if interface in server.interfaces:
        return
    if interface == UNKNOWN:
        problem = "does not tell whether its application is WSGI or ASGI: set worker_class"
        raise UsageError(f"{in_a_line(name)} {problem} as a class of gunicorn or uvicorn")
    way = f"write --interface {WSGI} or {ASGI}, whichever the application is"
    if interface == ASGI:
        others = (program for program, other in TRANSLATABLE.items() if ASGI in other.interfaces)
        other = next(program for program in others if program != service.program)
        way = f"translate it to {other}, or serve a2wsgi.ASGIMiddleware(app) instead"
    problem = f"serves an {interface.upper()} application, which {server.name} cannot serve"
    raise UsageError(f"{in_a_line(name)} {problem}: {way}")
