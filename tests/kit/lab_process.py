"""Run the lab's commands as a user does: as processes, from a folder of their own."""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import psutil

from tests.kit.preloaded import Preloaded

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
SITES = ROOT / "tests" / "sites"
"""Applications that know nothing of this project."""

SMALL = ("--blocks", "1", "--window", "0.4", "--warmup", "0.1")
"""Sizes that take seconds: enough to see that everything happens, too small to conclude from."""

PACED = ("--rate", "200", *SMALL)
"""The same with a rate, which leaves the CPUs idle: for a test to which speed does not matter."""


def environment() -> dict[str, str]:
    """Return this process's environment without what a developer's shell adds to it."""
    foreign = ("FIB_", "LOCUST_", "PROCESSES", "WSGI_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(foreign)}
    # matplotlib lists the fonts in it once, and not at each start.
    fonts = str(Path(tempfile.gettempdir(), "matplotlib-of-tests"))
    added = {"PATH": f"{BIN}:{os.environ['PATH']}", "COLUMNS": "160", "NO_COLOR": "1"}
    return kept | added | {"MPLCONFIGDIR": fonts}


@functools.cache
def preloaded() -> Preloaded:
    """Return what runs `lab` for this process, without importing it again."""
    process = Preloaded(environment())
    atexit.register(process.close)
    return process


def run(
    *command: str | bytes, cwd: Path, timeout: float = 180, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command of ours to its end; `lab` without importing it again."""
    name, *arguments = command
    env = environment() | variables
    if name == "lab":
        done = preloaded().run(arguments, cwd, env, timeout)
    else:
        done = subprocess.run(
            [BIN / str(name), *arguments],
            cwd=cwd, env=env, capture_output=True, timeout=timeout, check=False,
        )  # fmt: skip
    encoding = env.get("PYTHONIOENCODING", "utf-8")
    out, err = done.stdout.decode(encoding), done.stderr.decode(encoding)
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def python(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run this interpreter in *folder*, without what a shell may tell it or a build of `fib`."""
    left = ("FIB_", "PYTHON")
    environ = {k: v for k, v in os.environ.items() if not k.startswith(left) and k != "CC"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def compare(*command: str, cwd: Path, also: int = 0) -> subprocess.CompletedProcess[str]:
    """
    Run a comparison, which may end with 3 on a busy machine, and with *also*.

    On a machine that starves a server its requests fail, and the comparison ends with 1. Then it
    is repeated, twice at most, as if the others had not been made.
    """
    before = set(cwd.glob("results/*"))
    done = run(*command, cwd=cwd)
    for _ in range(2):
        if done.returncode != 1 or "requests failed" not in done.stdout + done.stderr:
            break
        for made in set(cwd.glob("results/*")) - before:
            shutil.rmtree(made)
        done = run(*command, cwd=cwd)
    assert done.returncode in {0, 3, also}, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


@contextmanager
def started(*command: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a command of ours until the block ends; its output goes to `output` in *cwd*."""
    # As from a terminal: a script's background job, such as a CI's, ignores SIGINT.
    usual = ("env", "--default-signal=INT,TERM,HUP")
    with (cwd / "output").open("w") as output:
        process = subprocess.Popen(
            [*usual, str(BIN / command[0]), *command[1:]],
            cwd=cwd,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            text=True,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def trials(folder: Path) -> list[dict[str, Any]]:
    """Return the whole lines of the only run under *folder*/results; none before it began."""
    paths = list(folder.glob("results/*/trials.ndjson"))
    if not paths:
        return []
    *lines, _ = paths[0].read_text().split("\n")
    return [json.loads(line) for line in lines]


def header(folder: Path) -> Any:
    """Return the run.json of the only run under *folder*/results."""
    return json.loads(next(folder.glob("results/*/run.json")).read_text())


def summary(folder: Path) -> Any:
    """Return the summary of the only run under *folder*/results."""
    return json.loads(next(folder.glob("results/*/summary.json")).read_text())


def until(condition: Callable[[], T], what: str, timeout: float = 60.0) -> T:
    """Poll *condition* until it is true; return its value."""
    deadline = time.monotonic() + timeout
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what} did not happen in {timeout} s"
        time.sleep(0.01)
    return value


def descendants(pid: int) -> list[psutil.Process]:
    """Return the processes below *pid*, those of other sessions too."""
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def cpu_of(processes: Iterable[psutil.Process]) -> float:
    """Return the CPU seconds that they have used, without their children."""
    times = [process.cpu_times() for process in processes]
    return sum(cpu_times.user + cpu_times.system for cpu_times in times)


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Return those that still run; a zombie does not."""
    return [p for p in processes if p.is_running() and _status(p) != psutil.STATUS_ZOMBIE]


def _status(process: psutil.Process) -> str:
    try:
        return process.status()
    except psutil.NoSuchProcess:  # ended since
        return psutil.STATUS_ZOMBIE
