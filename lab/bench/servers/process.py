"""
Start the commands of a server under its guard, and stop them so that nothing is left.

The guard (`lab.bench.machine.guard`) is a process of its own, because only another process can
clean up after a lab that was killed. Everything here is blocking and single-threaded, so that it
also works where gevent has patched the standard library.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.bench.machine.children import GUARD, decoded, encoded
from lab.bench.servers.application import explained
from lab.bench.servers.ports import free_endpoint, served
from lab.bench.servers.readiness import wait_until_at_rest, wait_until_ready
from lab.errors import LabError, ServerStartError
from lab.model.protocols import Endpoint
from lab.model.workload import Workload

STOP_DEADLINE = 5.0
"""Seconds from asking a server to stop until it is killed."""

KILL_DEADLINE = 5.0
"""Seconds for SIGKILL to take effect; more than that needs a process in uninterruptible sleep."""

PORT_ATTEMPTS = 3
"""A port that was free may be taken before the server binds it; not three times in a row."""

SLICE = 0.05
"""Seconds of one wait for the guard: patched by gevent 26.9, select() sleeps through a pipe's end
of file, but sees it when it is called again."""

MOST_LOG = 8 << 20
"""Bytes of a log that are kept of a server that did not start: it may print without end."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be started."""

    profile: str
    """Its name, for messages."""
    commands: Sequence[Sequence[str]]
    """In start order; the first is the one whose end is the server's end."""
    environment: Mapping[str, str]
    folder: Path
    """Private to the trial; the log is written there."""
    cwd: Path
    cores: Sequence[int] | None
    stop_signal: signal.Signals = signal.SIGTERM
    """What asks this server to stop."""
    loads_in_workers: bool = False
    """Whether workers may still load the application when one of them answers."""


class Process:
    """A server under its guard: a `lab.model.protocols.RunningServer`."""

    def __init__(self, order: Order, endpoint: Endpoint) -> None:
        """
        Start the commands.

        Raises:
            ServerStartError: A command cannot be executed.
        """
        self.endpoint = endpoint
        self._order = order
        self._log = order.folder / "server.log"
        self._statuses: dict[int, int] = {}
        self._started: Sequence[int] | None = None
        self._failed: str | None = None
        self._pending = b""
        self._closed = False
        their_input, self._input = os.pipe()
        self._output, their_output = os.pipe()
        try:
            with self._log.open("wb") as log:
                self._guard = subprocess.Popen(
                    (sys.executable, "-I", "-S", str(GUARD)),
                    stdin=their_input,
                    stdout=their_output,
                    stderr=log,
                    start_new_session=True,
                )
        except BaseException:
            os.close(self._input)
            os.close(self._output)
            raise
        finally:
            os.close(their_input)
            os.close(their_output)
        self.pid = self._guard.pid
        try:
            self._begin()
        except BaseException:
            self.kill()
            raise

    def ended(self) -> str | None:
        """Return how the first command that ended did so, or None while all run."""
        self._receive(0.0)
        for index, status in self._statuses.items():
            how = f"signal {-status}" if status < 0 else f"exit status {status}"
            return f"{Path(self._order.commands[index][0]).name} ended with {how}"
        return "its guard ended" if self._closed else None

    @property
    def commands(self) -> tuple[tuple[int, Sequence[str]], ...]:
        """The process id and the words of each command, in start order."""
        return tuple(zip(self._started or (), self._order.commands, strict=True))

    @property
    def stop_signal(self) -> signal.Signals:
        """What asks the commands to stop."""
        return self._order.stop_signal

    def signal(self, index: int, number: int) -> bool:
        """Send a signal to the command at *index*; return whether it was still there."""
        if self.wait(index, 0.0):
            return False
        os.kill(self.commands[index][0], number)
        return True

    def wait(self, index: int, seconds: float) -> bool:
        """Wait at most *seconds* for the command at *index* to end; return whether it has."""
        deadline = time.monotonic() + seconds
        while True:
            remaining = deadline - time.monotonic()
            self._receive(max(0.0, min(SLICE, remaining)))
            if index in self._statuses or self._closed:
                return True
            if remaining <= 0:
                return False

    def start_again(self, index: int) -> None:
        """
        Start the command at *index* once more, which has ended.

        Raises:
            ServerStartError: It cannot be executed any more.
        """
        assert self.wait(index, 0.0), "a command that runs was to be started again"
        del self._statuses[index]
        self._started = None
        self._send(b"again %d\n" % index)
        self._await_start()

    def log(self, most: int = -1) -> str:
        """Return the server's output so far: all of it, or its first *most* bytes."""
        with self._log.open("rb") as log:
            return log.read(most).decode("utf-8", "replace")

    def log_tail(self, lines: int = 20) -> str:
        """Return the last lines of the server's output."""
        with self._log.open("rb") as log:
            log.seek(max(0, self._log.stat().st_size - 65536))
            text = log.read().decode("utf-8", "replace")
        return "\n".join(text.splitlines()[-lines:])

    def stop(self) -> int | None:
        """
        Ask every command to stop, wait for it, then kill whatever is left of the tree.

        Once stopped, it only returns the status again.

        Returns:
            Exit status of the first command, negative for a signal; None when it had to be killed.

        Raises:
            LabError: Something of it is still there.
        """
        if self._input < 0:
            return self._statuses.get(0)
        try:
            self._send(b"%d\n" % self._order.stop_signal)
            deadline = time.monotonic() + STOP_DEADLINE
            while len(self._statuses) < len(self._order.commands) and not self._closed:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    break
                self._receive(remaining)
        finally:
            self.kill()
        self.check_gone()
        return self._statuses.get(0)

    def kill(self) -> None:
        """
        Close the guard's pipe and wait until it has killed the whole tree.

        Raises:
            LabError: It has not within the deadline.
        """
        if self._input < 0:
            return
        os.close(self._input)
        self._input = -1
        deadline = time.monotonic() + KILL_DEADLINE
        try:
            while not self._closed:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    raise LabError(
                        f"profile {self._order.profile}: processes below {self.pid} survive SIGKILL"
                    )
                self._receive(remaining)
        finally:
            os.close(self._output)
            self._output = -1
        # It exits with 0 only when it has no child left; all that was below it is its child then.
        if (status := self._guard.wait(KILL_DEADLINE)) != 0:
            raise LabError(
                f"profile {self._order.profile}: its guard ended with {status}, so its server may "
                f"still run; see {self._log}"
            )

    def check_gone(self) -> None:
        """
        Prove that a killed server, which had answered, answers no more.

        Raises:
            LabError: Its address is still served.
        """
        if served(self.endpoint):
            raise LabError(
                f"profile {self._order.profile}: {self.endpoint.address} is still served after its "
                "server was stopped"
            )

    def _begin(self) -> None:
        order = self._order
        self._send(
            encoded(
                {
                    "commands": [list(command) for command in order.commands],
                    "environment": dict(order.environment),
                    "cwd": str(order.cwd),
                    "cores": None if order.cores is None else list(order.cores),
                }
            )
        )
        self._await_start()

    def _await_start(self) -> None:
        while self._started is None:
            self._receive(KILL_DEADLINE)
            if self._failed is not None or self._closed:
                problem = f"cannot be started: {self._failed or 'its guard ended'}"
                raise ServerStartError(self._order.profile, problem, self.log_tail())

    def _send(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._input, data) :]
        except BrokenPipeError:
            self._closed = True

    def _receive(self, timeout: float) -> None:
        """Take in what the guard has reported, waiting at most *timeout* seconds for it."""
        deadline = time.monotonic() + timeout
        ready = False
        while not ready and not self._closed:
            remaining = max(0.0, deadline - time.monotonic())
            ready = bool(select.select([self._output], [], [], min(SLICE, remaining))[0])
            if not ready and not remaining:
                return
        if self._closed:
            return
        read = os.read(self._output, 65536)
        self._closed = not read
        *lines, self._pending = (self._pending + read).split(b"\n")
        for line in lines:
            event = decoded(line)
            if "ended" in event:
                self._statuses[event["ended"]] = event["status"]
            self._started = event.get("started", self._started)
            self._failed = event.get("failed", self._failed)


@contextmanager
def serve(
    order_for: Callable[[Endpoint], Order], workload: Workload, folder: Path
) -> Iterator[Process]:
    """
    Start a server where nobody answers, yield it once it gives the right reply, and kill it.

    Killed and not asked to stop: a uWSGI master takes a second to notice, in which nothing is
    learnt. That a profile obeys SIGTERM is for the tests to say.

    Args:
        order_for: Returns what to start, given where it is to answer.
        workload: The request and the reply that prove readiness, and what carries them.
        folder: Private to the trial: a UNIX socket is made there.

    Raises:
        ServerStartError: It ended, or gave no correct reply before the deadline.
        LabError: It could not be stopped.
    """
    process = _start(order_for, workload, folder)
    try:
        yield process
    finally:
        process.kill()
        process.check_gone()


def _start(order_for: Callable[[Endpoint], Order], workload: Workload, folder: Path) -> Process:
    for attempt in range(1, PORT_ATTEMPTS + 1):
        endpoint = free_endpoint(workload, folder)
        order = order_for(endpoint)
        process = Process(order, endpoint)
        try:
            wait_until_ready(order.profile, process, workload)
            if order.loads_in_workers:
                wait_until_at_rest(process.pid)
        except ServerStartError as error:
            process.kill()
            # Taken between the look and the bind: by a listener, or by a client's own connection.
            if "address already in use" not in error.log.lower():
                raise explained(error, process.log(MOST_LOG)) from None
            if attempt == PORT_ATTEMPTS:
                if not served(endpoint):
                    raise
                problem = f"port {endpoint.port} is in use by another process ({error.problem})"
                raise ServerStartError(order.profile, problem, error.log) from None
        except BaseException:
            process.kill()
            raise
        else:
            return process
    raise AssertionError("unreachable")
