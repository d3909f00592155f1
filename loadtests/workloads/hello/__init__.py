"""
The smallest WSGI application: the same five bytes for every request.

It is the ceiling of a server in Python: what is measured with it is the server alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

BODY = b"Pong!"


def app(_environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Answer `Pong!`, whatever was asked."""
    # A new list each time: a server may change the headers that it is given.
    headers = [("Content-Type", "text/plain"), ("Content-Length", str(len(BODY)))]
    start_response("200 OK", headers)
    return [BODY]


application = app
