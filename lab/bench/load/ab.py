"""
ApacheBench as a generator for counted loads: the tool of the articles, and a cross-check.

It compares the length of each reply with the first one's and not the body, speaks HTTP/1.0, counts
whole milliseconds, and gives up altogether when a connection is refused or reset (2.3).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from lab.bench.load.histogram import bucket
from lab.bench.load.tool import ToolCounts, run_tool
from lab.bench.machine import temporary
from lab.errors import GeneratorError, UsageError
from lab.model.measurement import Window
from lab.model.plan import Load
from lab.model.protocols import Endpoint
from lab.model.request import HOST
from lab.model.workload import Workload

PACKAGE = "apache2-utils"

_WARM_UP_CONNECTIONS = 16
_COMPLETE = re.compile(r"^Complete requests: +(\d+)$", re.MULTILINE)
_SECONDS = re.compile(r"^Time taken for tests: +([0-9.]+) seconds$", re.MULTILINE)
_FAILED = re.compile(
    r"^ +\(Connect: (\d+), Receive: (\d+), Length: (\d+), Exceptions: (\d+)\)$", re.MULTILINE
)
_KEPT = re.compile(r"^Keep-Alive requests: +(\d+)$", re.MULTILINE)
_STATUS = re.compile(r"^Non-2xx responses: +(\d+)$", re.MULTILINE)
_RECEIVED = re.compile(r"^Total transferred: +(\d+) bytes$", re.MULTILINE)


def ab_command(
    url: str,
    connections: int,
    requests: int,
    *,
    keepalive: bool,
    timeout: float = 30.0,
    host: str = HOST,
) -> list[str]:
    """Return the command that sends *requests* to *url*; *timeout* in seconds, rounded up."""
    keep = ["-k"] if keepalive else []
    wait = str(max(1, -int(-timeout // 1)))
    count = ["-n", str(requests), "-c", str(connections)]
    return ["ab", "-q", *keep, "-s", wait, *count, "-H", f"Host: {host}", url]


def parse_ab(output: str) -> ToolCounts:
    """
    Return what ab printed.

    Raises:
        GeneratorError: It is not a whole report.
    """
    complete, seconds = _COMPLETE.search(output), _SECONDS.search(output)
    if complete is None or seconds is None:
        raise GeneratorError(f"ab printed no count of requests: {output[-500:]!r}")
    failed, status = _FAILED.search(output), _STATUS.search(output)
    counts = {"status": int(status[1])} if status else {}
    if failed:
        names = ("connect", "receive", "length", "exceptions")
        counts.update(zip(names, map(int, failed.groups()), strict=True))
    return ToolCounts(
        requests=int(complete[1]),
        seconds=float(seconds[1]),
        errors={name: count for name, count in counts.items() if count},
    )


def check_ab(load: Load) -> None:
    """
    Refuse what ab cannot do, before anything is started.

    Raises:
        UsageError: The load is a timed one, or ab is not installed.
    """
    if load.requests is None:
        raise UsageError("ab sends a number of requests and ends: add --load article")
    if shutil.which("ab") is None:
        raise UsageError(f"ab is not installed: apt-get install {PACKAGE}")


class AbGenerator:
    """Loads with `ab`; counted loads only."""

    name = "ab"

    def hosts(self, address: str) -> dict[str, dict[str, Any]]:  # noqa: ARG002
        """Return nothing: it runs here."""
        return {}

    @contextmanager
    def session(
        self, endpoint: Endpoint, workload: Workload, load: Load, cores: Sequence[int] | None
    ) -> Iterator[AbSession]:
        """
        Return a session; see `lab.model.protocols.Generator`.

        Raises:
            UsageError: The load is a timed one, or ab is not installed.
        """
        check_ab(load)
        yield AbSession(f"http://{endpoint.address}{workload.path}", workload.host, load, cores)


class AbSession:
    """See `lab.model.protocols.Session`; `pids` is empty: a step is a process of its own."""

    pids: Sequence[int] = ()
    elsewhere = False

    def __init__(self, url: str, host: str, load: Load, cores: Sequence[int] | None) -> None:
        self._url = url
        self._host = host
        self._load = load
        self._cores = cores

    def warm_up(self, seconds: float, requests: int) -> None:  # noqa: ARG002
        """Send *requests*, whatever the time, at 16 connections at most."""
        if requests:
            self._run(min(requests, _WARM_UP_CONNECTIONS), requests)

    def pause(self) -> None:
        """Do nothing: between its counted loads it is silent."""

    def measure(self, seconds: float) -> Sequence[Window]:  # noqa: ARG002
        """
        Send the whole counted load.

        The window has no `replies`, since ab does not say which client got how many, and its
        latencies are whole milliseconds. Its `connections` are at most the load's too many: ab
        counts the replies after which one was kept. A refused or reset connection ends ab with an
        error.

        Raises:
            GeneratorError: ab is not installed, or gave up.
        """
        requests = self._load.requests or 0
        return (self._run(min(self._load.connections, requests), requests),)

    def _run(self, connections: int, requests: int) -> Window:
        command = ab_command(
            self._url,
            connections,
            requests,
            keepalive=self._load.keepalive,
            timeout=self._load.timeout,
            host=self._host,
        )
        with temporary.folder() as folder:
            times = folder / "times.tsv"
            run = run_tool([*command[:-1], "-g", str(times), self._url], PACKAGE, self._cores)
            latency, latency_sum = parse_times(times.read_text())
        tally = parse_ab(run.output)
        classes = {"length": "body", "receive": "reset", "exceptions": "malformed"}
        errors: dict[str, int] = {}
        for name, count in tally.errors.items():
            errors[classes.get(name, name)] = count
        received, kept = _RECEIVED.search(run.output), _KEPT.search(run.output)
        closed = tally.requests - (int(kept[1]) if kept else 0)
        return Window(
            process=run.pid,
            wall=tally.seconds,
            ok=max(0, tally.requests - sum(errors.values())),
            errors=errors,
            unfinished=requests - tally.requests,
            retried=0,
            connections=min(requests, connections + closed),
            replies=(),
            received=int(received[1]) if received else 0,
            latency=latency,
            latency_sum=latency_sum,
            cpu=run.cpu,
            wait=run.wait,
        )


def parse_times(table: str) -> tuple[dict[int, int], float]:
    """
    Return the histogram of total times, and their sum in seconds, from ab's `-g` file.

    Raises:
        GeneratorError: It has no column of total times.
    """
    lines = table.splitlines()
    header = lines[0].split("\t") if lines else []
    if "ttime" not in header:
        raise GeneratorError("ab wrote a file of times without the column ttime")
    column = header.index("ttime")
    histogram: dict[int, int] = {}
    total = 0.0
    for line in lines[1:]:
        us = int(line.split("\t")[column]) * 1000
        histogram[bucket(us)] = histogram.get(bucket(us), 0) + 1
        total += us / 1e6
    return histogram, total
