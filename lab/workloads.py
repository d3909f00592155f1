"""
What is asked of a server, and which reply is correct.

The expected body of `fib` is computed here by its own recurrence, not by the package `fib`: an
instrument that shared code with what it measures could not notice that both are wrong.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from lab.errors import UsageError
from lab.model import Expectation, Workload

NAMES = ("fib", "hello")
"""Workloads that need no further description."""


def workload(
    name: str | None = None,
    *,
    app: str | None = None,
    path: str | None = None,
    chdir: Path | None = None,
    status: int | None = None,
    pattern: str | None = None,
) -> Workload:
    """
    Return a workload of ours, or a user's own application as one.

    Args:
        name: One of `NAMES`; None for the first, or where *app* is given.
        app: Import path "package.module:callable" of any WSGI application.
        path: Request target; each workload has its own default. `fib` takes powers, as /10^99.
        chdir: Folder in which *app* is imported.
        status: Status of a correct reply of *app*; None for 200.
        pattern: Regular expression to search in the body, instead of requiring the exact body of
            the first reply.

    Raises:
        UsageError: A part cannot be meant so.
    """
    _check(path, status, pattern)
    if app is not None:
        if name is not None:
            raise UsageError(f"--workload {name} and --app {app} contradict: leave out one")
        if not re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", app):
            raise UsageError(
                f"--app {app!r}: expected package.module:callable, as in mysite.wsgi:application"
            )
        if chdir is not None and not chdir.is_dir():
            raise UsageError(f"--chdir {chdir}: no such folder")
        return Workload(
            name=app,
            path=path or "/",
            expect=Expectation(status=200 if status is None else status, pattern=pattern),
            app=app,
            chdir=(chdir or Path.cwd()).resolve(),
        )
    refuse_without_app(check=pattern, chdir=chdir, status=status)
    name = name or NAMES[0]
    if name == "hello":
        return Workload("hello", path or "/", Expectation(body=b"Pong!"), app="app.hello:app")
    if name != "fib":
        raise UsageError(f"no workload {name!r}: choose one of {', '.join(NAMES)}, or give --app")
    path = path or "/9000"
    if power := re.fullmatch(r"/([0-9]{1,3})\^([0-9]{1,3})", path):
        path = f"/{int(power[1]) ** int(power[2])}"
    if not re.fullmatch(r"/[0-9]{1,100}", path):
        raise UsageError(
            f"--path {path!r}: fib takes a number of up to 100 digits, as in /9000 or /10^99"
        )
    return Workload("fib", path, Expectation(body=fibonacci_body(int(path[1:]))))


def _check(path: str | None, status: int | None, pattern: str | None) -> None:
    if path is not None and not re.fullmatch(r"/[!-~]*", path):
        raise UsageError(f"--path {path!r}: a request target begins with / and has no blanks")
    if status is not None and not 200 <= status <= 599:
        raise UsageError(f"--status {status}: a reply has one from 200 to 599")
    if pattern is not None:
        try:
            re.compile(pattern.encode())  # as it will be searched: in bytes
        except re.error as error:
            raise UsageError(f"--check {pattern!r} is not a regular expression: {error}") from None


def refuse_without_app(**given: object) -> None:
    """
    Refuse an option that describes an application of the user's, where none is named.

    Args:
        given: Name of an option, without its dashes -> what was given; None where nothing was.

    Raises:
        UsageError: The first one that was given.
    """
    for option, value in given.items():
        if value is not None:
            raise UsageError(f"--{option} describes an application of yours: it goes with --app")


def fibonacci_body(number: int) -> bytes:
    """
    Return the body that `GET /number` must have.

    >>> fibonacci_body(5)
    b'[0, 1, 1, 2, 3, 5]'
    """
    sequence = [0, 1]
    while sequence[-1] < number:
        sequence.append(sequence[-1] + sequence[-2])
    return json.dumps(sequence).encode()
