"""
A WSGI application that sends a body of the size that the path names: /1024 is 1 KiB.

A body is made once and kept, so that what is measured is how it is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from wsgiref.types import StartResponse, WSGIEnvironment

LARGEST = 1 << 20
"""Bytes of a body at most; with what is kept of them it bounds the memory that clients can ask
for."""


@lru_cache(maxsize=16)
def body_of(size: int) -> bytes:
    """Return *size* bytes."""
    return b"x" * size


def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Answer as many bytes as the path says; 404 where it is no size from 1 to `LARGEST`."""
    path = environ.get("PATH_INFO", "")
    status, body = "404 Not Found", b"ask for a size in bytes, as in /1024\n"
    # ASCII digits alone: int() takes those of every script.
    if re.fullmatch(r"/[1-9][0-9]{0,6}", path) and int(path[1:]) <= LARGEST:
        status, body = "200 OK", body_of(int(path[1:]))
    headers = [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))]
    start_response(status, headers)
    return [body]


application = app
