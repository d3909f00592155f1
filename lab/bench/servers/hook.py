"""
What the lab does inside a server: it holds requests, or gives `def` handlers more threads.

It is copied as sitecustomize.py into a folder of the lab's, and run by the Python of the
application's environment. So it needs nothing but the standard library of Python 3.8. A
sitecustomize of the user's own runs behind it.

LAB_WATCH is {"module": name, "callable": name or name(), "notes": file that is there, "gate": file
that may be}: each import of the application is noted, and its requests are held at its door while
the file of the gate is there. A line of the notes is "import PID 0", "in PID THREAD" or "out PID
THREAD"; in the place of the thread stands a number of the request in an ASGI application. The
application is told by its frame and not by an import hook, as uWSGI runs a file without one.

LAB_WATCH is {"pool": number}: AnyIO's event loops have so many times the threads for `def`
handlers, whatever their number is when the first of them is called.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
import threading
import time
from types import FrameType
from typing import Any

LONGEST = 20.0
"""Seconds for which a request is held."""

INTERVAL = 0.02
"""Seconds between two looks whether it is still to be held."""

OF_A_FILE = "uwsgi_file_"
"""Begins the name of the module that uWSGI makes of a file."""

WATCH = json.loads(os.environ.get("LAB_WATCH", "{}"))


def note(word: str, place: int = 0) -> None:
    """Add a line, whole, whoever else adds one."""
    file = os.open(WATCH["notes"], os.O_WRONLY | os.O_APPEND)
    os.write(file, b"%s %d %d\n" % (word.encode(), os.getpid(), place))
    os.close(file)


class Door:
    """The application, behind a door; all but its call is its own."""

    def __init__(self, application: Any) -> None:
        vars(self)["application"] = application

    def __call__(self, *arguments: Any) -> Any:
        """Call the application, by WSGI or ASGI, once nobody wants the request to be held."""
        if len(arguments) == 3:
            return called(self.application, *arguments)
        if len(arguments) == 2:
            hold()
        return self.application(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.application, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.application, name, value)


class AsyncDoor(Door):
    """
    A door with the call of an ASGI application.

    uvicorn takes what is no coroutine function for an older ASGI, and calls an application without
    arguments to see whether it is a factory.
    """

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        """Call the application, once nobody wants the request to be held."""
        return await called(self.application, scope, receive, send)


def door(application: Any) -> Door:
    """Return the door of an application, of the same kind as that."""
    functions = application, getattr(application, "__call__", None)  # noqa: B004
    is_async = any(inspect.iscoroutinefunction(function) for function in functions)
    return (AsyncDoor if is_async else Door)(application)


async def called(application: Any, scope: Any, receive: Any, send: Any) -> Any:
    """Call an application by ASGI; a request is held, and the loop is not."""
    if scope["type"] == "http" and is_closed():
        import asyncio  # noqa: PLC0415 - gevent patches what asyncio imports, and is there before

        request, end = id(scope), time.monotonic() + LONGEST
        note("in", request)
        while is_closed() and time.monotonic() < end:  # noqa: ASYNC110
            await asyncio.sleep(INTERVAL)
        note("out", request)
    return await application(scope, receive, send)


def is_closed() -> bool:
    """Return whether requests are to be held at the gate."""
    return os.path.exists(WATCH["gate"])  # noqa: PTH110


def hold() -> None:
    """Hold this thread, or the greenlet that `threading` has been patched to mean, at the gate."""
    if not is_closed():
        return
    thread, end = threading.get_ident(), time.monotonic() + LONGEST
    note("in", thread)
    while is_closed() and time.monotonic() < end:
        time.sleep(INTERVAL)
    note("out", thread)


def watch(frame: FrameType, event: str, _value: object) -> None:
    """See the application's module run, and put a door before what it has made."""
    if frame.f_code.co_name != "<module>" or event not in ("call", "return"):
        return
    module = str(frame.f_globals.get("__name__"))
    if module != WATCH["module"] and not module.startswith(OF_A_FILE):
        return
    if event == "call":
        note("import")
        return
    name, factory, _ = WATCH["callable"].partition("()")
    made = frame.f_globals.get(name)
    if made is not None:
        sys.setprofile(None)
        frame.f_globals[name] = (lambda: door(made())) if factory else door(made)


class PoolFinder:
    """Makes AnyIO's pool of threads larger as its module is imported."""

    NAME = "anyio._backends._asyncio"

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        """Return the module's specification, which makes the pool larger when it is executed."""
        if name != self.NAME:
            return None
        import importlib.util  # noqa: PLC0415 - most servers need it not

        sys.meta_path.remove(self)
        spec: Any = importlib.util.find_spec(name)
        if spec is not None:
            spec.loader.exec_module = with_larger_pool(spec.loader.exec_module)
        return spec


def with_larger_pool(execute: Any) -> Any:
    """Return what executes a module as before, and then makes its pool of threads larger."""

    def executed(module: Any) -> None:
        execute(module)
        backend, larger = module.AsyncIOBackend, set()
        run = backend.run_sync_in_worker_thread

        async def run_sync(function: Any, *arguments: Any, **options: Any) -> Any:
            pool = backend.current_default_thread_limiter()
            if id(pool) not in larger:  # one for each event loop, and a worker has one
                larger.add(id(pool))
                pool.total_tokens *= WATCH["pool"]
            return await run(function, *arguments, **options)

        backend.run_sync_in_worker_thread = staticmethod(run_sync)

    return executed


def run_other_sitecustomize() -> None:
    """Run the sitecustomize that there would be without this one, if there is one."""
    folder = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != folder]  # noqa: PTH100
    this = sys.modules.pop("sitecustomize", None)
    try:
        importlib.import_module("sitecustomize")
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        if this is not None:
            sys.modules["sitecustomize"] = this


if __name__ == "sitecustomize":
    try:
        run_other_sitecustomize()
    finally:
        if "pool" in WATCH:
            sys.meta_path.insert(0, PoolFinder())
        else:
            sys.setprofile(watch)
