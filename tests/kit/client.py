"""A client for the tests: one request a connection, the reply whole. It shares no code with lab."""

import http.client
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes


def reply_of(status: int, pairs: Iterable[tuple[str, str]], body: bytes) -> Reply:
    """Return a reply whose headers are *pairs*; no header may be there twice."""
    pairs = list(pairs)
    headers = {key.lower(): value for key, value in pairs}
    assert len(headers) == len(pairs), pairs
    if "allow" in headers:  # a set, whose order differs from process to process
        headers["allow"] = ", ".join(sorted(headers["allow"].split(", ")))
    return Reply(status, headers, body)


def served(port: int, path: str = "/", headers: Mapping[str, str] | None = None) -> Reply | None:
    """Ask a server of this machine; None while it does not answer with 200."""
    try:
        reply = ask(("127.0.0.1", port), path=path, headers=headers)
    except (OSError, http.client.HTTPException):
        return None
    return reply if reply.status == 200 else None


def ask(
    address: tuple[str, int] | Path,
    method: str = "GET",
    path: str = "/",
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    *,
    timeout: float = 20.0,
) -> Reply:
    """
    Ask once, and return the reply.

    Args:
        address: Host and port, or the path of a UNIX socket.
        method: Sent as it is given, and so are the others; only the length of *body* is added.
        path: The target.
        headers: By name.
        body: What is sent after them.
        timeout: Seconds for each read.

    Raises:
        OSError: Nobody listens, or the time is over.
        http.client.HTTPException: What came is no reply.
    """
    unix = isinstance(address, Path)
    connection = http.client.HTTPConnection(*(("x",) if unix else address), timeout=timeout)
    try:
        if unix:
            connection.sock = socket.socket(socket.AF_UNIX)
            connection.sock.settimeout(timeout)
            connection.sock.connect(str(address))
        # Not request(), which adds headers of its own.
        connection.putrequest(method, path, skip_accept_encoding=True)
        for key, value in (headers or {}).items():
            connection.putheader(key, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        reply = connection.getresponse()
        return reply_of(reply.status, reply.getheaders(), reply.read())
    finally:
        connection.close()


def accepts(path: Path) -> bool:
    """Return whether a server takes connections at a UNIX socket, not only binds it."""
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(path)) == 0
