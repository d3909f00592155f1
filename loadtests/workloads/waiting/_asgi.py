"""The bare ASGI application that waits, as the WSGI one beside it: `GET /50` takes 50 ms."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from loadtests.workloads.waiting import LONGEST

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


async def app(scope: Scope, _receive: Receive, send: Send) -> None:
    """Wait as many milliseconds as the path says, then answer with that number."""
    if scope["type"] != "http":
        return
    text = scope["path"][1:]
    milliseconds = int(text) if text.isascii() and text.isdecimal() else 0
    milliseconds = min(milliseconds, LONGEST)
    await asyncio.sleep(milliseconds / 1000)
    body = b"%d\n" % milliseconds
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
