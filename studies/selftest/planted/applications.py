"""Small WSGI applications, each with one property that a self-test relies on."""

import os
import random
import time
from wsgiref.types import StartResponse, WSGIEnvironment

BODY = b"done"
HEADERS = [("Content-Type", "text/plain"), ("Content-Length", str(len(BODY)))]

UNITS = int(os.environ.get("WORK", "20"))
"""Units of work a request: about 10 microseconds each."""

EVERY, LENGTH = 2.0, 0.5
"""Seconds between two stalls of `stalling`, and seconds that each lasts."""

HEALTHY = 50
"""Requests that a worker of `failing` answers before it fails."""

_answered = 0
_stalled = time.monotonic()


def _reply(start_response: StartResponse, status: str = "200 OK") -> list[bytes]:
    start_response(status, list(HEADERS))
    return [BODY]


def working(_environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
    """Compute, and nothing else."""
    for _ in range(UNITS):
        sum(range(800))
    return _reply(start_response)


def varied(_environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
    """Answer differently each time, in digits that a client may look at for long."""
    body = b"%030d" % random.getrandbits(90) + BODY
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]


def waiting(_environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
    """Wait for about 10 ms, as for an upstream."""
    time.sleep(random.uniform(0.008, 0.012))
    return _reply(start_response)


def stalling(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
    """Stand still for half a second out of two."""
    global _stalled  # noqa: PLW0603 - of the worker, of which there is one
    if time.monotonic() - _stalled >= EVERY:
        time.sleep(LENGTH)
        _stalled += EVERY
    return working(environ, start_response)


def failing(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
    """Answer for a while, then fail."""
    global _answered  # noqa: PLW0603 - of the worker
    _answered += 1
    if _answered > HEALTHY:
        return _reply(start_response, "500 Internal Server Error")
    return working(environ, start_response)
