"""
How exact are the requests in flight that `lab watch` prints?

    .venv/bin/python -m studies.watch.errors

Watches seven servers under loads that pause, and compares each look with two counters: that of the
application, of the requests in its code, and that of the clients, of the requests that they sent
and whose reply they have not read. Handlers and loads are others than those by which the rules of
`lab.analysis.ladder` were made. Looks may cost 5 % of a core here, so that there are more of them.
Writes studies/results/watch_errors.json; `python -m tools.pages` puts it into the page.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Any

from lab.analysis.in_flight import level
from lab.bench.probes import watching
from lab.bench.probes.sock_diag import SocketDiagnosis
from lab.cli.watch.target import find_target
from studies.watch.counter import Counter, created
from studies.watch.servers import BIN, HERE, SERVERS, running

ROOT = HERE.parent.parent
RESULTS = ROOT / "studies" / "results" / "watch_errors.json"

HANDLERS = {
    "/uneven": "waits 10 to 90 ms",
    "/work": "computes 5 ms, waits 20 ms",
    "/large": "waits 20 ms, 200 kB",
    "/": "below 1 ms",
}
LOADS = ((20, 0.2), (6, 0.0))
"""Clients, and the mean of the pause before a request in seconds."""

SECONDS = 3.0
BUDGET = 0.05


def main() -> None:
    """Watch every server with every handler and load; store what came."""
    watching.BUDGET = BUDGET
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for server in SERVERS:
            in_code = created(folder / "in-code")
            with running(server, folder / "in-code") as (port, pid):
                for handler in HANDLERS:
                    for clients, pause in LOADS:
                        figures = compare(folder, port, pid, handler, clients, pause, in_code)
                        row = {"server": server, "handler": handler, "clients": clients}
                        rows.append({**row, "pause": pause, **figures})
                        print(rows[-1], flush=True)
    RESULTS.write_text(json.dumps({**machine(), "rows": rows}, indent=1) + "\n")
    print(f"written: {RESULTS.relative_to(ROOT)}")


def compare(  # noqa: PLR0917 - a cell of the table
    folder: Path, port: int, pid: int, handler: str, clients: int, pause: float, in_code: Counter
) -> dict[str, Any]:
    """Watch a server under one load; return the levels of both counters and of the estimates."""
    sent = created(folder / "sent")
    words = [folder / "sent", port, clients, pause, handler]
    command = [str(BIN / "python"), str(HERE / "clients.py"), *map(str, words)]
    load = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert load.stdout is not None
    columns: dict[str, list[int]] = {"client": [], "in_code": [], "in_flight": [], "workers": []}
    guessed = connections = 0
    target = find_target(f"pid:{pid}")
    assert target.listeners[0].port == port
    try:
        if not load.stdout.readline():
            sys.exit("the clients have ended")
        with SocketDiagnosis() as diagnosis:
            for look in watching.Watching(target, diagnosis).looks(SECONDS):
                columns["client"].append(sent.total())
                columns["in_code"].append(in_code.total())
                columns["in_flight"].append(look.in_flight)
                columns["workers"].append(look.in_workers(target.settings.threads))
                guessed, connections = guessed + look.guessed, connections + look.connections
    finally:
        load.kill()
        load.wait()
        load.stdout.close()
    pairs = zip(columns["client"], columns["in_flight"], strict=True)
    error = fmean(abs(client - estimate) for client, estimate in pairs)
    levels = {name: level(numbers) for name, numbers in columns.items()}
    return {
        **{name: [round(one.mean, 2), one.p95] for name, one in levels.items()},
        "error": round(error, 2),
        "guessed": round(guessed / connections, 3) if connections else 0.0,
        "looks": len(columns["client"]),
    }


def machine() -> dict[str, Any]:
    """Return what a reader must know of where and when this was measured."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "kernel": platform.release(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": sys.version.split()[0],
        "versions": {name: version(name) for name in ("gunicorn", "granian", "gevent", "uwsgi")},
    }


if __name__ == "__main__":
    main()
