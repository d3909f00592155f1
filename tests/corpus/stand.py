"""The servers that are asked, each the real one, with all that is needed to see a worker die."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple
from unittest import mock

import psutil

from lab import profiles
from lab.model import RunningServer
from lab.servers import adapter
from lab.servers.launch import ROOT
from lab.workloads import fibonacci_body, workload
from tests.corpus.client import PATIENCE, Outcome, ask
from tests.corpus.corpus import Request, expand

WORKERS = 8
"""uWSGI holds a worker for 4 s where a request does not end; the others must be answered."""

AT_ONCE = 64
"""Connections; fewer than the accept queue holds."""

FAILURES = frozenset({"500", "502", "503", "504"})
"""501 and 505 are answers: such a coding, method or version is not spoken here."""

EXAMPLES = 20
"""Malformed replies that are kept, to be looked at."""

START = 30.0
"""Seconds for the workers of all instances."""

_WORKER = re.compile(r"spawned uWSGI worker \d+ \(.*?pid: (\d+)")

MARKS = ("Traceback", "!!!", "DAMN", "vec size", "segmentation", "[emerg]", "[alert]", "[crit]")
"""What a program writes when something in it broke, not in the request."""


class Storm(NamedTuple):
    """What many requests came to."""

    words: Counter[str]
    """How often each outcome was seen."""
    malformed: list[tuple[bytes, str]]
    """What was sent, and the first line that came back, of the first few."""

    def failures(self) -> int:
        """Return how many connections got a reply that says that the server failed."""
        return sum(count for word, count in self.words.items() if FAILURES & set(word.split()))


class Stand:
    """A running server."""

    def __init__(self, server: RunningServer, folder: Path, workers: int) -> None:
        self.address = server.endpoint.host, server.endpoint.port
        self._server = server
        self._logs = tuple(folder / name for name in ("server.log", "error.log"))
        # One instance is enough to answer; the other one may still be starting.
        deadline = monotonic() + START
        while len(self.workers()) < workers:
            if monotonic() > deadline:
                raise TimeoutError(f"{len(self.workers())} of {workers} workers in {START:.0f} s")
            sleep(0.01)
        self._begun = self._pids()
        # What is said at the start is not about requests.
        self._said = {log: len(_read(log)) for log in self._logs}

    def workers(self) -> list[int]:
        """Return the process numbers of all workers that were ever started."""
        return [int(pid) for pid in _WORKER.findall(_read(self._logs[0]))]

    def play(self, requests: Iterable[Request]) -> dict[str, Outcome]:
        """Send all requests, each over a connection of its own; return outcomes by name."""
        return asyncio.run(self._play(list(requests)))

    async def _play(self, requests: list[Request]) -> dict[str, Outcome]:
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(request: Request) -> Outcome:
            stays = PATIENCE if request.complete else 0.0
            async with gate:
                return await ask(self.address, request.raw, replies=request.replies, stays=stays)

        outcomes = await asyncio.gather(*map(one, requests))
        return {request.name: outcome for request, outcome in zip(requests, outcomes, strict=True)}

    def storm(self, requests: Iterable[bytes], stays: float = 0.0, at_once: int = AT_ONCE) -> Storm:
        """
        Send requests of which nobody knows whether they are complete.

        Args:
            requests: The bytes.
            stays: Seconds without a byte after which the client ends its side of the connection.
                nginx drops a request whose client has done so; uWSGI's workers do not notice.
            at_once: Connections; at most what the accept queue holds.
        """
        return asyncio.run(self._storm(iter(requests), stays, at_once))

    async def _storm(self, requests: Iterator[bytes], stays: float, at_once: int) -> Storm:
        words: Counter[str] = Counter()
        malformed: list[tuple[bytes, str]] = []

        async def client() -> None:
            for sent in requests:
                outcome = await ask(self.address, sent, stays=stays)
                words[outcome.word] += 1
                if outcome.word == "malformed" and len(malformed) < EXAMPLES:
                    malformed.append((sent, outcome.said))

        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(client())
        return Storm(words, malformed)

    def answers(self) -> bool:
        """Whether a plain request still gets its answer."""
        outcome = asyncio.run(ask(self.address, expand("GET /9 HTTP/1.1\r\n{rest}")))
        return outcome == Outcome("200", (fibonacci_body(9),))

    def deaths(self) -> int:
        """Return how many of the processes that were there at the start are gone."""
        return len(self._begun - self._pids())

    def cpu(self) -> float:
        """Return the CPU seconds that all its processes have used."""
        times = [each.cpu_times() for each in self._tree()]
        return sum(each.user + each.system for each in times)

    def complaints(self) -> list[str]:
        """Return the lines of its logs that speak of a fault in the server itself."""
        lines = [line for log in self._logs for line in _read(log)[self._said[log] :].splitlines()]
        return [line for line in lines if any(mark in line for mark in MARKS)]

    def _tree(self) -> list[psutil.Process]:
        return psutil.Process(self._server.pid).children(recursive=True)

    def _pids(self) -> set[int]:
        return {each.pid for each in self._tree()}


@contextmanager
def stand(name: str, workers: int = WORKERS) -> Iterator[Stand]:
    """Run a profile with this project's application until the block ends."""
    profile = profiles.read(name)
    with (
        mock.patch.dict(os.environ, PROCESSES=str(workers)),
        tempfile.TemporaryDirectory() as folder,
        adapter(profile).start(profile, workload("fib", path="/9"), Path(folder), None) as server,
    ):
        instances = sum("uwsgi" in command for command in profile.commands) or 1
        yield Stand(server, Path(folder), instances * workers)


@contextmanager
def router() -> Iterator[Stand]:
    """Run `tuned` with uWSGI's HTTP router in place of its `http-socket`, all else the same."""
    tuned = profiles.read("tuned").path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tuned-router.ini"
        text = tuned.replace("\nhttp-socket = ", "\nhttp = ").replace("%d..", str(ROOT))
        path.write_text(text, encoding="utf-8")
        with stand(str(path)) as server:
            yield server


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
