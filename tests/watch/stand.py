"""A server whose requests a test holds, so that it knows exactly how many are in flight."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.analysis.in_flight import Look
from lab.bench.probes.sock_diag import SocketDiagnosis, SocketDiagnosisError
from lab.bench.servers.ports import free_port
from lab.cli.watch import watching
from lab.cli.watch.target import find_target
from tests.kit.lab_process import BIN, SITES, environment, until

LEARNING = 0.5
"""Seconds that a test lets the ladder learn: more than `lab.analysis.ladder.OWED`."""


def why_none() -> str | None:
    """Return why the kernel tells nothing here; None where it does."""
    try:
        with SocketDiagnosis() as diagnosis:
            diagnosis.listeners()
    except SocketDiagnosisError as error:
        return str(error)
    return None


needs_diagnosis = pytest.mark.skipif(why_none() is not None, reason=f"{why_none()}")


class Gate:
    """Holds the requests in the application's code: a connection for each."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._listener.setblocking(False)
        self.port = self._listener.getsockname()[1]
        self.held: list[socket.socket] = []
        self.passed = 0

    def count(self) -> int:
        """Return how many requests are held."""
        with contextlib.suppress(BlockingIOError):
            while True:
                self.held.append(self._listener.accept()[0])
        return len(self.held)

    def wait_for(self, number: int) -> None:
        """Wait until so many requests are held."""
        until(lambda: self.count() >= number, f"{number} requests in the application")

    def release(self) -> None:
        """Let those that are held go."""
        for conn in self.held:
            conn.close()
        self.passed += len(self.held)
        self.held.clear()

    def pass_all(self, number: int) -> None:
        """Let requests go until so many more have passed."""
        last = self.passed + number

        def passed() -> bool:
            self.count()
            self.release()
            return self.passed >= last

        until(passed, f"{number} requests")

    def close(self) -> None:
        """Let all go, now and later."""
        self._listener.close()
        self.release()


class Clients:
    """Connections of clients to a server."""

    def __init__(self, port: int, number: int) -> None:
        self._connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(number)]

    def send(self, path: str, number: int) -> None:
        """Send a request on the first *number* connections."""
        for conn in self._connections[:number]:
            conn.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())

    def receive(self, number: int) -> None:
        """Read a whole reply on the first *number* connections."""
        for conn in self._connections[:number]:
            conn.settimeout(30)
            reply = b""
            while b"ready" not in reply:
                piece = conn.recv(4096)
                assert piece, reply
                reply += piece

    def close(self) -> None:
        """Close all."""
        for conn in self._connections:
            conn.close()


@contextmanager
def stand(folder: Path, *words: str, port: int | None = None) -> Iterator[tuple[Gate, int, int]]:
    """Run a server of `tests/sites/held.py`; yield its gate, its port and its first process."""
    gate, port = Gate(), port or free_port()
    environ = environment() | {"GATE": str(gate.port), "PYTHONPATH": str(SITES)}
    command = [word.format(port=port, bin=BIN, folder=folder) for word in words]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [BIN / command[0], *command[1:]],
            cwd=folder, env=environ, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        yield gate, port, process.pid
    finally:
        gate.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait()


def connected(port: int, number: int) -> Clients:
    """Return clients of a server, as soon as it answers."""

    def answers() -> bool:
        try:
            first = Clients(port, 1)
        except OSError:
            return False
        with contextlib.closing(first):
            first.send("/", 1)
            first.receive(1)
        return True

    until(answers, "an answer")
    return Clients(port, number)


def looks_at(server: str, number: int = 3) -> list[Look]:
    """Return some looks at a server, after the ladder has learned."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(watching, "LEARNING", LEARNING)
        target = find_target(server)
        with SocketDiagnosis(target.space) as diagnosis:
            looks = watching.Watching(target, diagnosis).looks(None)
            return [next(looks) for _ in range(number)]
