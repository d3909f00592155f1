"""
Coroutines under uWSGI's asyncio mode, in which each WSGI request is a greenlet on one event loop.

The profiles of that mode `import` this file, so that each worker has a loop whatever it serves:
uWSGI asks asyncio for one from C, without a Python frame, and since Python 3.12 asyncio refuses to
make one there ("call stack is not deep enough"). It is made after the fork, because a loop that the
workers inherit has one epoll instance for all of them. With lazy-apps that would be too late, and
py-call-osafterfork aborts on Python 3.13: the profiles have neither.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

import greenlet

Result = TypeVar("Result")


def new_loop() -> None:
    """Give this process a loop of its own."""
    asyncio.set_event_loop(asyncio.new_event_loop())


def run(coroutine: Coroutine[object, object, Result]) -> Result:
    """
    Run a coroutine on uWSGI's loop, and let other requests go on until it is done.

    Returns:
        What it returns; what it raises is raised here.
    """
    request = greenlet.getcurrent()
    loop = request.parent
    assert loop is not None, "uWSGI runs a request in a greenlet: --asyncio N --greenlet"
    task = asyncio.get_running_loop().create_task(coroutine)
    task.add_done_callback(lambda _: request.switch())
    while not task.done():
        loop.switch()
    return task.result()


# uWSGI puts this module there; elsewhere `import uwsgi` would find this project's folder.
uwsgi: Any = sys.modules.get("uwsgi")
if uwsgi is not None:
    uwsgi.post_fork_hook = new_loop
