"""
Count the instructions of one request, application by application.

    .venv/bin/python studies/instructions.py            all of them; writes the results
    .venv/bin/python studies/instructions.py --check    the default path, against what is stored

Processor time varies by a tenth on a busy machine, and an application's share of it with what runs
beside. Instructions in user space, counted by valgrind's callgrind, are the same to a thousandth
every time: a change of 2 % is a change of the program. They say nothing of the kernel, of the
server, or of how fast an instruction is.

Each application is called as a server would call it, without one. The counting begins after a
warm-up, because the interpreter specialises the code that it has run often, and after a collection
of garbage that sets apart what lives on: a full one, by chance among the counted requests, would be
more than what two algorithms differ by. What is stored belongs to one build of Python; --check with
another says so and ends with status 3. Needs valgrind.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import sys
import sysconfig
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lab.bench.servers.counting import instructions
from lab.bench.servers.process import Order

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "studies" / "results" / "instructions.json"
REQUESTS = 200
WARM_UP = 500
TOLERANCE = 0.02

APPLICATIONS = {
    "loop": "loadtests.workloads.fib._algorithms:loop",
    "table": "loadtests.workloads.fib._algorithms:table",
    "prefix": "loadtests.workloads.fib._algorithms:prefix",
    "service": "app.wsgi:app",
    "short-cut": "app.fast:app",
}
NUMBERS = {"9000": "9000", "10^18": str(10**18), "100 digits": "9" * 100}
PHASES = ("view", "context", "push", "dispatch", "whole")
"""What a driver calls, each holding the one before but for the view, which stands by itself."""

CALL = """
import gc, importlib, io, os, sys, time
module, name, number, *rest = sys.argv[1:]
application = getattr(importlib.import_module(module), name)
base = {
    "REQUEST_METHOD": "GET", "SCRIPT_NAME": "", "PATH_INFO": "/" + number, "QUERY_STRING": "",
    "SERVER_NAME": "127.0.0.1", "SERVER_PORT": "8080", "SERVER_PROTOCOL": "HTTP/1.1",
    "HTTP_HOST": "127.0.0.1:8080", "HTTP_ACCEPT": "*/*", "REMOTE_ADDR": "127.0.0.1",
    "REQUEST_URI": "/" + number, "CONTENT_LENGTH": "", "CONTENT_TYPE": "",
    "wsgi.version": (1, 0), "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(),
    "wsgi.errors": sys.stderr, "wsgi.multithread": False, "wsgi.multiprocess": True,
    "wsgi.run_once": False,
}
def start_response(status, headers, exc_info=None):
    pass
def whole():
    body = application(base.copy(), start_response)
    for part in body:
        pass
    if hasattr(body, "close"):
        body.close()
"""
"""Calls an application as a server would, `whole()`; its first arguments say which."""

DRIVER = (
    CALL
    + """
phase, warm_up, requests, ready, go = rest
def context():
    application.request_context(base.copy())
def push():
    made = application.request_context(base.copy())
    made.push()
    made.pop()
def dispatch():
    made = application.request_context(base.copy())
    made.push()
    application.full_dispatch_request()
    made.pop()
if phase == "view":
    made = application.request_context(base.copy())
    made.push()
    function = application.view_functions["sequence"]
    call = lambda: function(number)
else:
    call = {"whole": whole, "context": context, "push": push, "dispatch": dispatch}[phase]
for _ in range(int(warm_up)):
    call()
gc.collect()
gc.freeze()
open(ready, "w").close()
while not os.path.exists(go):
    time.sleep(0.02)
for _ in range(int(requests)):
    call()
os._exit(0)
"""
)


@dataclass(frozen=True)
class Cell:
    """One figure."""

    application: str
    build: str
    number: str
    phase: str
    instructions: int
    """Of one request, in user space."""


def interpreter() -> str:
    """Return what the figures belong to: version, compiler, and what the build was told."""
    optimised = "optimised" if "--enable-optimizations" in _configured() else "plain"
    shared = "shared libpython" if sysconfig.get_config_var("Py_ENABLE_SHARED") else "static"
    compiler = re.sub(r"\s+", " ", platform.python_compiler())
    return f"Python {platform.python_version()}, {compiler}, {optimised}, {shared}"


def _configured() -> str:
    return str(sysconfig.get_config_var("CONFIG_ARGS") or "")


def count(application: str, build: str, number: str, phase: str = "whole") -> Cell:
    """
    Return the instructions of one request.

    Raises:
        LabError: It could not be counted; with what was printed.
    """
    with tempfile.TemporaryDirectory() as name:
        total = _counted(Path(name), application, build, NUMBERS[number], phase)
        return Cell(application, build, number, phase, round(total / REQUESTS))


def _counted(folder: Path, application: str, build: str, number: str, phase: str) -> int:
    module, _, attribute = APPLICATIONS[application].partition(":")
    pure = build == "pure"
    environment = os.environ | {
        "PYTHONHASHSEED": "0",
        "FIB_PURE_PYTHON": "1" if pure else "",
        "FIB_REQUIRE_CYTHON": "" if pure else "1",
        "FIB_MAX_DIGITS": "",
    }
    ready, go = folder / "ready", folder / "go"
    words = (module, attribute, number, phase, str(WARM_UP), str(REQUESTS), str(ready), str(go))
    order = Order(
        profile=f"{application}, {build}",
        commands=((sys.executable, "-c", DRIVER, *words),),
        environment=environment,
        folder=folder,
        cwd=ROOT,
        cores=None,
    )
    return instructions(order, ready, go)


def measure() -> dict[str, Any]:
    """Count everything, and say so on the way."""
    cases = [
        (application, build, number, "whole")
        for application in APPLICATIONS
        for build in ("pure", "cython")
        for number in NUMBERS
    ]
    parts = [("service", "cython", "9000", phase) for phase in PHASES]
    # A count is the same whatever runs beside it.
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        counted = list(pool.map(lambda case: _said(count(*case)), [*cases, *parts]))
    cells, phases = counted[: len(cases)], counted[len(cases) :]
    return {
        "cells": [asdict(cell) for cell in cells],
        "phases": [asdict(cell) for cell in phases],
        "versions": {name: version(name) for name in ("flask", "werkzeug", "cython")},
        "measured": time.strftime("%Y-%m-%d"),
    }


def _said(cell: Cell) -> Cell:
    print(
        f"{cell.application:10} {cell.build:7} {cell.number:11} {cell.phase:9} "
        f"{cell.instructions:>10,}",
        flush=True,
    )
    return cell


def check() -> int:
    """Count the default path, and compare it with what is stored for this interpreter."""
    stored = json.loads(RESULTS.read_text()).get(interpreter())
    if stored is None:
        print(f"nothing is stored for {interpreter()}: studies/instructions.py stores it")
        return 3
    status = 0
    for number in ("9000", "100 digits"):
        key = {"application": "service", "build": "cython", "number": number}
        before = next(
            cell["instructions"] for cell in stored["cells"] if key.items() <= cell.items()
        )
        now = count("service", "cython", number).instructions
        change = now / before - 1
        print(f"{number}: {now:,} instructions a request, {change:+.2%} of what is stored")
        if abs(change) > TOLERANCE:
            status = 1
    return status


def main() -> int:
    """Count, and write or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--check", action="store_true", help="the default path only, and compare")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("valgrind is not installed: apt-get install valgrind")
        return 3
    if arguments.check:
        return check()
    everything = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    everything[interpreter()] = measure()
    RESULTS.write_text(json.dumps(everything, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
