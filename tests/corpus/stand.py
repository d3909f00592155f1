"""The servers that are asked, each the real one, with all that is needed to see a worker die."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from lab.bench import profiles
from lab.bench.workloads import fibonacci_body, read
from tests.corpus.client import Outcome, ask
from tests.corpus.corpus import Request, expand
from tests.corpus.play import AT_ONCE, play
from tests.kit.lab_process import ROOT, cpu_of
from tests.kit.running import Running, running

WORKERS = 8
"""uWSGI holds a worker for 4 s where a request does not end; the others must be answered."""

FAILED = "failed"
"""The word for connections with a reply that says that the server failed."""

EXAMPLES = 20
"""Malformed replies, and failures, that are kept to be looked at."""

MARKS = ("Traceback", "!!!", "DAMN", "vec size", "segmentation", "[emerg]", "[alert]", "[crit]")
"""What a program writes when something in it broke, not in the request."""


class Storm(NamedTuple):
    """What many requests came to."""

    words: Counter[str]
    """How often each outcome was seen; `FAILED` stands for any with a failure of the server."""
    examples: list[tuple[str, bytes, str]]
    """Of malformed and failed ones the first few: word, what was sent, first line or statuses."""


class Stand(Running):
    """A running server."""

    def __init__(self, started: Running) -> None:
        super().__init__(started.server, started.folder)
        self._begun = self._pids()
        # What is said at the start is not about requests.
        self._said = {log: len(_read(log)) for log in self._logs()}

    def play(self, requests: Iterable[Request]) -> dict[str, Outcome]:
        """Send all requests, each over a connection of its own; return outcomes by name."""
        return play(self.address, requests)

    @property
    def figures(self) -> str:
        """Where the production stack answers Prometheus: port 8081, which is a UNIX socket here."""
        return str(self.folder / "metrics.sock")

    def storm(
        self,
        requests: Iterable[bytes],
        stays: float = 0.0,
        at_once: int = AT_ONCE,
        address: tuple[str, int] | str | None = None,
    ) -> Storm:
        """
        Send requests of which nobody knows whether they are complete.

        Args:
            requests: The bytes.
            stays: Seconds without a byte after which the client ends its side of the connection.
                nginx drops a request whose client has done so; uWSGI's workers do not notice.
            at_once: Connections; at most what the accept queue holds.
            address: Where, if it is not `address`: see `figures`.
        """
        return asyncio.run(self._storm(iter(requests), stays, at_once, address or self.address))

    async def _storm(
        self,
        requests: Iterator[bytes],
        stays: float,
        at_once: int,
        address: tuple[str, int] | str,
    ) -> Storm:
        storm = Storm(Counter(), [])

        async def client() -> None:
            for sent in requests:
                outcome = await ask(address, sent, stays=stays)
                word = FAILED if outcome.failed() else outcome.word
                storm.words[word] += 1
                if word in (FAILED, "malformed") and storm.words[word] <= EXAMPLES:
                    storm.examples.append((word, sent, outcome.said or outcome.word))

        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(client())
        return storm

    def answers(self) -> bool:
        """Whether a plain request still gets its answer."""
        outcome = asyncio.run(ask(self.address, expand("GET /9 HTTP/1.1\r\n{rest}")))
        return outcome == Outcome("200", (fibonacci_body(9),))

    def deaths(self) -> int:
        """Return how many of the processes that were there at the start are gone."""
        return len(self._begun - self._pids())

    def cpu(self) -> float:
        """Return the CPU seconds that all its processes have used."""
        return cpu_of(self.tree())

    def complaints(self) -> list[str]:
        """Return the lines of its logs that speak of a fault in the server itself."""
        lines = [
            line for log in self._logs() for line in _read(log)[self._said[log] :].splitlines()
        ]
        return [line for line in lines if any(mark in line for mark in MARKS)]

    def _logs(self) -> list[Path]:
        return [self.folder / name for name in ("server.log", "error.log")]

    def _pids(self) -> set[int]:
        pids = set()
        for process in self.tree():
            # A dead worker stays in the table until its master, or the guard, has looked.
            with suppress(psutil.NoSuchProcess):
                if process.status() != psutil.STATUS_ZOMBIE:
                    pids.add(process.pid)
        return pids


@contextmanager
def stand(name: str, workers: int = WORKERS) -> Iterator[Stand]:
    """Run a profile with this project's application until the block ends."""
    with running(name, read("fib", "/9").workload, workers=workers) as started:
        yield Stand(started)


@contextmanager
def instead(
    option: str, without: str | None = None, options: str = "", workers: int = WORKERS
) -> Iterator[Stand]:
    """
    Run `tuned` with another front end of uWSGI in place of its `http-socket`, all else alike.

    Args:
        option: The front end's.
        without: What options that are left out begin with.
        options: Lines that are added.
        workers: Of uWSGI.
    """
    tuned = profiles.read("tuned").path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"tuned-{option}.ini"
        text = tuned.replace("\nhttp-socket = ", f"\n{option} = ").replace("%d..", str(ROOT))
        lines = [line for line in text.splitlines() if not (without and line.startswith(without))]
        # It is served from a copy of what it says by itself, whatever PROCESSES is then.
        lines += [options, f"processes = {workers}", ""]
        path.write_text("\n".join(lines), encoding="utf-8")
        with stand(str(path), workers) as server:
            yield server


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
