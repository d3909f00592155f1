"""
The same for uWSGI's async mode: WSGI, and uWSGI itself waits for the socket.

It runs under `uwsgi --async N --greenlet`, as the profile uwsgi-async-aware does. An application
that is not written so, such as the one beside it, blocks its worker there as in any other mode.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterable
from http.client import HTTPResponse
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

from loadtests.workloads.outbound import TIMEOUT, UPSTREAM, relay, reply_of, request

# uWSGI puts it there; elsewhere `import uwsgi` would find this project's folder.
uwsgi: Any = sys.modules.get("uwsgi")
if uwsgi is None:
    raise ImportError(f"{__name__} waits by means of uWSGI, and this is another server")


def app(_environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Answer what the upstream answers; with 502 where it does not."""
    return relay(_ask, start_response)


def _ask() -> HTTPResponse:
    # A name may block here for as long as it is looked up; the lab's upstream has a number.
    (family, kind, _, _, address), *_ = socket.getaddrinfo(
        UPSTREAM.hostname, UPSTREAM.port or 80, type=socket.SOCK_STREAM
    )
    with socket.socket(family, kind) as connection:
        connection.setblocking(False)
        connection.connect_ex(address)
        _wait(connection, uwsgi.wait_fd_write)
        if error := connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(error, os.strerror(error))
        connection.sendall(request())  # it fits into any socket's buffer
        received = bytearray()
        while True:
            _wait(connection, uwsgi.wait_fd_read)
            piece = connection.recv(1 << 16)
            if not piece:
                return reply_of(bytes(received))
            received += piece


def _wait(connection: socket.socket, register: Callable[[int, int], object]) -> None:
    """Let other requests go on until *connection* is ready; raises TimeoutError."""
    register(connection.fileno(), int(TIMEOUT))
    uwsgi.suspend()
    if uwsgi.ready_fd() != connection.fileno():
        raise TimeoutError("timed out")


application = app
