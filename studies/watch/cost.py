"""
Does `lab watch` slow the server that it watches?

    .venv/bin/python -m studies.watch.cost          400 pairs of 0.25 s for each row: 22 minutes
    .venv/bin/python -m studies.watch.cost 2        two pairs, to try it

The server has one core, the load another, on which the watch runs, too. One watch runs all the
time, and is stopped by SIGSTOP in one window of each pair, which is drawn. What is compared is the
server's CPU per request, and its requests/s, paired. Needs two cores and a machine that does
nothing else. Writes studies/results/watch_cost.json if there are at least MANY pairs; the watch is
free if the upper end of the interval for CPU per request is below 1.01.
"""

from __future__ import annotations

import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from lab.analysis.stats import paired
from lab.bench.load.process import EngineGenerator
from lab.bench.probes.processes import read_snapshot
from lab.model.numbers import ratio
from lab.model.plan import Load
from lab.model.protocols import Endpoint, Session
from lab.model.request import Expectation
from lab.model.workload import Workload
from studies.watch.counter import created
from studies.watch.errors import ROOT, machine
from studies.watch.servers import BIN, on_cores, running

RESULTS = ROOT / "studies" / "results" / "watch_cost.json"
PAIRS, SECONDS, MANY = 400, 0.25, 200
WARM_UP = 4.0
"""Seconds in which the watch begins, too."""
CONNECTIONS = 16
BODY = b"x" * 200
HANDLERS = ("/", "/work")
WATCHED = ("gunicorn gthread, 2 x 8", "granian WSGI, 2 x 8", "uWSGI http-socket, 4 x 2")


def main() -> None:
    """Measure each server and handler; print and store the ratios."""
    # A shell's background job ignores it, and so would the watch.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        sys.exit("two cores are needed: one for the server, one for the load and the watch")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for server in WATCHED:
            path = Path(name) / "in-code"
            created(path)
            with running(server, path, cores[:1]) as (port, pid):
                for handler in HANDLERS:
                    rows.append(row(server, handler, port, pid, pairs, cores[1]))
                    print({key: rows[-1][key] for key in ("server", "handler", "cpu", "rate")})
    if pairs >= MANY:
        stored = {**machine(), "pairs": pairs, "seconds": SECONDS, "connections": CONNECTIONS}
        RESULTS.write_text(json.dumps({**stored, "rows": rows}, indent=1) + "\n")
        print(f"written: {RESULTS.relative_to(ROOT)}")


def row(  # noqa: PLR0917 - a row of the table
    server: str, handler: str, port: int, pid: int, pairs: int, core: int
) -> dict[str, Any]:
    """Return the ratios of watched windows to the others, of CPU per request and of the rate."""
    workload = Workload("watched", handler, Expectation(body=BODY))
    endpoint, load = Endpoint("127.0.0.1", port), Load(CONNECTIONS, keepalive=True)
    cpu, rate = [], []
    with (
        EngineGenerator().session(endpoint, workload, load, [core]) as session,
        tempfile.TemporaryFile("w+") as output,
        watching(pid, core, output) as watch,
    ):
        session.warm_up(WARM_UP, 1000)
        for _ in range(pairs):
            order = random.sample((True, False), 2)
            windows = {watched: window(session, pid, watch, watched) for watched in order}
            cpu.append(math.log(windows[True][0] / windows[False][0]))
            rate.append(math.log(windows[True][1] / windows[False][1]))
        watch.send_signal(signal.SIGCONT)
        watch.send_signal(signal.SIGINT)
        watch.wait(60)
        output.seek(0)
        looks = json.loads(output.readlines()[-1])["looks"]
    return {
        "server": server,
        "handler": handler,
        "cpu": ratio(paired(cpu)),
        "rate": ratio(paired(rate)),
        "looks": looks,
        "cpu_pairs": [round(math.exp(one), 5) for one in cpu],
        "rate_pairs": [round(math.exp(one), 5) for one in rate],
    }


@contextmanager
def watching(pid: int, core: int, output: IO[str]) -> Iterator[subprocess.Popen[str]]:
    """Watch a process until the block ends."""
    command = on_cores([core], str(BIN / "lab"), "watch", f"pid:{pid}", "--format", "json")
    with subprocess.Popen(command, cwd=ROOT, stdout=output, text=True) as watch:
        try:
            yield watch
        finally:
            watch.kill()


def window(
    session: Session, pid: int, watch: subprocess.Popen[str], watched: bool
) -> tuple[float, float]:
    """Return CPU seconds per request and requests/s, with the watch stopped or not."""
    watch.send_signal(signal.SIGCONT if watched else signal.SIGSTOP)
    before = _cpu(pid)
    (counted,) = session.measure(SECONDS)
    return (_cpu(pid) - before) / counted.ok, counted.ok / counted.wall


def _cpu(pid: int) -> float:
    """Return the CPU seconds of a tree of processes so far, from the scheduler's own account."""
    total = 0
    for process in read_snapshot(pid).tree(pid):
        for task in Path(f"/proc/{process.pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


if __name__ == "__main__":
    main()
