"""
How long does one call of an application take, with Flask and Werkzeug plain and compiled?

    .venv/bin/python studies/framework.py            our application, and the article's
    .venv/bin/python studies/framework.py modules    the same, each module compiled alone

Needs what `make framework` makes. Two processes, one with that folder on its path and one without,
call the application as a server would, without one, and take turns of a few milliseconds, so that
whatever else this machine does falls on both. Their ratio is the median of the turns; because the
place of a process in memory counts as well, that is repeated with new ones, and the interval is
that of the pairs. It is processor time. Takes two minutes on a machine with nothing else to do, and
five for the modules, whose other side is a copy of the same folder with nothing compiled in it.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from importlib.metadata import distribution, version
from pathlib import Path
from shutil import copytree
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from lab.analysis.stats import paired  # noqa: E402
from lab.bench.store.environment import read_environment  # noqa: E402
from studies.instructions import CALL, interpreter  # noqa: E402
from tools.framework import (  # noqa: E402
    MODULES,
    OVERLAY,
    PACKAGES,
    WITHOUT_GAIN,
    FrameworkError,
    build,
    check,
)

RESULTS = ROOT / "studies" / "results"

APPLICATIONS = {"service": "app.wsgi:app", "article": "loadtests.workloads.fib._article:app"}

WARM_UP = 2000
"""Calls. The interpreter specialises the code that it has run often."""

CALLS = 400
"""Of one turn, which takes some milliseconds."""

TIMER = (
    CALL
    + """
for _ in range(int(rest[0])):
    whole()
print("ready", flush=True)
for line in sys.stdin:
    began = time.process_time_ns()
    for _ in range(int(line)):
        whole()
    print(time.process_time_ns() - began, flush=True)
"""
)


class Caller:
    """
    A process that calls an application as often as it is told.

    Args:
        application: One of APPLICATIONS.
        overlay: Where Flask and Werkzeug are looked for first; None for the installed ones.
        stack: Ends the process.
    """

    def __init__(self, application: str, overlay: Path | None, stack: ExitStack) -> None:
        module, _, name = APPLICATIONS[application].partition(":")
        environment = os.environ | {
            "PYTHONPATH": str(overlay or ""),
            "FIB_PURE_PYTHON": "",
            "FIB_REQUIRE_CYTHON": "1",
            "FIB_MAX_DIGITS": "",
        }
        self._process = stack.enter_context(
            subprocess.Popen(
                [sys.executable, "-c", TIMER, module, name, "9000", str(WARM_UP)],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        stack.callback(self._process.kill)
        self._read("ready")

    def seconds(self, calls: int) -> float:
        """Return the processor time of one call, the mean of so many."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{calls}\n")
        self._process.stdin.flush()
        return int(self._read()) / calls / 1e9

    def _read(self, wanted: str | None = None) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line or wanted not in (None, line):
            raise RuntimeError("the application cannot be called; the reason is above")
        return line


def pair(application: str, overlays: Sequence[Path | None], rounds: int) -> tuple[float, float]:
    """Return the seconds of one call with either folder, medians of turns that alternate."""
    with ExitStack() as stack:
        callers = [Caller(application, overlay, stack) for overlay in overlays]
        taken: tuple[list[float], list[float]] = ([], [])
        for number in range(rounds):
            for side in (0, 1) if number % 2 else (1, 0):
                taken[side].append(callers[side].seconds(CALLS))
    return statistics.median(taken[0]), statistics.median(taken[1])


def compared(
    application: str, before: Path | None, after: Path | None, pairs: int, rounds: int
) -> dict[str, Any]:
    """Return what one call takes with *before* and *after*, in seconds, and their ratio."""
    seconds = [pair(application, (before, after), rounds) for _ in range(pairs)]
    ratio = paired([math.log(new / old) for old, new in seconds])
    return {
        "before": statistics.median(old for old, _ in seconds),
        "after": statistics.median(new for _, new in seconds),
        "ratio": asdict(ratio),
        "pairs": seconds,
    }


def applications() -> dict[str, Any]:
    """Return what compiling is worth to each application."""
    return {name: _found(name, name, None, OVERLAY) for name in APPLICATIONS}


def modules() -> dict[str, dict[str, Any]]:
    """Return what compiling one module, and no other, is worth to each application."""
    candidates = (*MODULES, *WITHOUT_GAIN)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(build(folder / "all", candidates))
        plain = _with_one(None, candidates, folder)
        comparisons: dict[str, dict[str, Any]] = {}
        for module in candidates:
            one = _with_one(module, candidates, folder)
            comparisons[module] = {
                name: _found(f"{module}, {name}", name, plain, one, pairs=8, rounds=40)
                for name in APPLICATIONS
            }
        return comparisons


def _with_one(module: str | None, candidates: Sequence[str], folder: Path) -> Path:
    """Copy *folder*/all, each of the candidates but *module* as its source; return the copy."""
    copy = folder / (module or "none").replace("/", "-")
    copytree(folder / "all", copy)
    for candidate in candidates:
        if candidate != module:
            (copy / f"{candidate}{sysconfig.get_config_var('EXT_SUFFIX')}").unlink()
            source = distribution(candidate.partition("/")[0]).locate_file(f"{candidate}.py")
            (copy / f"{candidate}.py").write_bytes(Path(str(source)).read_bytes())
    return copy


def _found(
    title: str,
    application: str,
    before: Path | None,
    after: Path | None,
    *,
    pairs: int = 10,
    rounds: int = 60,
) -> dict[str, Any]:
    """Compare two folders, and say what came of it while the others are still to come."""
    comparison = compared(application, before, after, pairs=pairs, rounds=rounds)
    print(_said(title, comparison), flush=True)
    return comparison


def _said(name: str, step: dict[str, Any]) -> str:
    ratio = step["ratio"]
    return (
        f"{name:42} {step['before'] * 1e6:6.2f} -> {step['after'] * 1e6:6.2f} µs, "
        f"{ratio['value']:.3f}x [{ratio['low']:.3f}, {ratio['high']:.3f}]"
    )


def main() -> int:
    """Measure, and store what was found."""
    arguments = sys.argv[1:]
    if arguments not in ([], ["modules"]):
        print(__doc__)
        return 0 if arguments == ["--help"] else 2
    try:
        print(check())
    except FrameworkError as error:
        print(error)
        return 3
    stored = {
        **({"modules": modules()} if arguments else {"applications": applications()}),
        "interpreter": interpreter(),
        "machine": read_environment()["cpu"],
        "versions": {name: version(name) for name in (*PACKAGES, "cython")},
        "measured": time.strftime("%Y-%m-%d"),
    }
    path = RESULTS / ("framework_modules.json" if arguments else "framework.json")
    path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
