"""
Backing services: programs that servers need and that are not compared, started once a run.

A guard (`lab.bench.machine.guard`) stands above each, so that none outlives the lab.
"""

from __future__ import annotations

import os
import pwd
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from lab.bench.machine import temporary
from lab.bench.machine.programs import environment, search_path
from lab.bench.servers.ports import HOST, free_port
from lab.bench.servers.process import Order, Process
from lab.bench.servers.readiness import DEADLINE, INTERVAL, wait_until_ready
from lab.config.launch import fill
from lab.errors import BackingError, ServerStartError
from lab.model.backing import BackingRole, BackingService
from lab.model.protocols import Endpoint
from lab.model.request import Expectation
from lab.model.workload import Workload

STEP = 60.0
"""Seconds for a command that prepares or fills."""

PATIENCE = 2.0
"""Seconds in which a service that runs must answer; before a trial nobody else asks it."""


@contextmanager
def running(
    services: Iterable[BackingService], cores: tuple[Sequence[int], Sequence[int]] | None
) -> Iterator[tuple[RunningBacking, ...]]:
    """
    Start *services*, and stop them on exit; one of the user's is left alone.

    Meanwhile their environment is this process's, and so that of every server.

    Args:
        services: What to start.
        cores: The server's and the generator's; None for any.

    Raises:
        BackingError: One does not start.
    """
    before = dict(os.environ)
    with ExitStack() as stack:
        stack.callback(os.environ.update, before)
        stack.callback(os.environ.clear)
        started = []
        for service in services:
            if not service.theirs:
                service_cores = cores and cores[service.role is BackingRole.UPSTREAM]
                started.append(RunningBacking(service, service_cores))
                stack.callback(started[-1].stop)
        yield tuple(started)


class RunningBacking:
    """A backing service that was started; valid inside the `with` of `running`."""

    def __init__(self, service: BackingService, cores: Sequence[int] | None) -> None:
        self.service = service
        self._cores = cores
        self._made = ExitStack()
        self._start()

    @property
    def pid(self) -> int:
        """Root of its process tree."""
        return self._process.pid

    def check(self) -> bool:
        """
        Start it again unless it answers; return whether that was needed.

        Raises:
            BackingError: It does not start.
        """
        try:
            self._wait(PATIENCE)
        except ServerStartError:
            self.stop()
            self._start()
            return True
        return False

    def stop(self) -> None:
        """Ask it to stop, kill what is left, and remove its folder."""
        self._made.close()

    def _start(self) -> None:
        service, endpoint = self.service, Endpoint(HOST, free_port())
        where = {"host": endpoint.host, "port": str(endpoint.port), "python": sys.executable}
        here = {"here": str(service.file.parent)}
        prefix: tuple[str, ...] = ()
        try:
            folder = self._made.enter_context(temporary.folder())
            self._words = {**service.words, **where, **here, "folder": str(folder)}
            if service.user and not os.geteuid():
                user = pwd.getpwnam(service.user)
                os.chown(folder, user.pw_uid, user.pw_gid)
                ids = f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}"
                prefix = ("setpriv", *ids, "--init-groups")
            if service.version and not service.release:
                release = self._step(service.version, STEP).partition("\n")[0]
                self.service = replace(service, release=release)
            for command in service.prepare:
                self._step((*prefix, *command), STEP)
            run = [(*prefix, *command) for command in service.run]
            self._process = self._begun(run, folder, endpoint)
            self._made.callback(self._process.stop)
            self._wait(DEADLINE)
            for command in service.fill:
                self._step(command, STEP)
            for name, text in service.environment.items():
                os.environ[name] = self._filled(text)
        except ServerStartError as error:
            self.stop()
            raise BackingError(service.name, error.problem, error.log) from None
        except BaseException:
            self.stop()
            raise

    def _wait(self, deadline: float) -> None:
        """Return when it answers; raises ServerStartError if that is not in *deadline* seconds."""
        name, process, ready = self.service.name, self._process, self.service.ready
        if ready == "http":
            return wait_until_ready(name, process, Workload(name, "/", Expectation()), deadline)
        end = time.monotonic() + deadline
        while True:
            if (how := process.ended()) is not None:
                raise ServerStartError(name, how, process.log_tail())
            try:
                self._step(ready, deadline)
            except ServerStartError as error:
                if time.monotonic() > end:
                    raise ServerStartError(name, error.problem, process.log_tail()) from None
                time.sleep(INTERVAL)
            else:
                return None

    def _step(self, command: Sequence[str], seconds: float) -> str:
        """Run a command, and return what it printed; raises ServerStartError if it fails."""
        with temporary.folder() as folder:
            process = self._begun([command], folder, Endpoint(HOST, 0))
            try:
                ended = process.wait(0, seconds)
                how = process.ended() if ended else f"{command[0]} took more than {seconds:g} s"
                if process.stop() != 0:
                    raise ServerStartError(self.service.name, str(how), process.log_tail())
                return process.log()
            finally:
                process.kill()

    def _begun(self, run: Sequence[Sequence[str]], folder: Path, endpoint: Endpoint) -> Process:
        """Return the commands *run* under way, with their log in *folder*."""
        order = Order(
            profile=self.service.name,
            commands=[[self._filled(word) for word in command] for command in run],
            environment=environment(PATH=search_path(self.service.path)),
            folder=folder,
            cwd=Path(self._words["folder"]),
            cores=self._cores,
        )
        return Process(order, endpoint)

    def _filled(self, text: str) -> str:
        return fill(text, self._words, self.service.file)
