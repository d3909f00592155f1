"""
Whether a server can load the user's application: asked once, before anything is measured.

The application is imported by the Python that will serve it, in a process of its own (`ask_app.py`)
under a guard: an import runs whatever the modules hold.
"""

from __future__ import annotations

import difflib
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lab.bench.machine import temporary
from lab.bench.machine.runtime import environment_of
from lab.bench.servers.last_words import ASGI, FOREIGN
from lab.bench.servers.ports import HOST
from lab.bench.servers.process import MOST_LOG, Order, Process
from lab.config.interface import WSGI
from lab.config.launch import ApplicationTarget
from lab.config.uwsgi.overrides import by_env, unset
from lab.errors import ApplicationError
from lab.model.protocols import Endpoint
from lab.model.runtime import Runtime

ASK = Path(__file__).with_name("ask_app.py")

LIMIT = 60.0
"""Seconds for an import."""

FRAMES = 3
"""Lines of the user's own files that are shown of a traceback."""

MOST_NAMES = 12
"""Names of a module that are listed."""

VARIABLE = re.compile(
    r"(?i:environment variable):? [\"']?([A-Z][A-Z0-9_]+)|(\w+) not found\. Declare it as envvar"
)
"""How frameworks say which variable they lack: Django, environs, decouple."""


def check(
    soughts: Iterable[tuple[ApplicationTarget, Runtime]],
) -> dict[Path | None, Mapping[str, str]]:
    """
    Import each distinct application in its environment.

    Returns:
        The version of each package, by the environment (`Runtime.python`).

    Raises:
        ApplicationError: One of them cannot be imported, or is none that its server serves.
    """
    questions, packages = (
        set[tuple[ApplicationTarget, Runtime]](),
        dict[Path | None, Mapping[str, str]](),
    )
    for sought, runtime in soughts:
        question = replace(sought, how="", named=""), replace(runtime, cwd=None)
        if question not in questions and sought.python is not None:
            questions.add(question)
            packages[runtime.python] = _ask(sought, sought.python, runtime)["distributions"]
    return packages


def _ask(sought: ApplicationTarget, python: str, runtime: Runtime) -> Mapping[str, Any]:
    """Return the answer of `ask_app.py`; raises ApplicationError where it is not a good one."""
    if not sought.folder.is_dir():
        absent = f"there is no folder {sought.folder} here; say which it is: --chdir PATH"
        raise ApplicationError(f"{sought.named}: {absent}", "")
    parameters = {"module": sought.module, "callable": sought.callable, "limit": LIMIT}
    with temporary.folder() as folder:
        answer = folder / "answer.json"
        question = json.dumps({**parameters, "path": [*reversed(sought.path), str(sought.folder)]})
        order = Order(
            profile=sought.named,
            commands=[(python, str(ASK), str(answer), question)],
            environment=environment_of(runtime, **dict(sought.variables)),
            folder=folder,
            cwd=sought.folder,
            cores=None,
        )
        process = Process(order, Endpoint(HOST, 0))
        try:
            how = process.ended() if process.wait(0, LIMIT) else f"it took more than {LIMIT:g} s"
        finally:
            process.kill()
        log = runtime.variables.hide(process.log(MOST_LOG))
        report: dict[str, Any] = (
            json.loads(answer.read_bytes()) if answer.is_file() else {"ended": how}
        )
    given = runtime.variables
    # The log is stored. What is printed here may name a module that is not there, whoever named it.
    missing = report.get("raised", {}).get("module") or ""
    problem = _problem(sought, python, report, given.reveal())
    lines = [given.hide(line, allowed=missing) for line in problem]
    if lines:
        raise ApplicationError("\n".join((f"{sought.named}: {lines[0]}", *lines[1:])), log)
    return report


def _problem(
    sought: ApplicationTarget, python: str, report: Mapping[str, Any], given: Mapping[str, str]
) -> Iterator[str]:
    """Yield lines that say what is wrong, and what to do; none where nothing is."""
    where = f"in {sought.folder} with {python}"
    if "ended" in report:
        yield f"the import of {sought.module} {where} did not come to its end: {report['ended']}"
    elif "exit" in report:
        yield f"{sought} ended its process while it was loaded {where}, as sys.exit() does"
        yield from ([f"    {report['exit']}"] if report["exit"] else [])
    elif "raised" in report:
        error = report["raised"]
        what = "cannot be loaded" if sought.callable.endswith("()") else "cannot be imported"
        yield f"{sought if 'loaded' in what else sought.module} {what} {where}:"
        yield from _frames(error["frames"], sought.folder)
        yield from (f"    {line}" for line in error["text"].splitlines())
        yield from (f"  {line}" for line in _advice(error, sought, python, given))
    elif "kind" in report and report["kind"] != "wsgi":
        yield from _kind(sought, report)


def _frames(frames: Sequence[Sequence[Any]], folder: Path) -> Iterator[str]:
    """Yield the last frames in files of the user's own, below each other."""
    user_frames = [frame for frame in frames if not FOREIGN.search(frame[0])][-FRAMES:]
    places = [f"{file.removeprefix(f'{folder}/')}:{line}" for file, line, _ in user_frames]
    wide = max(map(len, places), default=0)
    for place, (_, _, code) in zip(places, user_frames, strict=True):
        yield f"    {place:{wide}}  {code}".rstrip()


def _advice(
    error: Mapping[str, Any], sought: ApplicationTarget, python: str, given: Mapping[str, str]
) -> Iterator[str]:
    """Yield what to do about an exception, where that can be told."""
    missing, text = error["module"], VARIABLE.search(error["text"])
    variable = error["variable"] or (text and (text[1] or text[2]))
    not_set = unset(f"{sought.module} {sought.folder}")
    naming = [name for name, value in given.items() if f"{value}.".startswith(f"{missing}.")]
    if not_set:
        yield by_env(not_set)
    elif variable:
        file = sought.folder / ".env"
        other = file if file.is_file() else "FILE"
        yield f"Give it the variable: --env {variable}, or --env-file {other}"
    elif error["type"] == "FileNotFoundError" and sought.module in error["text"]:
        yield "Name the application as it is here: --app MODULE:CALLABLE --chdir PATH"
    elif missing and f"{sought.module}.".startswith(f"{missing}."):
        close = difflib.get_close_matches(missing, _modules(sought.folder), n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        yield f"{missing} was looked for in {sought.folder}{hint} ({sought.how})"
        if python == sys.executable and not close:
            yield "If it is installed in an environment of yours, give that: --python PATH"
    elif missing and naming:
        yield f"{naming[0]} names it, and it was looked for in {sought.folder}"
    elif missing and python == sys.executable:
        yield f"The lab's own environment has no {missing}: give yours, --python PATH"
    elif missing:
        place = Path(python).parent.parent
        yield f"{place} has no {missing}: install it there, or name another by --python"


def _kind(sought: ApplicationTarget, report: Mapping[str, Any]) -> Iterator[str]:
    """
    Yield what a callable is that is no WSGI application, and what else the module has.

    For a server that does not call it by WSGI, yield only that it does not exist.
    """
    kind, name = report["kind"], f"`{sought.callable}`"
    if sought.interface != WSGI:
        if kind == "absent":
            yield f"the module {sought.module} has no {name}"
        return
    if kind == "asgi":
        yield f"{sought} is an ASGI application ({report['type']}), and these servers serve WSGI:"
        yield f"  {ASGI.replace('MODULE:APP', str(sought))}"
        return
    if kind == "factory":
        call = _written(sought, f"{sought.callable}()")
        yield f"{name} of {sought.module} takes no request: it makes an application; say {call}"
        return
    problem = {
        "absent": f"the module {sought.module} has no {name}",
        "other": f"{sought} is no WSGI application: it is {report['type']}",
    }[kind]
    there = []
    for other, of, how in report["callables"]:
        call = f"a factory: {_written(sought, f'{other}()')}"
        there.append(f"{other} ({call if how == 'factory' else of})")
    more = ", ..." if len(there) > MOST_NAMES else ""
    listed = f"WSGI applications in it: {', '.join(there[:MOST_NAMES])}{more}"
    yield f"{problem}. {listed if there else f'It has no WSGI application ({sought.how})'}"


def _written(sought: ApplicationTarget, name: str) -> str:
    """Return how another callable of the module is named."""
    if sought.named.startswith("--app"):
        return f"--app '{sought.module}:{name}'"
    return f"`module = {sought.module}:{name}`"


def _modules(folder: Path) -> list[str]:
    """Return what a folder offers for import."""
    try:
        entries = list(folder.iterdir())
    except OSError:
        return []
    return [
        path.stem for path in entries if path.suffix == ".py" or (path / "__init__.py").is_file()
    ]
