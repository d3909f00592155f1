"""
A bare WSGI application that waits: `GET /50` answers after 50 milliseconds.

A fault can hurt only what is under way, and an answer that takes 30 microseconds hardly ever is.
`lab stress` and the tests of faults load this one.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

LONGEST = 60_000
"""Milliseconds; a bound on what one request can ask for."""


def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Wait as many milliseconds as the path says, then answer with that number."""
    text = environ.get("PATH_INFO", "")[1:]
    milliseconds = int(text) if text.isascii() and text.isdecimal() else 0
    milliseconds = min(milliseconds, LONGEST)
    time.sleep(milliseconds / 1000)
    body = b"%d\n" % milliseconds
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return (body,)
