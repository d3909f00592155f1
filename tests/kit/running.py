"""A profile that runs for a test: where it answers, its processes, and what it has written."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import psutil
import pytest

from lab.bench import profiles
from lab.bench.servers.fetch import exchange, fetch
from lab.bench.servers.process import Process
from lab.bench.servers.runner import ServerRunner
from lab.bench.trials.available import look
from lab.bench.trials.plan import arm_of
from lab.bench.workloads import workload
from lab.model.echo import message
from lab.model.plan import Load
from lab.model.profile import Profile
from lab.model.protocols import Endpoint
from lab.model.workload import Wire, Workload
from tests.kit.lab_process import until

_WORKER = re.compile(r"spawned uWSGI worker \d+ \(.*?pid: (\d+)")


def read_installed(name: str) -> Profile:
    """Return the profile of a name; skip the test where a program that it needs is missing."""
    installation = look(name)
    if installation.missing is not None:
        pytest.skip(f"{name} {installation.missing}")
    return installation.profile


def answer(endpoint: Endpoint, workload: Workload) -> tuple[bytes, bytes | None]:
    """Return what came back from a server, and what should."""
    if workload.wire is Wire.ECHO:
        sent = message(1, workload.size, workload.lines)
        return exchange(endpoint, sent, 5.0, 5.0), sent
    return fetch(endpoint, workload.path, 5.0)[2], workload.expect.body


@dataclass
class Running:
    """A started profile."""

    server: Process
    folder: Path
    """Its log and its sockets."""

    @property
    def address(self) -> tuple[str, int]:
        """Host and port where it answers."""
        return self.server.endpoint.host, self.server.endpoint.port

    def tree(self) -> list[psutil.Process]:
        """Return its processes, without the guard above them."""
        return psutil.Process(self.server.pid).children(recursive=True)

    def log(self) -> str:
        """Return all that it has written so far."""
        path = self.folder / "server.log"
        return path.read_text(encoding="utf-8", errors="replace")

    def spawned(self) -> list[int]:
        """Return the process ids of all workers of uWSGI that were ever started."""
        return [int(pid) for pid in _WORKER.findall(self.log())]


@contextmanager
def running(
    profile: str | Profile,
    load: Workload | None = None,
    folder: Path | None = None,
    workers: int | None = None,
    cores: Sequence[int] | None = None,
) -> Iterator[Running]:
    """
    Run a profile until the block ends.

    Args:
        profile: It, or what `lab run` calls it.
        load: Its application, and what proves that it is ready; by default this project's.
        folder: Its log and its sockets; by default one that is removed at the end.
        workers: Of each uWSGI, and all of them are waited for: one is enough to be ready, while
            another instance may still be starting. By default as many as the profile says.
        cores: That it may use; by default all.
    """
    if isinstance(profile, str):
        profile = profiles.read(profile)
    load = load or arm_of(profile, workload("fib"), Load()).workload
    variables = {} if workers is None else {"PROCESSES": str(workers)}
    with (
        mock.patch.dict(os.environ, variables),
        nullcontext(folder) if folder else tempfile.TemporaryDirectory() as path,
        ServerRunner().start(profile, load, Path(path), cores) as server,
    ):
        running_server = Running(server, Path(path))
        instances = sum("uwsgi" in command for command in profile.commands) or 1
        expected = instances * (workers or 0)
        until(lambda: len(running_server.spawned()) >= expected, f"the start of {expected} workers")
        yield running_server
