"""
The engine's own process: commands as JSON lines on stdin, answers as JSON lines on stdout.

A process of its own keeps the lab's probes, collector and progress bar out of what a request
costs, and can be pinned. It ends when its stdin does, so it never outlives the lab, however that
ends. Started by `lab.bench.load.process`; the first line is its `Setup`, then any number of

    {"do": "warm_up", "seconds": S, "requests": N,
     "connections": C}                              ->  {}
    {"do": "measure", "seconds": S}                 ->  the window, by `encode_window`
    {"do": "pause"}                                 ->  {}, a timed load falls silent
    {"do": "begin"}                                 ->  {"began": instant}, a counted load is sent
    {"do": "end"}                                   ->  its window, when it is over
    {"do": "record", "every": S}                    ->  {"began": instant}, and the load goes on
    {"do": "finish", "drain": S}                    ->  {"attempted": N, "windows": [...]}
"""

from __future__ import annotations

import gc
import json
import math
import os
import signal
import sys
from collections.abc import Callable
from time import monotonic, perf_counter
from typing import Any

from lab.bench.load.codec import encode_window
from lab.bench.load.engine import Engine
from lab.bench.load.setup import decode_setup
from lab.errors import GeneratorError
from lab.model.plan import Load

WARM_UP_GRACE = 5.0
"""Seconds beyond its time that a warm-up waits for its requests."""

WARM_UP_CONNECTIONS = 16
"""Connections of a counted load's warm-up, those of all generator processes together, so that its
burst meets an accept queue at rest."""

_STDIN, _STDOUT = 0, 1


class _ParentGoneError(Exception):
    """Stdin ended."""


class Worker:
    """
    Carries out commands with one engine.

    Args:
        engine: Idle.
        load: A timed load, or a counted one.
    """

    def __init__(self, engine: Engine, load: Load) -> None:
        self._engine = engine
        self._load = load
        self._every = math.inf
        self._cut = math.inf  # when the series' next window ends
        self._attempted = 0
        self._series: list[dict[str, Any]] = []
        engine.watch(_STDIN)

    def warm_up(self, seconds: float, requests: int, connections: int | None) -> dict[str, Any]:
        """
        Load until both have passed, or the grace has; see `lab.model.protocols.Session`.

        Args:
            seconds: The least time.
            requests: The least number of correct replies.
            connections: How many to use; None for all.
        """
        engine, counted = self._engine, self._load.requests is not None
        engine.resume(connections)
        engine.open_window()
        start = monotonic()
        self._run(
            start + seconds + WARM_UP_GRACE,
            lambda: monotonic() >= start + seconds and engine.ok >= requests,
        )
        if counted:
            # A connection that is cut off would leave its request in the server's queue.
            self.pause()
        return {}

    def measure(self, seconds: float) -> dict[str, Any]:
        """Record *seconds*, or one whole counted load."""
        engine = self._engine
        if self._load.requests is not None:
            engine.begin_count(self._load.requests)
            self._run(None, lambda: engine.done)
        else:
            engine.resume()  # in case that there was no warm-up
            engine.open_window()
            end = monotonic() + seconds
            self._run(end, lambda: False)
        return encode_window(engine.close_window())

    def pause(self) -> dict[str, Any]:
        """Begin no more requests, wait for those under way, and close every connection."""
        self._engine.drain()
        self._run(monotonic() + self._load.timeout, lambda: self._engine.done)
        self._engine.pause()
        return {}

    def begin(self) -> dict[str, Any]:
        """Send a counted load, which goes on meanwhile; `end` gives what became of it."""
        assert self._load.requests is not None
        self._engine.begin_count(self._load.requests)
        return {"began": self._engine.opened}

    def end(self) -> dict[str, Any]:
        """Wait until the counted load that `begin` sent is over."""
        self._run(None, lambda: self._engine.done)
        return encode_window(self._engine.close_window())

    def record(self, every: float) -> dict[str, Any]:
        """Begin a series of windows of *every* seconds, one after the other without a gap."""
        engine = self._engine
        engine.resume()
        engine.open_window()
        self._series = []
        self._attempted = engine.attempted
        self._every = every
        self._cut = engine.opened + every
        return {"began": engine.opened}

    def finish(self, drain: float) -> dict[str, Any]:
        """Begin no more requests, give those under way *drain* seconds, and end the series."""
        engine = self._engine
        engine.drain()
        self._run(monotonic() + drain, lambda: engine.done)
        self._take_window()
        self._cut = math.inf
        engine.pause()
        return {"attempted": self._attempted, "windows": self._series}

    def wait_for_command(self) -> None:
        """Let a timed load go on until stdin is readable."""
        while True:
            # At least one step: `interrupted` may still be that of the last command.
            self._engine.step(1.0)
            self._slice()
            if self._engine.interrupted:
                return

    def _slice(self) -> None:
        """End the series' window if it is time."""
        now = perf_counter()
        if now >= self._cut:
            self._take_window()
            # On the grid: a window that ended late makes the next one shorter.
            self._cut += self._every * (1 + (now - self._cut) // self._every)

    def _take_window(self) -> None:
        window = self._engine.cut_window()
        self._attempted += window.planned
        self._series.append(encode_window(window))

    def _run(self, end: float | None, finished: Callable[[], bool]) -> None:
        """Step until *finished*, or until *end* by the monotonic clock."""
        engine = self._engine
        while not finished():
            left = 0.05 if end is None else min(0.05, end - monotonic())
            if left <= 0:
                return
            engine.step(left)
            self._slice()
            if engine.interrupted:  # nobody sends a command before the answer to the last
                raise _ParentGoneError


class _Lines:
    """Lines of stdin, read no further than poll says that there is something."""

    def __init__(self) -> None:
        self._buffer = b""

    def next(self) -> dict[str, Any]:
        while b"\n" not in self._buffer:
            data = os.read(_STDIN, 65536)
            if not data:
                raise _ParentGoneError
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        command: dict[str, Any] = json.loads(line)
        return command


def _answer(value: dict[str, Any]) -> None:
    data = memoryview(json.dumps(value).encode() + b"\n")
    while data:
        data = data[os.write(_STDOUT, data) :]


def main() -> int:
    """Serve commands until stdin ends, and return the exit status."""
    # The lab decides when to end; Ctrl-C reaches the whole foreground group.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lines = _Lines()
    try:
        setup = decode_setup(lines.next())
        if setup.cores is not None:
            os.sched_setaffinity(0, setup.cores)
        worker = Worker(setup.engine(), setup.load)
        # Nothing on the hot path makes cycles, so a collection would only be a pause in the data.
        gc.disable()
        commands: dict[str, Callable[..., dict[str, Any]]] = {
            "warm_up": worker.warm_up,
            "measure": worker.measure,
            "pause": worker.pause,
            "begin": worker.begin,
            "end": worker.end,
            "record": worker.record,
            "finish": worker.finish,
        }
        _answer({})
        while True:
            worker.wait_for_command()
            command = lines.next()
            do = commands[command.pop("do")]
            _answer(do(**command))
    except (_ParentGoneError, BrokenPipeError):
        return 0
    except GeneratorError as error:
        sys.stderr.write(f"{error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
