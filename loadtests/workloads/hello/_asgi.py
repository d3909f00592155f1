"""The smallest ASGI application: the five bytes of the WSGI one beside it, for every request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadtests.workloads.hello import BODY

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


async def app(scope: Scope, _receive: Receive, send: Send) -> None:
    """Answer `Pong!`, whatever was asked; nothing is done at the start and the end of a server."""
    if scope["type"] != "http":
        return
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(BODY))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": BODY})
