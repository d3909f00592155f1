"""
Does a slowed server say what two CPUs of its own say?

    .venv/bin/python -m studies.slowed [--rounds N]

Each case is two servers whose ratio of requests/s depends on the second CPU: processes, threads of
one process, a lock, the router, thunder-lock, an event loop, a server of several threads. Their
handler computes for about a millisecond, so that the load needs a twentieth of a CPU, and the ratio
on two whole CPUs is known, with the load on the same. A round measures each case in that way and at
three shares, in shuffled order. Writes studies/results/slowed.json after each cell and goes
on where it stands; 8 minutes a round, as root, on a machine of two CPUs that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from lab.analysis.gates.machine import READ_WELL
from lab.analysis.metrics import derive
from lab.bench import profiles
from lab.bench.load.process import EngineGenerator
from lab.bench.machine import slowdown
from lab.bench.store.environment import read_environment
from lab.bench.trials.conduct import real_parts
from lab.bench.trials.cores import every_core
from lab.bench.trials.plan import alone, arm_of
from lab.bench.trials.runner import Silent, run
from lab.model.measurement import Trial
from lab.model.plan import Load
from lab.model.profile import Profile
from lab.model.request import Expectation
from lab.model.workload import Workload

RESULT = Path(__file__).parent / "results" / "slowed.json"
SHARES = (1.0, 0.5, 0.25, 0.10)
WINDOW, WARMUP = 2.0, 0.3
DISTURBED = 0.15
"""Cores of other programs from which a cell is measured again; at most `TRIES` times."""

TRIES = 3

HANDLER = """
import fcntl
import os

TURNS, LOCKED = 40_000, int(os.environ.get("LOCKED", "0"))
_held = {}


def work(turns):
    for _ in range(turns):
        pass


def application(environ, start_response):
    if LOCKED:
        # Opened in each worker: one that is inherited locks nobody out.
        if os.getpid() not in _held:
            _held[os.getpid()] = open(os.environ["LOCK"], "w")
        file = _held[os.getpid()]
        fcntl.flock(file, fcntl.LOCK_EX)
        work(TURNS * LOCKED // 100)
        fcntl.flock(file, fcntl.LOCK_UN)
    work(TURNS * (100 - LOCKED) // 100)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"done\\n"]
"""

DONE = Workload("slowed", "/", Expectation(body=b"done\n"))


@dataclass(frozen=True, slots=True)
class Case:
    """Two servers, by their options or commands, and the clients of both."""

    reference: Mapping[str, str] | str
    changed: Mapping[str, str] | str
    locked: int = 0
    """Per cent of the handler's work that is done under a lock."""

    connections: int = 64
    options: Mapping[str, str] = field(default_factory=lambda: {"http-socket": "127.0.0.1:0"})


GUNICORN = "gunicorn --bind {host}:{port} --chdir {chdir} --worker-class gevent --workers "
GRANIAN = "granian --interface wsgi --host {host} --port {port} --working-dir {chdir} --workers "
ROUTER = {"http": "127.0.0.1:0"}
CASES: Mapping[str, Case] = {
    "2 processes": Case({}, {"processes": "2"}),
    "4 processes": Case({}, {"processes": "4"}),
    "4 processes of 2 threads": Case({}, {"processes": "4", "threads": "2"}),
    "2 threads": Case({}, {"threads": "2"}),
    "4 threads": Case({}, {"threads": "4"}),
    "2 processes, lock around 25%": Case({}, {"processes": "2"}, locked=25),
    "2 processes, lock around 50%": Case({}, {"processes": "2"}, locked=50),
    "2 processes, lock around 75%": Case({}, {"processes": "2"}, locked=75),
    "2 processes behind the router": Case({}, {"processes": "2"}, options=ROUTER),
    "4 processes, thunder-lock": Case(
        {"processes": "4"}, {"processes": "4", "thunder-lock": "true"}
    ),
    "2 processes, 500 clients": Case({}, {"processes": "2"}, connections=500),
    "2 workers of an event loop": Case(f"{GUNICORN}1", f"{GUNICORN}2"),
    "2 workers of several threads": Case(f"{GRANIAN}1", f"{GRANIAN}2"),
}


def profile_of(folder: Path, name: str, case: Case, server: Mapping[str, str] | str) -> Profile:
    """Write a server of a case into *folder*, and return its profile."""
    if isinstance(server, str):
        words = [*server.split(), "{app}"]
        text = f'summary = "{name}"\napp = "handler:application"\nrun = [{json.dumps(words)}]\n'
        return _read(folder / f"{name}.toml", f'{text}version = ["{words[0]}", "--version"]\n')
    options = {
        "pythonpath": str(folder),
        "module": "handler:application",
        "master": "true",
        "need-app": "true",
        "disable-logging": "true",
        "listen": "1024",
        **case.options,
        **server,
    }
    lines = [f"{option} = {value}" for option, value in options.items()]
    lines += [f"env = LOCKED={case.locked}", f"env = LOCK={folder / 'lock'}"]
    text = "\n".join(("[lab]", f"summary = {name}", "", "[uwsgi]", *lines, ""))
    return _read(folder / f"{name}.ini", text)


def _read(path: Path, text: str) -> Profile:
    path.write_text(text, encoding="utf-8")
    return profiles.read(str(path))


def cell(folder: Path, name: str, share: float, seed: int) -> dict[str, Any]:
    """
    Measure both servers of a case at a share, one after the other.

    Raises:
        LabError: A server does not start, or the load cannot be made.
    """
    case = CASES[name]
    sides = {"reference": case.reference, "changed": case.changed}
    order = random.Random(seed).sample(list(sides), 2)
    measured: dict[str, Any] = {}
    for side in order:
        profile = profile_of(folder, side, case, sides[side])
        workload = replace(DONE, apps={"wsgi": "handler:application"}, chdir=folder)
        arm = arm_of(profile, workload, Load(connections=case.connections))
        measured[side] = _trial(replace(alone(arm, WINDOW, WARMUP), share=share))
    return measured


def _trial(plan: Any) -> dict[str, float]:
    trials: list[Trial] = []
    run(plan, real_parts(EngineGenerator(), every_core(), trials.append), Silent())
    trial = trials[-1]
    if not trial.windows:
        sys.exit(f"{plan.arms[0].name}: {trial.failure}")
    metrics, readings = derive(trial), trial.readings
    before = readings.get("server.cpu_unslowed")
    return {
        "throughput": metrics["throughput"],
        "cpu": metrics["cpu"],
        "p50": metrics["p50"],
        "cpu_ratio": metrics["cpu"] / before if before else 1.0,
        "others": readings.get("machine.foreign_cpu", 0.0),
    }


def undisturbed(folder: Path, name: str, share: float, seed: int) -> dict[str, Any]:
    """Measure a cell until nobody disturbs it, or `TRIES` times."""
    for number in range(TRIES):
        measured = cell(folder, name, share, seed + number)
        if max(side["others"] for side in measured.values()) < DISTURBED * max(share, READ_WELL):
            break
    return measured


def agreement(cells: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """
    Yield a summary of each case and share.

    The speed of a shared machine changes between two trials, by a third and more. Most of a
    request's CPU is the handler's, so CPUs used, which are requests/s times CPU per request, do not
    depend on that speed.
    """
    for case in CASES:
        for share in SHARES:
            some = [entry for entry in cells if (entry["case"], entry["share"]) == (case, share)]
            if not some:
                continue
            used = [
                _used(entry["changed"], share) / _used(entry["reference"], share) for entry in some
            ]
            rates = [
                entry["changed"]["throughput"] / entry["reference"]["throughput"] for entry in some
            ]
            sides = [entry[side] for entry in some for side in ("reference", "changed")]
            yield {
                "case": case,
                "share": share,
                "used": [min(used), median(used), max(used)],
                "rate": [min(rates), median(rates), max(rates)],
                "cpu": median(side["cpu_ratio"] for side in sides),
                "rounds": len(some),
            }


def _used(side: Mapping[str, float], share: float) -> float:
    """Return the CPUs that a server used in its own time."""
    return side["throughput"] * side["cpu"] / share


def main() -> None:
    """Measure what is missing of the rounds, and store each cell at once."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="how many there are to be")
    rounds = parser.parse_args().rounds
    if (problem := slowdown.obstacle()) is not None:
        sys.exit(f"slowed: {problem}")
    stored: dict[str, Any] = json.loads(RESULT.read_text()) if RESULT.exists() else {"cells": []}
    cells: list[dict[str, Any]] = stored["cells"]
    known = {(entry["case"], entry["share"], entry["round"]) for entry in cells}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "handler.py").write_text(HANDLER, encoding="utf-8")
        for number in range(rounds):
            order = [(case, share) for case in CASES for share in SHARES]
            random.Random(number).shuffle(order)
            for case, share in order:
                if (case, share, number) in known:
                    continue
                began = time.time()
                measured = undisturbed(folder, case, share, number)
                cells.append({"case": case, "share": share, "round": number, **measured})
                _store(cells)
                ratio = measured["changed"]["throughput"] / measured["reference"]["throughput"]
                sys.stdout.write(
                    f"round {number + 1}: {case} at {share:.0%}: {ratio:.3f}, "
                    f"{time.time() - began:.0f} s\n"
                )
                sys.stdout.flush()


def _store(cells: list[dict[str, Any]]) -> None:
    environment = read_environment()
    kept = {name: environment[name] for name in ("cpu", "kernel", "uwsgi") if name in environment}
    result = {"environment": kept, "agreement": [*agreement(cells)], "cells": cells}
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
