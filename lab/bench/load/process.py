"""The engine as a generator: child processes, pinned, told what to do over pipes."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from time import monotonic
from typing import IO, Any

import lab
from lab.bench.load.child import WARM_UP_CONNECTIONS, WARM_UP_GRACE
from lab.bench.load.codec import decode_window
from lab.bench.load.setup import Setup
from lab.bench.load.shares import divide_load, phases, shares
from lab.bench.machine.cpus import deal
from lab.errors import GeneratorError
from lab.model.measurement import Window
from lab.model.plan import Load
from lab.model.protocols import Endpoint
from lab.model.workload import Workload

_MODULE = "lab.bench.load.child"
_SLACK = 30.0
# Seconds beyond its work after which a silent child counts as hung: a machine may be that slow.


def longest_count(load: Load) -> float:
    """Return the seconds after which a counted load has ended even if each request times out."""
    assert load.requests is not None
    return ceil(load.requests / load.connections) * load.timeout


class EngineGenerator:
    """
    Loads with `lab.bench.load.engine` in processes of its own.

    Args:
        processes: How many share the load; as many as it has connections at the most. Each counts
            in a window of its own.
    """

    name = "engine"

    def __init__(self, processes: int = 1) -> None:
        self._processes = processes
        if processes > 1:
            self.name = f"{self.name} x{processes}"

    def hosts(self, address: str) -> dict[str, dict[str, Any]]:  # noqa: ARG002
        """Return nothing: its processes are children of this one."""
        return {}

    @contextmanager
    def session(
        self, endpoint: Endpoint, workload: Workload, load: Load, cores: Sequence[int] | None
    ) -> Iterator[EngineSession]:
        """
        Start the children; see `lab.model.protocols.Generator`.

        Raises:
            GeneratorError: A child failed; with its stderr.
            UsageError: The workload's path cannot be sent as it is.
        """
        count = self._processes
        loads = divide_load(load, count)
        setups = [
            Setup(endpoint, workload, share, cpus, phase)
            for share, cpus, phase in zip(loads, deal(cores, count), phases(count), strict=True)
        ]
        setups[0].wire()  # refuses here what a child could only end for
        with ExitStack() as stack:
            children = [stack.enter_context(_child()) for _ in loads]
            _ask(children, [setup.encode() for setup in setups], _SLACK)
            yield EngineSession(children, loads)


@dataclass(frozen=True, slots=True)
class Recording:
    """What a series of windows counted."""

    attempted: int
    """Requests that were to be made; `ok` and errors of all windows and the last one's
    *unfinished* add up to it."""
    windows: tuple[Window, ...]
    """One after the other without a gap, those of the drain included."""


class EngineSession:
    """
    Children under way; see `lab.model.protocols.Session`.

    `record`, `finish`, `begin` and `end` are for a session of one child.
    """

    elsewhere = False

    def __init__(self, children: Sequence[_Child], loads: Sequence[Load]) -> None:
        self._children = children
        self._loads = loads
        self.pids: Sequence[int] = tuple(child.pid for child in children)

    def warm_up(self, seconds: float, requests: int) -> None:
        """
        Load unrecorded; a counted load at 16 connections at most, and then it falls silent.

        Raises:
            GeneratorError: A child failed.
        """
        count, load = len(self._children), self._loads[0]
        connections: list[int] | list[None] = [None] * count
        if load.requests is not None:
            connections = [max(1, share) for share in shares(WARM_UP_CONNECTIONS, count)]
        commands = [
            {
                "do": "warm_up",
                "seconds": seconds,
                "requests": least,
                "connections": connection_count,
            }
            for least, connection_count in zip(shares(requests, count), connections, strict=True)
        ]
        _ask(self._children, commands, seconds + WARM_UP_GRACE + load.timeout + _SLACK)

    def record(self, every: float) -> float:
        """
        Begin the load, recorded as a series of windows of *every* seconds, and return at once.

        Returns:
            The instant at which the first window opened, by `time.perf_counter`: one clock for
            all processes of a Linux machine.

        Raises:
            GeneratorError: The child failed.
        """
        return float(self._ask_only({"do": "record", "every": every}, _SLACK)["began"])

    def finish(self, drain: float) -> Recording:
        """
        End the series that `record` began.

        Args:
            drain: Seconds for the requests that are under way; what is not decided by then is the
                last window's *unfinished*.

        Raises:
            GeneratorError: The child failed.
        """
        answer = self._ask_only({"do": "finish", "drain": drain}, drain + _SLACK)
        windows = tuple(decode_window(window) for window in answer["windows"])
        return Recording(answer["attempted"], windows)

    def begin(self) -> float:
        """
        Send a counted load's requests, and return at once; `end` gives what became of them.

        Returns:
            The instant at which its window opened, by `time.perf_counter`.

        Raises:
            GeneratorError: The child failed.
        """
        return float(self._ask_only({"do": "begin"}, _SLACK)["began"])

    def end(self) -> Window:
        """
        Wait until every request of the load that was begun has its outcome.

        Raises:
            GeneratorError: The child failed.
        """
        return decode_window(self._ask_only({"do": "end"}, self._longest() + _SLACK))

    def measure(self, seconds: float) -> Sequence[Window]:
        """
        Record one window in each child; *seconds* is passed over by a counted load.

        All children are told before the first is listened to, so their windows open and close
        within the time that it takes them to read a line.

        Raises:
            GeneratorError: A child failed.
        """
        longest = self._longest() if self._loads[0].requests is not None else seconds
        commands = [{"do": "measure", "seconds": seconds}] * len(self._children)
        answers = _ask(self._children, commands, longest + _SLACK)
        return tuple(decode_window(answer) for answer in answers)

    def pause(self) -> None:
        """
        Fall silent until the next warm-up or window: no request is under way, no connection open.

        Raises:
            GeneratorError: A child failed.
        """
        commands = [{"do": "pause"}] * len(self._children)
        _ask(self._children, commands, self._loads[0].timeout + _SLACK)

    def _longest(self) -> float:
        return max(map(longest_count, self._loads))

    def _ask_only(self, command: dict[str, Any], seconds: float) -> dict[str, Any]:
        (answer,) = _ask(self._children, [command], seconds)
        return answer


class _Child:
    """The process, and JSON lines to and from it."""

    # Plain descriptors and poll, not Popen's file objects: under gevent's monkey-patching those
    # become non-blocking, and a line may then arrive in pieces.
    def __init__(
        self, process: subprocess.Popen[bytes], to: int, back: int, err: IO[bytes]
    ) -> None:
        self._process = process
        self._to = to
        self._stderr = err
        self._line = bytearray()
        self.back = back
        """Descriptor that is readable when there is a piece of an answer."""
        self.pid = process.pid

    def send(self, command: dict[str, Any]) -> None:
        """Send *command*, whose answer is to be read before the next one."""
        self._line.clear()
        try:
            data = memoryview(json.dumps(command).encode() + b"\n")
            while data:
                data = data[os.write(self._to, data) :]
        except BrokenPipeError as error:
            raise self._failure() from error

    def read(self) -> bool:
        """Read a piece of the answer, and return whether it is whole."""
        piece = os.read(self.back, 65536)
        if not piece:
            raise self._failure()
        self._line += piece
        return self._line.endswith(b"\n")

    def answer(self) -> dict[str, Any]:
        """Return the answer, which is whole."""
        answer: dict[str, Any] = json.loads(self._line)
        return answer

    def _failure(self) -> GeneratorError:
        status = self._process.wait()
        self._stderr.seek(0)
        text = self._stderr.read().decode(errors="replace").strip()
        return GeneratorError(
            f"the load engine (pid {self.pid}) ended with status {status}: "
            f"{text or 'it left no message; was it killed?'}"
        )


def _ask(
    children: Sequence[_Child], commands: Sequence[dict[str, Any]], seconds: float
) -> list[dict[str, Any]]:
    """
    Send each child its command and return their answers, for which to wait at most *seconds*.

    Raises:
        GeneratorError: One of them ended, as soon as it does; or it gave no answer.
    """
    for child, command in zip(children, commands, strict=True):
        child.send(command)
    deadline = monotonic() + seconds
    poll = select.poll()
    waiting = {child.back: child for child in children}
    for back in waiting:
        poll.register(back, select.POLLIN)
    while waiting:
        ready = poll.poll(max(0.0, deadline - monotonic()) * 1000)
        if not ready:
            raise GeneratorError(
                f"the load engine (pid {next(iter(waiting.values())).pid}) gave no answer to "
                f"{commands[0].get('do')!r} within {seconds:.0f} s: is the machine overloaded?"
            )
        for back, _ in ready:
            if waiting[back].read():
                poll.unregister(back)
                del waiting[back]
    return [child.answer() for child in children]


@contextmanager
def _child() -> Iterator[_Child]:
    """Start a child; on exit close its stdin, which ends it, and reap it."""
    with tempfile.TemporaryFile() as stderr, _started(stderr) as child:
        yield child


@contextmanager
def _started(stderr: IO[bytes]) -> Iterator[_Child]:
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
