"""
The servers that `lab` knows, by program, profile, file and configuration.

No other part of `lab` asks which server it is. To add a server that is known by its command alone,
add an entry to `commands.toml`. To add a server whose options are known, add a folder with its
`Server`, and name that in `_KNOWN`. Nothing here starts a server.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from lab.config.command_edit import with_prefix
from lab.config.configuration import Config
from lab.config.granian.server import GRANIAN
from lab.config.gunicorn.server import GUNICORN
from lab.config.hypercorn.server import HYPERCORN
from lab.config.interface import ASGI, UNKNOWN, WSGI
from lab.config.meaning import Settings
from lab.config.server import Server
from lab.config.steps import AnySteps, Prefix
from lab.config.uvicorn.server import UVICORN
from lab.config.uwsgi.server import UWSGI
from lab.config.vocabulary.steps_for_meaning import GROUPS as OF_EVERY_SERVER
from lab.errors import UsageError
from lab.model.wording import in_a_line

if TYPE_CHECKING:  # what reads a configuration needs neither
    from lab.config.vocabulary.service import Service
    from lab.model.profile import Profile

COMMANDS = Path(__file__).with_name("commands.toml")
"""The servers of which only the command is known."""

STDIN = Path("-")
"""The path of a command that is read from standard input."""

_KNOWN: tuple[Server, ...] = (UWSGI, GUNICORN, GRANIAN, UVICORN, HYPERCORN)

TRANSLATABLE: Mapping[str, Server] = {server.program: server for server in _KNOWN if server.output}
"""Program -> server, of the servers that `lab` translates from and to."""

EDITABLE = tuple(server.program for server in _KNOWN if server.edits_command)
"""Programs whose command `lab` can edit."""

GROUPS: Mapping[str, str] = {
    **OF_EVERY_SERVER,
    **{group: text for server in _KNOWN for group, text in server.groups.items()},
}
"""Groups of changes that `lab tune` tries -> what each group is."""


@cache
def every() -> tuple[Server, ...]:
    """Return all servers; those with known options come first."""
    entries = tomllib.loads(COMMANDS.read_text(encoding="utf-8"))
    return (*_KNOWN, *(_by_command(program, entry) for program, entry in entries.items()))


def _by_command(program: str, entry: Mapping[str, Sequence[str]]) -> Server:
    """Return the server of an entry of `COMMANDS`."""
    known = {"listen", "workers", "threads", "interface"}
    assert entry.keys() <= known, f"{COMMANDS}: {program} has {entry}"
    listen, workers, threads = (
        tuple(entry.get(key, ())) for key in ("listen", "workers", "threads")
    )
    interface = str(entry.get("interface", WSGI))
    return Server(program, program, listen, workers, threads, default_interface=interface)


def named(program: str) -> Server | None:
    """Return the server of a program, given as a name or a path; None: unknown."""
    name = PurePath(program).name
    return next((server for server in every() if server.program == name), None)


def of_command(words: Sequence[str]) -> Server | None:
    """Return the server of the first word that names one: gunicorn for `env A=1 gunicorn`."""
    return next(filter(None, map(named, words)), None)


def of(profile: Profile) -> Server:
    """Return the server of a profile: that of the first command with a known one."""
    if profile.server == UWSGI.program:
        return UWSGI
    return next(filter(None, map(of_command, profile.commands)), Server())


def settings(profile: Profile) -> Settings:
    """Return what the options of a profile mean, whichever server it is for."""
    return of(profile).settings(profile)


def of_file(path: Path, text: str = "") -> Server | None:
    """Return the server of a configuration, by its name or else by its *text*; None: unknown."""
    if path == STDIN:
        commands = [server for server in every() if server.reads_command]
        named = (server for server in commands if re.search(rf"\b{server.program}\s", text))
        return next(named, commands[0])
    endings = {
        ending: server
        for server in reversed(every())
        for ending in server.endings
        if path.name.endswith(ending)
    }
    if endings:  # hypercorn_config.py is not gunicorn's
        return endings[max(endings, key=len)]
    return next((server for server in every() if server.recognises(text)), None)


def of_config(config: Config) -> Server:
    """Return the server of a configuration that was read."""
    return next(server for server in every() if server.name == config.server)


def edited(config: Config, steps: AnySteps) -> str:
    """
    Return the text of a configuration's file after the steps; see `Server.edited`.

    Raises:
        ProfileError: A step cannot be made in that file; the message says what to do by hand.
    """
    server = of_config(config)
    of_options = [(step, says) for step, says in steps if not isinstance(step, Prefix)]
    if len(of_options) == len(steps):
        return server.edited(config, of_options)
    for step, says in steps:
        if isinstance(step, Prefix):
            text = with_prefix(config, step, says)
        else:
            text = server.edited(config, [(step, says)])
        config = with_text(config, text)
    return config.texts[config.file]


def with_text(config: Config, text: str, file: Path | None = None) -> Config:
    """
    Return a configuration with another text; nothing is written.

    Args:
        config: The configuration as it was read.
        text: The new text of its file.
        file: Another file to read in its place; None: the same file.

    Raises:
        ProfileError: The text cannot be read.
    """
    file = file or config.file
    overlay = {**config.known.overlay, file: text}
    read = of_config(config).read(file, replace(config.known, overlay=overlay))
    return replace(read, start=config.start)


def of_code(code: str) -> Server:
    """Return the server of a rule of the linter, by the code of the rule."""
    return next(server for server in every() if server.code and code.startswith(server.code))


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
    if others := [
        other.program
        for other in TRANSLATABLE.values()
        if interface in other.interfaces and other.program != service.program
    ]:
        adapter = "a2wsgi.ASGIMiddleware" if interface == ASGI else "a2wsgi.WSGIMiddleware"
        way = f"translate it to {others[0]}, or serve {adapter}(app) instead"
    article = "a" if interface == WSGI else "an"
    problem = f"serves {article} {interface.upper()} application, which {server.name} cannot serve"
    raise UsageError(f"{in_a_line(name)} {problem}: {way}")
