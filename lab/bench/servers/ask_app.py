"""
Import an application as its server would, and write as JSON what came of it.

Run by the Python of the application's environment as `python ask_app.py ANSWER QUESTION`, in the
server's folder and with its variables. So it needs nothing but the standard library of Python 3.8.

QUESTION is {"module": name or path of a file, "callable": name or name(), "path": [folder, ...],
"limit": seconds}. The answer has the "distributions" of the environment, and one of:

    "unknown"     why nothing can be said, such as that only uWSGI has what is imported
    "raised"      {"text", "type", "frames": [[file, line, code], ...], "module", "variable"}
    "exit"        what the application said when it ended its own process
    "kind"        "wsgi", "asgi", "factory", "other" or "absent"; then "type" and "callables":
                  [[name, type, kind], ...]
"""

from __future__ import annotations

import faulthandler
import importlib
import inspect
import json
import linecache
import os
import re
import sys
import traceback
from importlib import machinery, metadata, util
from types import ModuleType
from typing import Any

FACTORY = re.compile(r"(?:create|make|build|get)_\w*app\w*|app_factory", re.IGNORECASE)
"""Names of functions that make an application."""


def main() -> None:
    """Answer, and end without waiting for threads that the application has started."""
    answer, question = sys.argv[1], json.loads(sys.argv[2])
    if sys.path[0] == os.path.dirname(os.path.abspath(__file__)):  # noqa: PTH100, PTH120
        del sys.path[0]
    sys.path[:0] = question["path"]
    sys.argv[:] = ["uwsgi"]
    faulthandler.dump_traceback_later(0.9 * question["limit"])
    report: dict[str, object] = {}
    try:
        report.update(ask(question["module"], question["callable"]))
    except SystemExit as error:
        report["exit"] = str(error)
    except BaseException as error:  # noqa: BLE001 - whatever the application raises
        traceback.print_exc()
        if isinstance(error, ImportError) and error.name == "uwsgi":
            report["unknown"] = "it imports uwsgi, which only uWSGI has"
        else:
            report["raised"] = raised(error)
    report["distributions"] = {
        re.sub(r"[-_.]+", "-", distribution.metadata["Name"]).lower(): distribution.version
        for distribution in metadata.distributions()
        if distribution.metadata["Name"]
    }
    with open(f"{answer}.part", "w", encoding="utf-8") as file:  # noqa: PTH123
        json.dump(report, file)
    os.replace(f"{answer}.part", answer)  # noqa: PTH105
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def ask(name: str, wanted: str) -> dict[str, object]:
    """Import a module, and return what its callable is, and what it has instead."""
    module = load(name)
    if isinstance(getattr(module, "applications", None), dict):
        return {"kind": "wsgi"}  # uWSGI takes those, whatever it was told
    attribute = wanted[: len(wanted) - 2 * wanted.endswith("()")]
    instead = [
        [member, type(value).__name__, kind]
        for member, value in list(vars(module).items())
        for kind in [candidate(member, value, module.__name__)]
        if kind
    ]
    if not hasattr(module, attribute):
        return {"kind": "absent", "type": "", "callables": instead}
    application = getattr(module, attribute)
    if attribute != wanted:
        application = application()
    return {"kind": kind_of(application), "type": type(application).__name__, "callables": instead}


def load(name: str) -> ModuleType:
    """Import a module by its name, or a file as uWSGI does."""
    # The module shop.wsgi looks like one, too.
    is_file = name.endswith(".wsgi") and os.path.isfile(name)  # noqa: PTH113
    if not (is_file or name.endswith(".py")):
        return importlib.import_module(name)
    known = "uwsgi_file_" + re.sub(r"\W", "_", name[: name.rindex(".")])
    loader = machinery.SourceFileLoader(known, os.path.abspath(name))  # noqa: PTH100
    spec = util.spec_from_loader(known, loader)
    assert spec is not None
    module = util.module_from_spec(spec)
    sys.modules[known] = module
    loader.exec_module(module)
    return module


def kind_of(value: object) -> str:
    """Return what a value is that a server would call for each request."""
    if not callable(value):
        return "other"
    called = value if inspect.isroutine(value) or inspect.isclass(value) else type(value).__call__
    if inspect.iscoroutinefunction(called):
        return "asgi"
    try:
        takes = arguments(value)
    except (TypeError, ValueError):  # of a compiled function nothing is known
        return "wsgi"
    kinds = {2: "wsgi", 3: "asgi", 0: "factory"}
    return next((kind for number, kind in kinds.items() if number in takes), "other")


def candidate(name: str, value: object, module: str) -> str:
    """Return what a member of a module might serve as; empty where it is there for other things."""
    if name.startswith("_") or inspect.isclass(value) or inspect.ismodule(value):
        return ""
    is_function = inspect.isfunction(value)
    if is_function and value.__module__ != module:
        return ""
    try:
        kind, takes = kind_of(value), arguments(value)
    except Exception:  # noqa: BLE001 - such as a proxy that stands for nothing now
        return ""
    if kind == "factory" or (is_function and 0 in takes):
        return "factory" if is_function and FACTORY.fullmatch(name) else ""
    return kind if takes == {2} else ""


def arguments(value: Any) -> set[int]:
    """Return with how many positional arguments a callable may be called, of 0 to 3."""
    signature, counts = inspect.signature(value), set()
    for number in range(4):
        try:
            signature.bind(*range(number))
        except TypeError:
            continue
        counts.add(number)
    return counts


def raised(error: BaseException) -> dict[str, object]:
    """Return an exception in words, and where it came from."""
    frames = [
        [frame_summary.filename, frame_summary.lineno, frame_summary.line or ""]
        for frame_summary in traceback.extract_tb(error.__traceback__)
        if frame_summary.filename != __file__ and not frame_summary.filename.startswith("<frozen")
    ]
    last = traceback.extract_tb(error.__traceback__)[-1]
    lookup = last.name == "__getitem__" and last.filename in (os.__file__, "<frozen os>")
    if isinstance(error, SyntaxError) and error.filename:
        code = linecache.getline(error.filename, error.lineno or 0).strip()
        frames.append([error.filename, error.lineno, code])
    return {
        "type": type(error).__name__,
        "text": "".join(traceback.format_exception_only(type(error), error)).strip(),
        "frames": frames,
        "module": error.name if isinstance(error, ModuleNotFoundError) else None,
        "variable": error.args[0] if isinstance(error, KeyError) and lookup else None,
    }


if __name__ == "__main__":
    main()
