"""Starts the server of any profile, as its `Server` says, and stops it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path

from lab.bench.machine import project, temporary
from lab.bench.machine.programs import environment, output_of
from lab.bench.machine.runtime import (
    command_of,
    environment_of,
    python_of,
    python_serving,
    runtime_of,
)
from lab.bench.servers.process import Order, Process, serve
from lab.config import servers
from lab.config.launch import ApplicationTarget, Launch, Site, fill
from lab.errors import ProfileError
from lab.model.profile import Profile
from lab.model.protocols import Endpoint
from lab.model.runtime import OURS, Runtime
from lab.model.workload import Workload


class ServerRunner:
    """The `lab.model.protocols.Runner` of every server."""

    def check(self, profile: Profile) -> None:
        """
        Refuse a profile that does not listen where it is told, and compile the program of one.

        Raises:
            ProfileError: It listens elsewhere; or its compiler fails.
        """
        servers.of(profile).check(profile)
        if profile.peer.build:
            built(profile)

    def start(
        self, profile: Profile, workload: Workload, folder: Path, cores: Sequence[int] | None
    ) -> AbstractContextManager[Process]:
        """
        Start *profile* on a free port, wait for the right reply, and stop it on exit.

        Raises:
            ProfileError: See `Server.private`.
            ServerStartError: A command is not installed or ended, or no correct reply came in time.
        """
        server, runtime = servers.of(profile), runtime_of(profile, workload.runtime)
        words = {
            **places(profile, runtime),
            **({"built": str(built(profile))} if profile.peer.build else {}),
            "workers": _workers(),
            "threads": os.environ.get("THREADS") or "1",
            "cpu": str(min(cores or os.sched_getaffinity(0))),
        }

        def order(endpoint: Endpoint) -> Order:
            site = Site(endpoint, folder, project.root(), words)
            launch = server.launch(profile, workload, site)
            for name, text in launch.files.items():
                temporary.write(folder / name, text)
            _hand_over(folder, launch)
            return Order(
                profile=profile.name,
                commands=tuple(command_of(runtime, *command) for command in launch.commands),
                environment=environment_of(runtime, **launch.environment),
                folder=folder,
                cwd=launch.cwd,
                cores=cores,
                stop_signal=launch.stop_signal,
                loads_in_workers=launch.loads_in_workers,
            )

        return serve(order, workload, folder)

    def target_of(self, profile: Profile, workload: Workload) -> ApplicationTarget | None:
        """Return which application *profile* is to load for *workload*, and where; None if none."""
        server, runtime = servers.of(profile), runtime_of(profile, workload.runtime)
        python = python_serving(runtime, server.program)
        target = server.application(profile, workload, project.root(), python)
        return target and replace(target, interface=server.interface(profile))


def _hand_over(folder: Path, launch: Launch) -> None:
    """Give the trial's folder to the user that a server of root's becomes."""
    if os.geteuid() != 0 or not any(launch.owner):
        return
    log = folder / "server.log"
    log.touch()
    ids = [-1 if name is None else int(name) if name.isdecimal() else name for name in launch.owner]
    with suppress(LookupError):  # the server says that there is no such user
        for path in (folder, log):
            shutil.chown(path, *ids)


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
