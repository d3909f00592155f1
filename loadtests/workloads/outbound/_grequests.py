"""
The same by grequests: what was to let a server that blocks wait for others without waiting.

grequests asks several addresses at once. Here is one address, and the handler waits for it as
before. Importing grequests patches the standard library of the whole process for gevent.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

import grequests

UPSTREAM_URL = os.environ["UPSTREAM_URL"]

TIMEOUT = 10.0
"""Seconds for connecting, and for each read."""


def app(_environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Answer what the upstream answers; with 502 where it does not."""
    request = grequests.get(UPSTREAM_URL, timeout=TIMEOUT, headers={"Connection": "close"})
    (reply,) = grequests.map([request])
    kind, status, body = "text/plain", "502 Bad Gateway", b"the upstream does not answer\n"
    if reply is not None:
        kind = reply.headers.get("Content-Type", kind)
        status, body = f"{reply.status_code} {reply.reason}", reply.content
    start_response(status, [("Content-Type", kind), ("Content-Length", str(len(body)))])
    return [body]


application = app
