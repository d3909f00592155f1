"""
Count what a request costs an application: instructions in user space, and system calls.

Counts do not vary with what else runs on the machine. The application is called as a server would
call it, without one, by one thread, with the same request again and again; so a count has nothing
of the server, of the kernel's own work, of waiting, of caches and of locks that others hold.
Instructions are counted by valgrind's callgrind, system calls by strace.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote

from lab.bench.machine import temporary
from lab.bench.machine.programs import find_command
from lab.bench.machine.runtime import environment_of
from lab.bench.servers.ports import HOST
from lab.bench.servers.process import Order, Process
from lab.config.interface import WSGI
from lab.config.launch import ApplicationTarget
from lab.errors import LabError, MissingError
from lab.model.protocols import Endpoint
from lab.model.request import Request
from lab.model.runtime import Runtime

SCRIPT = Path(__file__).with_name("count_app.py")

WARM_UP = 200
"""Requests before: the interpreter specialises the code that it has run often."""

REQUESTS = 200

BEGIN, END = "/lab/counting/begins", "/lab/counting/ends"
"""Files that are nowhere: looking for them marks the counted requests among system calls."""

LIMIT = 300.0
"""Seconds; a program is about 50 times slower under callgrind."""

TOOLS = ("valgrind", "strace")


@dataclass(frozen=True, slots=True)
class Cost:
    """What one request takes of an application."""

    instructions: float
    """In user space."""
    syscalls: float


def require_tools() -> None:
    """
    Refuse to count without the programs that do it.

    Raises:
        MissingError: With what installs them.
    """
    missing = [name for name in TOOLS if find_command(name) is None]
    if missing:
        names = " ".join(missing)
        raise MissingError(f"--count: not installed here: apt-get install {names}")


def cost(sought: ApplicationTarget | None, request: Request, status: int, runtime: Runtime) -> Cost:
    """
    Return what *request* takes.

    Args:
        sought: The application; None where its server alone knows it.
        request: What it is asked.
        status: Of the right reply.
        runtime: Its environment.

    Raises:
        LabError: It cannot be called without its server, or does not give the right reply.
    """
    if sought is None or sought.python is None or not sought.module:
        raise LabError("--count: what is served is not known here; say --app MODULE:CALLABLE")
    if sought.interface != WSGI:
        raise LabError(f"--count: {sought} is not called by WSGI, and only that is counted")
    with temporary.folder() as folder:
        order = _order(sought, request, status, runtime, folder)
        total = instructions(order, folder / "ready", folder / "go")
    with temporary.folder() as folder:
        order = _order(sought, request, status, runtime, folder)
        calls = _calls(order, folder)
    return Cost(total / REQUESTS, calls / REQUESTS)


def instructions(order: Order, ready: Path, go: Path) -> int:
    """
    Return the instructions in user space that a command executes from *go* to its end.

    Args:
        order: Its only command writes *ready*, and waits for *go*.
        ready: Holds what is wrong, or nothing.
        go: Written here.

    Raises:
        LabError: It ended before, or was not right.
    """
    out = order.folder / "callgrind.out"
    tool = ("valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}")

    def switch_on(pid: int) -> None:
        command = ("callgrind_control", "-i", "on", str(pid))
        subprocess.run(command, check=True, capture_output=True, timeout=60)

    log = _run(replace(order, commands=((*tool, *order.commands[0]),)), ready, go, switch_on)
    text = out.read_text() if out.exists() else ""
    match = re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
    if match is None or int(match[1]) == 0:
        raise LabError(f"--count: callgrind has counted nothing\n{log}")
    return int(match[1])


def _calls(order: Order, folder: Path) -> int:
    """Return the system calls between the marks of `count_app.py`, of all its threads."""
    out = folder / "strace.out"
    tool = ("strace", "-f", "-qq", "-o", str(out))
    log = _run(
        replace(order, commands=((*tool, *order.commands[0]),)), folder / "ready", folder / "go"
    )
    lines = out.read_text(errors="replace").splitlines() if out.exists() else []
    marks = [n for n, line in enumerate(lines) if BEGIN in line or END in line]
    if len(marks) != 2:
        raise LabError(f"--count: strace has not seen the requests\n{log}")
    between = lines[marks[0] + 1 : marks[1]]
    return sum(re.match(r"\d+ +\w+\(", line) is not None for line in between)


def _run(
    order: Order, ready: Path, go: Path, begin: Callable[[int], object] = lambda _pid: None
) -> str:
    """Run a command to its end, with what *begin* does in between; return its last lines."""
    process = Process(order, Endpoint(HOST, 0))
    deadline = time.monotonic() + LIMIT
    try:
        while not ready.exists():
            if process.wait(0, 0.05) or time.monotonic() > deadline:
                raise LabError(f"--count: {order.profile} cannot be called\n{process.log_tail()}")
        if wrong := ready.read_text(encoding="utf-8"):
            raise LabError(f"--count: {order.profile}: {wrong}")
        begin(process.commands[0][0])
        go.touch()
        if not process.wait(0, max(0.0, deadline - time.monotonic())):
            raise LabError(f"--count: {order.profile} took more than {LIMIT:g} s")
        return process.log_tail()
    finally:
        process.kill()


def _order(
    sought: ApplicationTarget, request: Request, status: int, runtime: Runtime, folder: Path
) -> Order:
    question = {
        "module": sought.module,
        "callable": sought.callable,
        "path": [*reversed(sought.path), str(sought.folder)],
        "environ": _environ(request),
        "body": request.body.decode("latin-1"),
        "status": status,
        "warm_up": WARM_UP,
        "requests": REQUESTS,
        "ready": str(folder / "ready"),
        "go": str(folder / "go"),
        "begin": BEGIN,
        "end": END,
    }
    # The same layout of dictionaries and sets on both sides: a count is compared to a thousandth.
    fixed = {"PYTHONHASHSEED": "0"}
    return Order(
        profile=sought.named or str(sought),
        commands=((str(sought.python), str(SCRIPT), json.dumps(question)),),
        environment=environment_of(runtime, **dict(sought.variables)) | fixed,
        folder=folder,
        cwd=sought.folder,
        cores=None,
    )


def _environ(request: Request) -> Mapping[str, object]:
    """Return what a server tells of *request* (PEP 3333), but for its streams."""
    path, _, query = request.path.partition("?")
    headers = {
        f"HTTP_{name.upper().replace('-', '_')}": value for name, value in request.headers.reveal()
    }
    return {
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote(path, "latin-1"),
        "QUERY_STRING": query,
        "REQUEST_URI": request.path,
        "SERVER_NAME": HOST,
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": HOST,
        "HTTP_HOST": "localhost",
        "CONTENT_TYPE": headers.pop("HTTP_CONTENT_TYPE", ""),
        **headers,
        "CONTENT_LENGTH": str(len(request.body)) if request.body else "",
        "wsgi.url_scheme": "http",
        "wsgi.multithread": False,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
