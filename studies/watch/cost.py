"""
Does `lab watch` slow the server that it watches?

    .venv/bin/python -m studies.watch.cost          400 to 2,000 pairs of 0.25 s a row
    .venv/bin/python -m studies.watch.cost 2        two pairs, to try it

The first takes 25 to 100 minutes.

The server has one core, the load another, on which the watch runs, too. One watch runs all the
time, and is stopped by SIGSTOP in one window of each pair, which is drawn. What is compared is the
server's CPU per request, and its requests/s, paired. A row ends when its interval for CPU per
request is narrow enough, wherever it lies; pairs that are stored of the same machine count. Needs
two cores and a machine that does nothing else. Writes studies/results/watch_cost.json if there are
at least PAIRS pairs; the watch is free if the upper end of the interval for CPU per request is
below 1.01.
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
from collections.abc import Iterator, Sequence
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
PAIRS, MANY, SECONDS = 400, 2000, 0.25
NARROW = 0.005
"""Half of an interval, of the logarithm."""
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
    few, many = (int(sys.argv[1]),) * 2 if len(sys.argv) > 1 else (PAIRS, MANY)
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        sys.exit("two cores are needed: one for the server, one for the load and the watch")
    rows = []
    before = stored_pairs() if few >= PAIRS else {}
    with tempfile.TemporaryDirectory() as name:
        for server in WATCHED:
            path = Path(name) / "in-code"
            created(path)
            with running(server, path, cores[:1]) as (port, pid):
                for handler in HANDLERS:
                    made = before.get((server, handler), ((), ()))
                    rows.append(row(server, handler, port, pid, cores[1], (few, many), made))
                    print(
                        {
                            key: rows[-1][key]
                            for key in ("server", "handler", "cpu", "rate", "pairs")
                        }
                    )
    if few >= PAIRS:
        stored = {**machine(), "seconds": SECONDS, "connections": CONNECTIONS}
        RESULTS.write_text(json.dumps({**stored, "rows": rows}, indent=1) + "\n")
        print(f"written: {RESULTS.relative_to(ROOT)}")


def stored_pairs() -> dict[tuple[str, str], tuple[list[float], list[float]]]:
    """Return the logarithms of both ratios of each row, where this machine made them."""
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    here = machine()
    if any(stored.get(key) != here[key] for key in ("kernel", "cores", "python", "versions")):
        return {}
    return {
        (made["server"], made["handler"]): (
            list(map(math.log, made["cpu_pairs"])),
            list(map(math.log, made["rate_pairs"])),
        )
        for made in stored["rows"]
    }


def row(  # noqa: PLR0917 - a row of the table
    server: str,
    handler: str,
    port: int,
    pid: int,
    core: int,
    pairs: tuple[int, int],
    made: Sequence[Sequence[float]] = ((), ()),
) -> dict[str, Any]:
    """
    Return the ratios of watched windows to the others, of CPU per request and of the rate.

    Args:
        server: Its name in the table.
        handler: The path that is asked.
        port: Where the server listens.
        pid: The root of its processes.
        core: Of the load and the watch.
        pairs: Least and largest number of pairs.
        made: The logarithms of both ratios that are there, to which the others are added.
    """
    workload = Workload("watched", handler, Expectation(body=BODY))
    endpoint, load = Endpoint("127.0.0.1", port), Load(CONNECTIONS, keepalive=True)
    cpu, rate = map(list, made)
    with (
        EngineGenerator().session(endpoint, workload, load, [core]) as session,
        tempfile.TemporaryFile("w+") as output,
        watching(pid, core, output) as watch,
    ):
        session.warm_up(WARM_UP, 1000)
        while not enough(cpu, *pairs):
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
        "pairs": len(cpu),
        "looks": looks,
        "cpu_pairs": [round(math.exp(one), 5) for one in cpu],
        "rate_pairs": [round(math.exp(one), 5) for one in rate],
    }


def enough(log_ratios: list[float], few: int, many: int) -> bool:
    """Whether there are so many pairs, or at least so few and a narrow interval."""
    if len(log_ratios) < few:
        return False
    estimate = paired(log_ratios)
    return len(log_ratios) >= many or math.log(estimate.high / estimate.low) / 2 <= NARROW


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
