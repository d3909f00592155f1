"""
Which application a server was to serve, where it was looked for, and what is there instead.

Modules are looked up and read here, and never imported: an import runs whatever they hold.
"""

from __future__ import annotations

import ast
import difflib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path

from lab.errors import ServerStartError
from lab.servers.last_words import Reason, lacks_callable, quits, reason

MOST_NAMES = 12
"""Names of a module that a message lists."""

ABSENT = (
    r"Failed to find attribute ",
    r"Application object must be callable",
    r"AttributeError: module '.+' has no attribute ",
)
"""How gunicorn and granian say that the module has no such callable."""


@dataclass(frozen=True, slots=True)
class Sought:
    """An application, as a server was told of it."""

    module: str
    """Full name of a module, or the path of a file."""
    callable: str
    folder: Path
    """Where it is imported."""
    how: str
    """What to write for another folder, such as "--chdir names another"."""
    instead: str = ""
    """What to do where it answers, and not as asked; empty where the reply says all."""

    def __str__(self) -> str:
        return f"{self.module}:{self.callable}"


def explained(
    error: ServerStartError, log: str, sought: Sought | None, *, exited: bool
) -> ServerStartError:
    """
    Return *error* with the reason first, and the whole log instead of its end.

    Args:
        error: How the failure looked from outside.
        log: All that the server printed.
        sought: What it was to serve; None where that is not known.
        exited: Whether the server ended by itself, and not by a signal.
    """
    if error.told:
        said = [error.problem, *([f"  {sought.instead}"] if sought and sought.instead else [])]
        return type(error)(error.profile, "\n".join(said), log, told=True)
    if sought is not None and quits(log, exited=exited):
        quitting = f"{sought} ended its process while it was loaded, as sys.exit() does"
        return ServerStartError(error.profile, f"{quitting}\n{error.problem}", error.log)
    why = reason(log)
    lines = _said(why) if why else []
    if sought is not None and lacks_callable(log):
        lines = [f"{sought.module} has no {sought.callable}, which is to be a WSGI application"]
    if sought is not None and (lines or why):
        lines += _advice(why, sought)
    problem = "\n".join((*lines, error.problem))
    return ServerStartError(error.profile, problem, log, told=bool(lines))


def _said(why: Reason) -> list[str]:
    frame = f"  in {why.frame}" if why.frame else ""
    code = f": {why.code}" if why.frame and why.code else ""
    return [why.text, *([frame + code] if frame else [])]


def _advice(why: Reason | None, sought: Sought) -> list[str]:
    """Return what to do, in lines: none where the exception and its frame say it."""
    if why is None or any(re.match(each, why.text) for each in ABSENT):
        return _instead(sought)
    if why.bare and why.text.startswith("TypeError"):
        return [f"  {sought} is no WSGI application: it cannot be called as one", *_instead(sought)]
    missing = re.fullmatch(r"ModuleNotFoundError: No module named '(.+)'", why.text)
    if missing is None or not f"{sought.module}.".startswith(f"{missing[1]}."):
        return []
    close = difflib.get_close_matches(missing[1], _modules(sought.folder), n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return [f"  {missing[1]} was looked for in {sought.folder}{hint} ({sought.how})"]


def _instead(sought: Sought) -> list[str]:
    """Return in a line which callables the module has, as far as its text shows them."""
    path = _source(sought)
    if path is None:
        return [f"  {sought} was looked for in {sought.folder} ({sought.how})"]
    try:
        names = list(dict.fromkeys(_callables(ast.parse(path.read_bytes()))))
    except (OSError, SyntaxError, ValueError):
        return [f"  it was looked for in {path}"]
    others = [name for name in names if name != sought.callable]
    more = ", ..." if len(others) > MOST_NAMES else ""
    there = ", ".join(others[:MOST_NAMES]) + more
    return [f"  callables in {path}: {there or 'none'} ({sought.how})"]


def _source(sought: Sought) -> Path | None:
    """Return the file of the module, or None where it has none or is not found."""
    if sought.module.endswith(".py"):
        path = sought.folder / sought.module
        return path if path.is_file() else None
    places, origin = [str(sought.folder), *sys.path], None
    for number, part in enumerate(sought.module.split(".")):
        spec = PathFinder.find_spec(part, places)
        if spec is None and not number:
            spec = find_spec(part)  # a package that is installed to be edited has its own finder
        if spec is None:
            return None
        places, origin = list(spec.submodule_search_locations or ()), spec.origin
    return Path(origin) if origin and origin.endswith(".py") else None


def _callables(module: ast.Module) -> Iterator[str]:
    """Yield the public names of a module that may be callable: made by def, class or a call."""
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            names = [node.name]
        elif isinstance(node, ast.Assign) and not isinstance(node.value, ast.Constant):
            names = [each.id for each in node.targets if isinstance(each, ast.Name)]
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            names = [each.asname or each.name for each in node.names]
        else:
            names = []
        yield from (name for name in names if not name.startswith("_") and not name.isupper())


def _modules(folder: Path) -> list[str]:
    """Return what a folder offers for import."""
    try:
        found = list(folder.iterdir())
    except OSError:
        return []
    return [path.stem for path in found if path.suffix == ".py" or (path / "__init__.py").is_file()]
