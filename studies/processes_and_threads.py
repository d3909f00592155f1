"""
How many processes or threads does a uWSGI need on two CPUs?

    .venv/bin/python -m studies.processes_and_threads [--rounds N]

The handler computes for 5 ms, waits for 10 ms, or does both for 5 ms, so that the load needs little
CPU beside the server. A round measures 1 to 16 processes of one thread, and 1 to 16 threads of one
process: requests/s with 64 clients at full load, p99 at a rate that is half of what two CPUs or 16
waiting workers can serve, and memory. Writes studies/results/processes_and_threads.json after each
cell and goes on where it stands; five minutes a round, on a machine of two CPUs that does nothing
else.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from lab.analysis.metrics import derive
from lab.bench.load.process import EngineGenerator
from lab.bench.store.environment import read_environment
from lab.bench.trials.conduct import real_parts
from lab.bench.trials.cores import every_core
from lab.bench.trials.plan import alone, arm_of
from lab.bench.trials.runner import Silent, run
from lab.model.measurement import Trial
from lab.model.plan import Load
from lab.model.profile import Profile
from studies.slowed import DONE, Case, profile_of

RESULT = Path(__file__).parent / "results" / "processes_and_threads.json"
WINDOW, AT_RATE, WARMUP = 2.0, 6.0, 0.3
CLIENTS = 64
NUMBERS = (1, 2, 4, 8, 16)
KINDS = ("processes", "threads")

HANDLERS = {"computes": (5, 0), "waits": (0, 10), "both": (5, 5)}
"""Handler -> milliseconds for which it computes, and for which it waits."""

RATES = {"computes": 200, "waits": 800, "both": 200}
"""Requests/s at which p99 is measured."""

KEPT_UP = 0.97
"""Share of a rate from which a server keeps up with it."""

HANDLER = """
import time


def application(environ, start_response):
    compute, wait = (int(number) / 1000 for number in environ["PATH_INFO"].strip("/").split("/"))
    end = time.thread_time() + compute
    while time.thread_time() < end:
        pass
    time.sleep(wait)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"done\\n"]
"""


def cell(folder: Path, handler: str, kind: str, number: int) -> dict[str, Any]:
    """
    Measure a server at full load and at a rate.

    Raises:
        LabError: It does not start, or the load cannot be made.
    """
    options = {"enable-threads": "true", kind: str(number)}
    profile = profile_of(folder, f"{kind}-{number}", Case({}, options), options)
    full, rate = Load(connections=CLIENTS), Load(connections=CLIENTS, rate=float(RATES[handler]))
    trial = _trial(profile, handler, full, WINDOW)
    at_rate = _trial(profile, handler, rate, AT_RATE)
    metrics = derive(trial)
    kept_up = derive(at_rate)["throughput"] >= KEPT_UP * RATES[handler]
    return {
        "throughput": metrics["throughput"],
        "memory": metrics["memory"],
        "p99": derive(at_rate)["p99"] if kept_up else None,
        "load": sum(window.cpu / window.wall for window in trial.windows),
        "others": trial.readings.get("machine.foreign_cpu", 0.0),
    }


def _trial(profile: Profile, handler: str, load: Load, seconds: float) -> Trial:
    path = "/{}/{}".format(*HANDLERS[handler])
    arm = arm_of(profile, replace(DONE, path=path), load)
    trials: list[Trial] = []
    parts = real_parts(EngineGenerator(), every_core(), trials.append)
    run(alone(arm, seconds, WARMUP), parts, Silent())
    if not trials[-1].windows:
        sys.exit(f"{profile.name}: {trials[-1].failure}")
    return trials[-1]


def main() -> None:
    """Measure what is missing of the rounds, and store each cell at once."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2, help="how many there are to be")
    rounds = parser.parse_args().rounds
    stored: dict[str, Any] = json.loads(RESULT.read_text()) if RESULT.exists() else {"cells": []}
    cells: list[dict[str, Any]] = stored["cells"]
    names = ("handler", "kind", "number", "round")
    known = {tuple(entry[name] for name in names) for entry in cells}
    environment = read_environment()
    kept = {name: environment[name] for name in ("cpu", "kernel", "uwsgi") if name in environment}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "handler.py").write_text(HANDLER, encoding="utf-8")
        for round_number in range(rounds):
            order = [(h, kind, number) for h in HANDLERS for kind in KINDS for number in NUMBERS]
            random.Random(round_number).shuffle(order)
            for chosen in order:
                if (*chosen, round_number) in known:
                    continue
                entry = dict(zip(names, (*chosen, round_number), strict=True))
                cells.append(entry | cell(folder, *chosen))
                result = {"environment": kept, "cells": cells}
                RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
                sys.stdout.write(f"{entry}: {cells[-1]['throughput']:.0f}/s\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
