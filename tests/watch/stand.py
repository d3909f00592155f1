"""A server whose requests a test holds, so that it knows exactly how many are in flight."""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.analysis.in_flight import Look
from lab.bench.probes import watching
from lab.bench.probes.sock_diag import SocketDiagnosis, SocketDiagnosisError
from lab.bench.servers.ports import free_port
from lab.cli.watch.target import find_target
from tests.kit.lab_process import BIN, SITES, environment, until


def why_none() -> str | None:
    """Return why the kernel tells nothing here; None where it does."""
    try:
        with SocketDiagnosis() as diagnosis:
            diagnosis.listeners()
    except SocketDiagnosisError as error:
        return str(error)
    return None


needs_diagnosis = pytest.mark.skipif(why_none() is not None, reason=f"{why_none()}")


Place = int | tuple[str, int] | Path
"""A port of this host, an address and its port, or the path of a UNIX socket."""


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

    def __init__(self, where: Place, number: int) -> None:
        self._connections = [self._connected(where) for _ in range(number)]

    @staticmethod
    def _connected(where: Place) -> socket.socket:
        """Return a connection to a port, an address with its port, or a path."""
        if isinstance(where, int):
            where = ("127.0.0.1", where)
        if isinstance(where, tuple):
            return socket.create_connection(where)
        conn = socket.socket(socket.AF_UNIX)
        try:
            conn.connect(str(where))
        except OSError:
            conn.close()
            raise
        return conn

    def send(self, path: str, number: int, headers: str = "") -> None:
        """Send a request on the first *number* connections."""
        for conn in self._connections[:number]:
            conn.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n".encode())

    def receive(self, number: int) -> None:
        """Read a whole reply on the first *number* connections; close those that it ends."""
        for conn in self._connections[:number]:
            conn.settimeout(30)
            reply = b""
            while b"ready" not in reply:
                piece = conn.recv(4096)
                assert piece, reply
                reply += piece
            if b"connection: close" in reply.lower():
                conn.close()

    def receive_to_end(self) -> None:
        """Read a reply until the server closes, so that it has no connection left."""
        for conn in self._connections:
            conn.settimeout(30)
            reply = b"".join(iter(lambda conn=conn: conn.recv(4096), b""))
            assert b"ready" in reply, reply

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


def connected(where: Place, number: int) -> Clients:
    """Return clients of a server, as soon as it answers."""

    def answers() -> bool:
        try:
            first = Clients(where, 1)
        except OSError:
            return False
        with contextlib.closing(first):
            first.send("/", 1, "Connection: close\r\n")
            first.receive_to_end()
        return True

    until(answers, "an answer")
    return Clients(where, number)


class Watcher:
    """Watches a server all the time, as `lab watch` does, and hands out looks."""

    def __init__(self, server: str) -> None:
        self.target = find_target(server)
        self._diagnosis = SocketDiagnosis(self.target.space)
        self.watching = watching.Watching(self.target, self._diagnosis)
        self._looks = self.watching.looks(None)
        self._made: queue.Queue[Look] = queue.Queue()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def looks(self, number: int = 3) -> list[Look]:
        """Return some looks from now on, after the ladder has had its time."""
        enough = time.monotonic() + watching.LEARNING
        until(lambda: time.monotonic() > enough, "learning")
        while not self._made.empty():
            self._made.get()
        return [self._made.get(timeout=60) for _ in range(number)]

    def close(self) -> None:
        """End."""
        self._ended.set()
        self._thread.join()
        self._diagnosis.close()

    def _watch(self) -> None:
        for look in self._looks:
            self._made.put(look)
            if self._ended.is_set():
                return


def looks_at(server: str, number: int = 3) -> list[Look]:
    """Return some looks at a server."""
    with contextlib.closing(Watcher(server)) as watcher:
        return watcher.looks(number)
