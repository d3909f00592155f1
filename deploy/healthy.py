"""
Ask the service in this container whether it is well: exit status 0, or 1 with the reason.

    python deploy/healthy.py            /healthz of 127.0.0.1:PORT
    python deploy/healthy.py /readyz
    SOCKET=/run/fibonacci/a.sock python deploy/healthy.py
    SOCKET=/run/fibonacci/a.sock python deploy/healthy.py master

With SOCKET it speaks uwsgi's protocol to that UNIX socket, as nginx does; "master" asks for the
statistics beside it, which need no worker. The image's health check and the probes of
deploy/kubernetes.yaml run it every few seconds, so it imports next to nothing.

Source: https://uwsgi-docs.readthedocs.io/en/latest/Protocol.html
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping

TIMEOUT = 1.0
"""Seconds to connect, and to answer. Who runs this should allow it one more."""


def status_line(path: str, environ: Mapping[str, str]) -> str:
    """
    Return the first line of the service's reply to `GET path`; empty if it closes without one.

    Args:
        path: Begins with a slash; or "master".
        environ: SOCKET names a UNIX socket, else PORT a port of 127.0.0.1 (8080).

    Raises:
        OSError: Nothing accepts or answers there in time.
    """
    unix, packet = environ.get("SOCKET"), _http(path)
    if unix and path == "master":
        unix, packet = f"{unix}.stats", _http("/")
    elif unix:
        packet = _uwsgi(path)
    family = socket.AF_UNIX if unix else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(TIMEOUT)
        connection.connect(unix or ("127.0.0.1", int(environ.get("PORT", "8080"))))
        connection.sendall(packet)
        return connection.makefile("rb").readline(200).decode("latin-1").strip()


def _http(path: str) -> bytes:
    return f"GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode()


def _uwsgi(path: str) -> bytes:
    """Return a packet of variables: each name and value is preceded by its length."""
    variables = {
        "REQUEST_METHOD": "GET",
        "REQUEST_URI": path,
        "PATH_INFO": path,
        "QUERY_STRING": "",
        "SERVER_PROTOCOL": "HTTP/1.0",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
    }
    body = b"".join(
        len(text).to_bytes(2, "little") + text.encode()
        for pair in variables.items()
        for text in pair
    )
    return b"\0" + len(body).to_bytes(2, "little") + b"\0" + body


if __name__ == "__main__":
    try:
        line = status_line((sys.argv[1:] or ["/healthz"])[0], os.environ)
    except OSError as error:
        sys.exit(f"no answer: {error}")
    if line.split(" ")[1:2] != ["200"]:
        sys.exit(f"expected status 200, got {line!r}")
