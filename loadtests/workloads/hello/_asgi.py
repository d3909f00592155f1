"""The smallest ASGI application: the five bytes of the WSGI one beside it, for every request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from loadtests.workloads.hello import BODY

Message = MutableMapping[str, Any]


async def app(
    scope: Message,
    _receive: Callable[[], Awaitable[Message]],
    send: Callable[[Message], Awaitable[None]],
) -> None:
    """Answer `Pong!`, whatever was asked; nothing is done at the start and the end of a server."""
    if scope["type"] != "http":
        return
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(BODY))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": BODY})
