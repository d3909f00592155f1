"""Any other server: the commands of a peer's TOML, with its words filled in."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from lab.errors import ProfileError
from lab.model import Endpoint, Profile, Workload
from lab.servers.application import Sought
from lab.servers.process import Order, Process, serve
from lab.system import temporary
from lab.system.programs import ROOT, environment, output_of

FOLDER = ROOT / ".peers"
"""Virtual environments of peers that cannot share the lab's, and in `built` compiled programs."""


class CommandServer:
    """A `lab.model.Server` that runs the commands of a peer."""

    def check(self, profile: Profile) -> None:
        """
        Compile its program, where it has one: not when its turn comes.

        Raises:
            ProfileError: Its compiler fails.
        """
        if profile.build:
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
        chdir = workload.chdir or ROOT
        serves_app = any("{app}" in word for command in profile.commands for word in command)

        def order(endpoint: Endpoint) -> Order:
            words = {
                **places(profile),
                **({"built": str(built(profile))} if profile.build else {}),
                "host": endpoint.host,
                "port": str(endpoint.port),
                "address": endpoint.address,
                "socket": endpoint.socket,
                "app": workload.app or dict(profile.options)["app"],
                "chdir": str(chdir),
                "folder": str(folder),
                "workers": _workers(),
            }
            for name in profile.fill:
                text = dict(profile.options)[name]
                for old, new in profile.replace:
                    text = text.replace(old, new)
                temporary.write(folder / name, fill(text, words, profile.path))
            return Order(
                profile=profile.name,
                commands=tuple(
                    tuple(fill(word, words, profile.path) for word in command)
                    for command in profile.commands
                ),
                environment=environment(BIND=endpoint.host, PORT=str(endpoint.port)),
                folder=folder,
                cwd=chdir,
                cores=cores,
                sought=Sought(*_named(words["app"]), chdir, "--chdir names another folder")
                if serves_app
                else None,
            )

        return serve(order, workload, folder)


def places(profile: Profile) -> dict[str, str]:
    """Return those words of its commands that are known before a server has its address."""
    venv = {"venv": str(FOLDER / profile.venv / "bin")} if profile.venv else {}
    return {"python": sys.executable, "here": str(profile.path.parent), **venv}


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
    program = FOLDER / "built" / name
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        unfinished = program.with_name(f"{name}.{os.getpid()}")
        words = {**places(profile), "built": str(unfinished)}
        command = [fill(word, words, profile.path) for word in profile.build]
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


def _named(app: str) -> tuple[str, str]:
    """Return module and callable of an import path."""
    module, _, name = app.partition(":")
    return module, name or "application"


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
