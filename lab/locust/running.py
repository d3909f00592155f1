"""A server that already runs, named by `--host`: where it answers, and what a correct reply is."""

from __future__ import annotations

import socket
from http.client import HTTPException
from urllib.parse import urlsplit

from lab.errors import UsageError
from lab.model import Endpoint, Expectation, Workload
from lab.options import Asked
from lab.servers.fetch import LongReplyError, SlowReplyError, fetch
from lab.servers.readiness import satisfies

PATH = "/9000"
"""What is asked for where nothing else is said."""


def running_server(host: str, asked: Asked) -> tuple[Endpoint, Workload]:
    """
    Return where *host* answers, and what is asked of it: its first reply, or a pattern in each.

    Args:
        host: As `--host` takes it.
        asked: Path, status and pattern.

    Raises:
        UsageError: Nothing answers there, or not with the status, or it does not come to an end.
    """
    path = asked.path or PATH
    try:
        parts = urlsplit(host if "//" in host else f"//{host}")
        if parts.scheme not in ("", "http") or not parts.hostname:
            raise UsageError(f"--host {host}: expected http://ADDRESS:PORT")
        port = parts.port or 80
        # A name may be one of several that share the address: it is what the server is to hear.
        name = parts.netloc.rpartition("@")[2]
        endpoint = Endpoint(_resolve(parts.hostname, port), port, name)
        found, _, body = fetch(endpoint, path, 10.0)
    except (LongReplyError, SlowReplyError) as error:
        raise UsageError(f"--host {host}: {error}") from error
    except (OSError, ValueError, HTTPException) as error:
        raise UsageError(f"--host {host}: nothing answers there: {error}") from error
    body_or_pattern = {"body": body} if asked.check is None else {"pattern": asked.check}
    expect = Expectation(status=asked.status or 200, **body_or_pattern)
    if not satisfies(expect, found, body):
        seen = body[:80].decode("utf-8", "replace")
        raise UsageError(f"--host {host}: {path} answers {found} {seen!r}, which is not correct")
    return endpoint, Workload("running server", path, expect)


def _resolve(hostname: str, port: int) -> str:
    """Return the first of the host's addresses on which something listens."""
    with socket.create_connection((hostname, port), 10.0) as connection:
        return str(connection.getpeername()[0])
