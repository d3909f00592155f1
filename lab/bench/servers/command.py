"""Any other server: the commands of a peer's TOML, with its words filled in."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from lab.bench.machine import project, temporary
from lab.bench.machine.programs import environment, output_of
from lab.bench.machine.runtime import command_of, environment_of, python_of
from lab.bench.servers.application import ApplicationTarget
from lab.bench.servers.process import Order, Process, serve
from lab.config import servers
from lab.config.meaning import ComputedValue
from lab.errors import ProfileError
from lab.model.profile import Profile
from lab.model.protocols import Endpoint
from lab.model.runtime import OURS, Runtime
from lab.model.workload import Workload

RUNTIME_FOLDER = "XDG_RUNTIME_DIR"
"""Variable that names the folder of a user's sockets. gunicorn makes one in it from 25.1 on, or
else in the home: with a folder of the trial's own it takes none from a server in production."""


class CommandServer:
    """A `lab.model.protocols.Runner` that runs the commands of a peer."""

    def check(self, profile: Profile) -> None:
        """
        Compile its program, where it has one: not when its turn comes.

        Raises:
            ProfileError: Its compiler fails.
        """
        if profile.peer.build:
            built(profile)

    def start(
        self, profile: Profile, workload: Workload, folder: Path, cores: Sequence[int] | None
    ) -> AbstractContextManager[Process]:
        """
        Start *profile* on a free port, wait for the right reply, and stop it on exit.

        Raises:
            ProfileError: A command has a word in braces that is not known.
            ServerStartError: A command is not installed or ended, or no correct reply came in time.
        """
        chdir, runtime = _folder(profile, workload), workload.runtime
        app, more = _app(profile, workload), tuple[str, ...]()
        if app.endswith("()") and profile.peer.factory:
            app, more = app.removesuffix("()"), profile.peer.factory

        def order(endpoint: Endpoint) -> Order:
            words = {
                **places(profile, runtime),
                **({"built": str(built(profile))} if profile.peer.build else {}),
                "host": endpoint.host,
                "port": str(endpoint.port),
                "address": endpoint.address,
                "socket": endpoint.socket,
                "app": app,
                "chdir": str(chdir),
                "folder": str(folder),
                "workers": _workers(),
                "threads": os.environ.get("THREADS") or "1",
            }
            for name in profile.peer.fill:
                text = dict(profile.options)[name]
                for old, new in profile.peer.replace:
                    text = text.replace(old, new)
                temporary.write(folder / name, fill(text, words, profile.path))
            return Order(
                profile=profile.name,
                commands=tuple(
                    command_of(runtime, *(fill(word, words, profile.path) for word in command))
                    for command in (_with(command, more) for command in profile.commands)
                ),
                environment=_environment(runtime, endpoint, folder),
                folder=folder,
                cwd=chdir,
                cores=cores,
                loads_in_workers=True,
            )

        return serve(order, workload, folder)

    def sought(self, profile: Profile, workload: Workload) -> ApplicationTarget | None:
        """Return which application *profile* is to load for *workload*, and where; None if none."""
        app = _app(profile, workload)
        serves = any("{app}" in word for command in profile.commands for word in command)
        if not app or not (serves or profile.own):
            return None
        module, _, name = app.partition(":")
        known = servers.settings(profile).options if profile.own and not workload.app else {}
        said = {
            name: value for name, value in known.items() if not isinstance(value, ComputedValue)
        }
        env = said.get("raw_env")
        pairs = (str(each).partition("=") for each in env) if isinstance(env, list) else ()
        return ApplicationTarget(
            module,
            name or "application",
            _folder(profile, workload) / str(said.get("chdir", "")),
            "--chdir names another folder",
            path=tuple(filter(None, str(said.get("pythonpath", "")).split(","))),
            variables=tuple((name, value) for name, _, value in pairs),
            named=f"--app {app}" if workload.app else profile.name,
            # Of a profile that names its application nobody knows what imports that.
            python=python_of(workload.runtime) if workload.app else None,
        )


def _environment(runtime: Runtime, endpoint: Endpoint, folder: Path) -> dict[str, str]:
    """Return what the commands find in their environment."""
    own = {} if RUNTIME_FOLDER in runtime.variables.names else {RUNTIME_FOLDER: str(folder)}
    return environment_of(runtime, BIND=endpoint.host, PORT=str(endpoint.port), **own)


def _folder(profile: Profile, workload: Workload) -> Path:
    """Return where the commands run."""
    path = (workload.runtime.cwd or profile.cwd) if profile.own else None
    return workload.chdir or path or project.root()


def _app(profile: Profile, workload: Workload) -> str:
    return workload.app or dict(profile.options).get("app", "")


def _with(command: Sequence[str], more: Sequence[str]) -> Sequence[str]:
    """Return a command with *more* words, if it is the one that names the application."""
    return (*command, *more) if any("{app}" in word for word in command) else command


def places(profile: Profile, runtime: Runtime = OURS) -> dict[str, str]:
    """Return those words of its commands that are known before a server has its address."""
    venv = (
        {"venv": str(project.environments() / profile.peer.venv / "bin")}
        if profile.peer.venv
        else {}
    )
    return {"python": python_of(runtime), "here": str(profile.path.parent), **venv}


def built(profile: Profile) -> Path:
    """
    Return the program of a profile that says how to compile it.

    It is made once for what the profile says, its sources, and the compiler's version.

    Raises:
        ProfileError: The compiler is not installed, or fails.
    """
    compiler = profile.version and output_of(*profile.version)
    made_of = f"{profile.digest} {compiler}"
    name = f"{profile.name}-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}"
    program = project.environments() / "built" / name
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        unfinished = program.with_name(f"{name}.{os.getpid()}")
        words = {**places(profile), "built": str(unfinished)}
        command = [fill(word, words, profile.path) for word in profile.peer.build]
        problem = f"{command[0]} is not installed"
        with suppress(FileNotFoundError):
            done = subprocess.run(
                command, env=environment(), capture_output=True, text=True, check=False
            )
            problem = f"{command[0]} fails: {done.stderr.strip()}"
        if not unfinished.exists():
            raise ProfileError(profile.path, problem)
        unfinished.replace(program)
    return program


def _workers() -> str:
    """Return how many processes a profile is to run: as many as PROCESSES gives one of uWSGI's."""
    return os.environ.get("PROCESSES") or str(max(2, os.cpu_count() or 1))


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
