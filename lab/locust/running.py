"""A server that already runs, named by `--host`: where it answers, and what a correct reply is."""

from __future__ import annotations

import socket
from dataclasses import replace
from http.client import HTTPException
from urllib.parse import urlsplit

from lab.bench.servers.fetch import LongReplyError, SlowReplyError, fetch
from lab.bench.servers.readiness import describe, satisfies
from lab.bench.trials.replies import REPLIES, settled
from lab.cli.options.execution import of_running_server
from lab.cli.options.table import Job
from lab.errors import UsageError
from lab.model.protocols import Endpoint
from lab.model.request import HOST, Request
from lab.model.workload import Workload

PATH = "/9000"
"""What is asked for where nothing else is said."""


def running_server(host: str, job: Job) -> tuple[Endpoint, Workload]:
    """
    Return where *host* answers, and what is asked of it: its first replies, or a pattern in each.

    Args:
        host: As `--host` takes it.
        job: What is asked.

    Raises:
        UsageError: Nothing answers there, or not with the status, or it does not come to an end.
    """
    workload = of_running_server(job, PATH)
    try:
        parts = urlsplit(host if "//" in host else f"//{host}")
        if parts.scheme not in ("", "http") or not parts.hostname:
            raise UsageError(f"--host {host}: expected http://ADDRESS:PORT")
        port = parts.port or 80
        # A name may be one of several that share the address: it is what the server is to hear.
        name = parts.netloc.rpartition("@")[2] if workload.host == HOST else workload.host
        endpoint = Endpoint(_resolve(parts.hostname, port), port)
        bodies = {ask: _replies(host, endpoint, ask, name) for ask in workload.asks}
    except (LongReplyError, SlowReplyError) as error:
        raise UsageError(f"--host {host}: {error}") from error
    except (OSError, ValueError, HTTPException) as error:
        raise UsageError(f"--host {host}: nothing answers there: {error}") from error
    return endpoint, settled(replace(workload, host=name), bodies)


def _replies(given: str, endpoint: Endpoint, request: Request, host: str) -> list[bytes]:
    """Return the bodies of a few replies; raises UsageError where one is not right."""
    bodies = []
    for _ in range(REPLIES):
        status, _, body = fetch(endpoint, request, 10.0, host=host)
        if not satisfies(request.expect, status, body):
            problem = f"it answers {describe(request, host, status, body)}"
            raise UsageError(f"--host {given}: {problem}")
        bodies.append(body)
    return bodies


def _resolve(hostname: str, port: int) -> str:
    """Return the first of the host's addresses on which something listens."""
    with socket.create_connection((hostname, port), 10.0) as connection:
        return str(connection.getpeername()[0])
