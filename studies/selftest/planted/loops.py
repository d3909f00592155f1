"""Small ASGI applications, each with one property that a self-test relies on."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import anyio.to_thread

BODY = b"done"
HEADERS = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(BODY))]

SECONDS = 0.02
"""How long a request waits."""

Send = Callable[[dict[str, Any]], Awaitable[None]]


async def _reply(send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": BODY})


async def blocking(_scope: Any, _receive: Any, send: Send) -> None:
    """Wait without leaving the event loop to others."""
    time.sleep(SECONDS)  # noqa: ASYNC251 - it is the fault
    await _reply(send)


async def in_thread(_scope: Any, _receive: Any, send: Send) -> None:
    """Wait in a thread of AnyIO's, as a `def` handler of Starlette does."""
    await anyio.to_thread.run_sync(time.sleep, SECONDS)
    await _reply(send)


async def awaiting(_scope: Any, _receive: Any, send: Send) -> None:
    """Wait, while others are served."""
    await asyncio.sleep(SECONDS)
    await _reply(send)
