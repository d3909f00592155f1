"""The application that is watched, WSGI and ASGI; it counts the requests in its code."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from counter import Counter  # type: ignore[import-not-found]

IN_CODE = Counter(Path(os.environ["IN_CODE"]))

WAITS = (0.01, 0.02, 0.03, 0.05, 0.09)
"""Seconds that requests of /uneven wait, in turn."""

BODIES = {"/large": b"x" * 200_000}
BODY = b"x" * 200

_turn = itertools.cycle(WAITS)


def _compute(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(200))


def _wait(path: str) -> float:
    """Compute what a handler computes; return the seconds that it waits."""
    if path == "/work":
        _compute(0.005)
    return {"/uneven": next(_turn), "/work": 0.02, "/large": 0.02}.get(path, 0.0)


def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    """Answer by WSGI."""
    IN_CODE.add(1)
    try:
        path = environ["PATH_INFO"]
        time.sleep(_wait(path))
        body = BODIES.get(path, BODY)
    finally:
        IN_CODE.add(-1)
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


async def asgi(scope: dict[str, Any], receive: Any, send: Any) -> None:  # noqa: ARG001
    """Answer by ASGI."""
    if scope["type"] != "http":
        return
    IN_CODE.add(1)
    try:
        await asyncio.sleep(_wait(scope["path"]))
        body = BODIES.get(scope["path"], BODY)
    finally:
        IN_CODE.add(-1)
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
