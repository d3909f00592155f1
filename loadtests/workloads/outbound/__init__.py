"""
Ask another server, UPSTREAM_URL, and pass its reply on: an application that waits for others.

Each request has a connection of its own to it, as with `requests.get`, which the article used. It
is also what compares alike. Kept connections would be one for each thread in a server that blocks,
but a new one each time where every request runs in a greenlet or a task of its own, unless these
share a pool, and then the pool's size would be a part of the comparison.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from http.client import HTTPConnection, HTTPException, HTTPResponse
from urllib.parse import urlsplit
from wsgiref.types import StartResponse, WSGIEnvironment

UPSTREAM = urlsplit(os.environ["UPSTREAM_URL"])

TIMEOUT = 10.0
"""Seconds for connecting, and for each read."""


def app(_environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Answer what the upstream answers; with 502 where it does not."""
    return relay(_ask, start_response)


@contextmanager
def _ask() -> Iterator[HTTPResponse]:
    with closing(HTTPConnection(str(UPSTREAM.hostname), UPSTREAM.port, TIMEOUT)) as connection:
        connection.request("GET", UPSTREAM.path or "/", headers={"Connection": "close"})
        yield connection.getresponse()


def relay(
    ask: Callable[[], AbstractContextManager[HTTPResponse]], start_response: StartResponse
) -> Iterable[bytes]:
    """
    Answer what *ask* gets; with 502 where it gets nothing.

    Args:
        ask: Makes one request, and ends its connection. It may raise OSError or HTTPException.
        start_response: The server's.
    """
    kind = "text/plain"
    try:
        with ask() as reply:
            status, body = f"{reply.status} {reply.reason}", reply.read()
            kind = reply.getheader("Content-Type", kind)
    except (OSError, HTTPException) as error:
        status, body = "502 Bad Gateway", f"the upstream does not answer: {error}\n".encode()
    start_response(status, [("Content-Type", kind), ("Content-Length", str(len(body)))])
    return [body]


# -- for handlers that send and receive in their server's own way ----------------------------------


def request() -> bytes:
    """Return the request that `app` makes."""
    path, host = UPSTREAM.path or "/", UPSTREAM.netloc
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()


def reply_of(received: bytes) -> HTTPResponse:
    """
    Return all that came up to the connection's end as the reply that `app` would have read.

    Raises:
        HTTPException: It is none.
    """
    reply = HTTPResponse(_Received(received))  # type: ignore[arg-type]  # it asks no more of it
    reply.begin()
    return reply


class _Received:
    """What HTTPResponse reads instead of a socket."""

    def __init__(self, received: bytes) -> None:
        self._received = received

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._received)


application = app
