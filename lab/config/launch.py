"""How a trial starts the server of a profile, and which application the server loads."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.config.interface import WSGI
from lab.config.meaning import ComputedValue, Settings
from lab.errors import ProfileError
from lab.model.profile import Profile
from lab.model.protocols import Endpoint
from lab.model.workload import Workload

RUNTIME_FOLDER = "XDG_RUNTIME_DIR"
"""Variable that names the folder of a user's sockets. gunicorn makes one in it from 25.1 on, or
else in the home: with a folder of the trial's own it takes none from a server in production."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where a trial starts a server."""

    endpoint: Endpoint
    """Where the server is to answer."""

    folder: Path
    """Private to the trial."""

    root: Path
    """The project's folder."""

    words: Mapping[str, str]
    """What stands in braces in a peer's commands and files -> what the machine has for it."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How the server of a profile is started at one address."""

    commands: tuple[tuple[str, ...], ...]
    """In start order; the machine looks up their programs."""

    environment: Mapping[str, str]
    """Variables beside those of the machine and of the user."""

    cwd: Path

    files: Mapping[str, str] = field(default_factory=dict)
    """Name -> text of the files that are written to the trial's folder."""

    stop_signal: signal.Signals = signal.SIGTERM
    """What asks this server to stop."""

    loads_in_workers: bool = False
    """Whether workers may still load the application when one of them answers."""

    owner: tuple[str | None, str | None] = (None, None)
    """User and group that the server becomes where root starts it; None: unchanged."""


@dataclass(frozen=True, slots=True)
class ApplicationTarget:
    """An application, as a server is told of it."""

    module: str
    """Full name of a module, or the path of a file."""
    callable: str
    """Its name there, or `name()` of a function that makes it."""
    folder: Path
    """Where it is imported."""
    how: str
    """What to write for another folder, such as "--chdir names another"."""
    named: str = ""
    """Where the user has named it: "--app shop:app", or the path of an ini."""
    python: str | None = None
    """What imports it; None where that is not known."""
    path: tuple[str, ...] = ()
    """Where its modules are looked for, before all that Python itself knows."""
    variables: tuple[tuple[str, str], ...] = ()
    """What its configuration adds to the environment."""
    interface: str = WSGI
    """How its server calls it; see `lab.config.interface`."""

    def __str__(self) -> str:
        return f"{self.module}:{self.callable}"


def by_commands(profile: Profile, workload: Workload, site: Site) -> Launch:
    """
    Return how the commands of a profile are started.

    Raises:
        ProfileError: A command or a file has a word in braces that is not known.
    """
    app, more = _app(profile, workload), tuple[str, ...]()
    if app.endswith("()") and profile.peer.factory:
        app, more = app.removesuffix("()"), profile.peer.factory
    endpoint, cwd = site.endpoint, _cwd(profile, workload, site.root)
    words = {
        **site.words,
        "host": endpoint.host,
        "port": str(endpoint.port),
        "address": endpoint.address,
        "socket": endpoint.socket,
        "app": app,
        "chdir": str(cwd),
        "folder": str(site.folder),
    }
    options, files = dict(profile.options), dict[str, str]()
    for name in profile.peer.fill:
        text = options[name]
        for old, new in profile.peer.replace:
            text = text.replace(old, new)
        files[name] = fill(text, words, profile.path)
    environment = {"BIND": endpoint.host, "PORT": str(endpoint.port)}
    if RUNTIME_FOLDER not in workload.runtime.variables.names:
        environment[RUNTIME_FOLDER] = str(site.folder)
    return Launch(
        commands=tuple(
            tuple(fill(word, words, profile.path) for word in _with(command, more))
            for command in profile.commands
        ),
        environment=environment,
        cwd=cwd,
        files=files,
        loads_in_workers=True,
    )


def application_of_commands(
    profile: Profile, workload: Workload, settings: Settings, root: Path, python: str | None
) -> ApplicationTarget | None:
    """Return the application that the commands of a profile load; see `Server.application`."""
    app = _app(profile, workload)
    serves = any("{app}" in word for command in profile.commands for word in command)
    if not app or not (serves or profile.private_copy):
        return None
    module, _, name = app.partition(":")
    options = settings.options if profile.private_copy and not workload.app else {}
    known = {key: value for key, value in options.items() if not isinstance(value, ComputedValue)}
    env = known.get("raw_env")
    pairs = (str(pair).partition("=") for pair in env) if isinstance(env, list) else ()
    return ApplicationTarget(
        module,
        name or "application",
        _cwd(profile, workload, root) / str(known.get("chdir", "")),
        "--chdir names another folder",
        path=tuple(filter(None, str(known.get("pythonpath", "")).split(","))),
        variables=tuple((variable, value) for variable, _, value in pairs),
        named=f"--app {app}" if workload.app else profile.name,
        # Of a profile that names its application nobody knows what imports that.
        python=python if workload.app else None,
    )


def placed(profile: Profile, root: Path) -> list[tuple[str, str]]:
    """Return the options of a profile, with its folder and the project's in their values."""
    here = str(profile.path.parent)
    return [
        (option, value.replace("{here}", here).replace("{root}", str(root)))
        for option, value in profile.options
    ]


def fill(text: str, words: Mapping[str, str], path: Path) -> str:
    """
    Return *text*, of the file *path*, with each {name} replaced.

    Braces around anything but one word stay as they are.

    Raises:
        ProfileError: A name is not among *words*.
    """

    def value(match: re.Match[str]) -> str:
        if match[1] not in words:
            known = " ".join(f"{{{name}}}" for name in words)
            raise ProfileError(path, f"it has {match[0]}, which is none of {known}")
        return words[match[1]]

    return re.sub(r"\{([a-z]+)\}", value, text)


def _cwd(profile: Profile, workload: Workload, root: Path) -> Path:
    """Return where the commands run."""
    path = (workload.runtime.cwd or profile.cwd) if profile.private_copy else None
    return workload.chdir or path or root


def _app(profile: Profile, workload: Workload) -> str:
    return workload.app or dict(profile.options).get("app", "")


def _with(command: Sequence[str], more: Sequence[str]) -> Sequence[str]:
    """Return a command with *more* words, if it is the one that names the application."""
    return (*command, *more) if any("{app}" in word for word in command) else command
