"""The engine as a generator: one child process, pinned, told what to do over pipes."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from time import monotonic
from typing import IO, Any

import lab
from lab.errors import GeneratorError, UsageError
from lab.generators.child import WARM_UP_GRACE
from lab.generators.codec import decode_window
from lab.generators.request import build_request
from lab.model import Endpoint, Load, Window, Workload

_MODULE = "lab.generators.child"
_SLACK = 30.0
# Seconds beyond its work after which a silent child counts as hung: a machine may be that slow.


def longest_count(load: Load) -> float:
    """Return the seconds after which a counted load has ended even if each request times out."""
    assert load.requests is not None
    return ceil(load.requests / load.connections) * load.timeout


class EngineGenerator:
    """Loads with `lab.generators.engine` in a process of its own."""

    name = "engine"

    @contextmanager
    def session(
        self, endpoint: Endpoint, workload: Workload, load: Load, cores: Sequence[int] | None
    ) -> Iterator[EngineSession]:
        """
        Start the child; see `lab.model.Generator`.

        Raises:
            GeneratorError: The child failed; with its stderr.
            UsageError: The workload's path cannot be sent as it is.
        """
        try:
            request = build_request(workload.path, endpoint.authority, keepalive=load.keepalive)
        except ValueError as error:
            raise UsageError(f"workload {workload.name}: {error}") from error
        body = workload.expect.body
        setup = {
            "host": endpoint.host,
            "port": endpoint.port,
            "request": request.decode("ascii"),
            "status": workload.expect.status,
            "body": None if body is None else body.decode("latin-1"),
            "pattern": workload.expect.pattern,
            "load": asdict(load),
            "cores": None if cores is None else sorted(cores),
        }
        with tempfile.TemporaryFile() as stderr, _child(stderr) as child:
            session = EngineSession(child, load)
            child.ask(setup, _SLACK)
            yield session


@dataclass(frozen=True, slots=True)
class Recording:
    """What a series of windows counted."""

    attempted: int
    """Requests that were to be made; `ok` and errors of all windows and the last one's
    *unfinished* add up to it."""
    windows: tuple[Window, ...]
    """One after the other without a gap, those of the drain included."""


class EngineSession:
    """A child under way; see `lab.model.Session`."""

    def __init__(self, child: _Child, load: Load) -> None:
        self._child = child
        self._load = load
        self.pids: Sequence[int] = (child.pid,)

    def warm_up(self, seconds: float, requests: int) -> None:
        """
        Load unrecorded; a counted load at 16 connections at most, and then it falls silent.

        Raises:
            GeneratorError: The child failed.
        """
        command = {"do": "warm_up", "seconds": seconds, "requests": requests}
        self._child.ask(command, seconds + WARM_UP_GRACE + self._load.timeout + _SLACK)

    def record(self, every: float) -> float:
        """
        Begin the load, recorded as a series of windows of *every* seconds, and return at once.

        Returns:
            The instant at which the first window opened, by `time.perf_counter`: one clock for
            all processes of a Linux machine.

        Raises:
            GeneratorError: The child failed.
        """
        return float(self._child.ask({"do": "record", "every": every}, _SLACK)["began"])

    def finish(self, drain: float) -> Recording:
        """
        End the series that `record` began.

        Args:
            drain: Seconds for the requests that are under way; what is not decided by then is the
                last window's *unfinished*.

        Raises:
            GeneratorError: The child failed.
        """
        answer = self._child.ask({"do": "finish", "drain": drain}, drain + _SLACK)
        windows = tuple(decode_window(each) for each in answer["windows"])
        return Recording(answer["attempted"], windows)

    def begin(self) -> float:
        """
        Send a counted load's requests, and return at once; `end` gives what became of them.

        Returns:
            The instant at which its window opened, by `time.perf_counter`.

        Raises:
            GeneratorError: The child failed.
        """
        return float(self._child.ask({"do": "begin"}, _SLACK)["began"])

    def end(self) -> Window:
        """
        Wait until every request of the load that was begun has its outcome.

        Raises:
            GeneratorError: The child failed.
        """
        return decode_window(self._child.ask({"do": "end"}, longest_count(self._load) + _SLACK))

    def measure(self, seconds: float) -> Sequence[Window]:
        """
        Record one window; *seconds* is passed over by a counted load.

        Raises:
            GeneratorError: The child failed.
        """
        longest = longest_count(self._load) if self._load.requests is not None else seconds
        answer = self._child.ask({"do": "measure", "seconds": seconds}, longest + _SLACK)
        return (decode_window(answer),)


class _Child:
    """The process, and JSON lines to and from it."""

    # Plain descriptors and poll, not Popen's file objects: under gevent's monkey-patching those
    # become non-blocking, and a line may then arrive in pieces.
    def __init__(
        self, process: subprocess.Popen[bytes], to: int, back: int, err: IO[bytes]
    ) -> None:
        self._process = process
        self._to = to
        self._back = back
        self._stderr = err
        self.pid = process.pid

    def ask(self, command: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send *command* and return the answer, for which to wait at most *seconds*."""
        try:
            data = memoryview(json.dumps(command).encode() + b"\n")
            while data:
                data = data[os.write(self._to, data) :]
        except BrokenPipeError as error:
            raise self._failure() from error
        deadline = monotonic() + seconds
        poll = select.poll()
        poll.register(self._back, select.POLLIN)
        line = bytearray()
        while not line.endswith(b"\n"):
            if not poll.poll(max(0.0, deadline - monotonic()) * 1000):
                raise GeneratorError(
                    f"the load engine (pid {self.pid}) gave no answer to "
                    f"{command.get('do')!r} within {seconds:.0f} s: is the machine overloaded?"
                )
            piece = os.read(self._back, 65536)
            if not piece:
                raise self._failure()
            line += piece
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _failure(self) -> GeneratorError:
        status = self._process.wait()
        self._stderr.seek(0)
        text = self._stderr.read().decode(errors="replace").strip()
        return GeneratorError(
            f"the load engine (pid {self.pid}) ended with status {status}: "
            f"{text or 'it left no message; was it killed?'}"
        )


@contextmanager
def _child(stderr: IO[bytes]) -> Iterator[_Child]:
    """Start the child; on exit close its stdin, which ends it, and reap it."""
    stdin, to = os.pipe()
    back, stdout = os.pipe()
    # The child must find this very lab, whatever folder the command was typed in.
    root = str(Path(lab.__file__).resolve().parent.parent)
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    try:
        process = subprocess.Popen(
            (sys.executable, "-m", _MODULE),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env={**os.environ, "PYTHONPATH": path},
        )
    except BaseException:
        os.close(to)
        os.close(back)
        raise
    finally:
        os.close(stdin)
        os.close(stdout)
    try:
        yield _Child(process, to, back, stderr)
    finally:
        os.close(to)
        os.close(back)
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
