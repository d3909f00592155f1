"""
Ask another server, UPSTREAM_URL, and pass its reply on: an application that waits for others.

Each request has a connection of its own to it, as with `requests.get`, which the article used. It
is also what compares alike. Kept connections would be one for each thread in a server that blocks,
but a new one each time where every request runs in a greenlet or a task of its own, unless these
share a pool, and then the pool's size would be a part of the comparison.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit
from wsgiref.types import StartResponse, WSGIEnvironment

UPSTREAM = urlsplit(os.environ["UPSTREAM_URL"])

TIMEOUT = 10.0
"""Seconds for connecting, and for each read."""


def app(_environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Answer what the upstream answers; with 502 where it does not."""
    kind = "text/plain"
    try:
        connection = HTTPConnection(str(UPSTREAM.hostname), UPSTREAM.port, TIMEOUT)
        try:
            connection.request("GET", UPSTREAM.path or "/", headers={"Connection": "close"})
            reply = connection.getresponse()
            status, body = f"{reply.status} {reply.reason}", reply.read()
            kind = reply.getheader("Content-Type", kind)
        finally:
            connection.close()
    except (OSError, HTTPException) as error:
        status, body = "502 Bad Gateway", f"the upstream does not answer: {error}\n".encode()
    start_response(status, [("Content-Type", kind), ("Content-Length", str(len(body)))])
    return [body]


application = app
