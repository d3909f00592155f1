"""
One exchange with a server: a request and its reply, or a message and its echo.

A reply may neither drip for ever nor fill the memory.
`http.client` has a timeout for each read and none for the reply, so a byte each 400 ms holds it for
as long as the server likes; and it reads a body without a length until there is no memory left. So
every read of the socket is counted here, and waits for what is left of the whole reply's time.
"""

from __future__ import annotations

import io
import select
import socket
import time
from collections.abc import Iterator, Mapping
from http.client import HTTPException, HTTPResponse

from lab.model.protocols import Endpoint
from lab.model.request import HOST, LONGEST_BODY, Request

MAX_HEADS = 1 << 20
"""Bytes of heads, interim ones included: http.client takes a hundred lines of 64 KB for each."""

PIECE = 1 << 16
"""Bytes of a body that are read at once."""

Reply = tuple[int, Mapping[str, str], bytes]


class SlowReplyError(TimeoutError):
    """A reply was begun and not finished in time."""


class LongReplyError(HTTPException):
    """A reply is longer than any that can be meant."""


def fetch(
    endpoint: Endpoint,
    request: Request | str,
    timeout: float,
    whole: float | None = None,
    host: str = HOST,
) -> Reply:
    """
    Return status, headers (names in lower case) and body of the reply to one request.

    Args:
        endpoint: Where.
        request: What is sent; a text stands for a GET of that target.
        timeout: Seconds for connecting, and for each read.
        whole: Seconds for the whole reply, from connecting on; as *timeout* if None.
        host: Value of the Host header.

    Raises:
        SlowReplyError: A part of the reply was there when the time was over.
        LongReplyError: Its body has more than `LONGEST_BODY`, or will have by its own account.
        OSError: It could not be reached, or went silent.
        http.client.HTTPException: What it sent is not a whole reply.
    """
    request = Request(request) if isinstance(request, str) else request
    # Not asked to close: the reply may repeat what was sent, and is held against a load's.
    sent = endpoint.wire.manner.encode(request.encode(host))
    began = time.monotonic()
    with connected(endpoint, timeout) as sock:
        sock.sendall(sent)
        watched = _Watched(sock, timeout, began, timeout if whole is None else whole)
        reply = watched.response(request.method)
        if (reply.length or 0) > LONGEST_BODY:  # before a buffer of that size is made for it
            raise LongReplyError(
                f"the server announces a reply of {reply.length:,} bytes; what has more than "
                f"{LONGEST_BODY >> 20} MiB is not read"
            )
        received = {name.lower(): value for name, value in reply.getheaders()}
        watched.limit = watched.received + LONGEST_BODY
        return reply.status, received, b"".join(_pieces(reply))


def exchange(endpoint: Endpoint, message: bytes, timeout: float, whole: float) -> bytes:
    """
    Send *message* on a connection of its own, and return what came back: about as many bytes.

    They may come back before all are sent. Fewer have come where the server closed.

    Args:
        endpoint: Where.
        message: What is sent.
        timeout: Seconds for connecting, and without a byte either way.
        whole: Seconds for all of it.

    Raises:
        SlowReplyError: Some had come back when the time was over.
        OSError: It could not be reached, or sent nothing back.
    """
    began = time.monotonic()
    rest, back = memoryview(message), bytearray()
    with connected(endpoint, timeout) as sock:
        sock.setblocking(False)
        while len(back) < len(message):
            left = min(timeout, began + whole - time.monotonic())
            readable, writable, _ = select.select([sock], [sock] if rest else (), (), max(0, left))
            if not readable and not writable:
                if not back:
                    raise TimeoutError("timed out")
                raise SlowReplyError(
                    f"the server had sent {len(back):,} of {len(message):,} bytes back after "
                    f"{time.monotonic() - began:.0f} s"
                )
            if writable:
                rest = rest[sock.send(rest) :]
            if readable:
                piece = sock.recv(PIECE)
                if not piece:
                    break
                back += piece
    return bytes(back)


def connected(endpoint: Endpoint, timeout: float) -> socket.socket:
    """Return a connection to *endpoint*, made within *timeout* seconds, which bounds its reads."""
    if not endpoint.socket:
        return socket.create_connection((endpoint.host, endpoint.port), timeout)
    sock = socket.socket(socket.AF_UNIX)
    try:
        sock.settimeout(timeout)
        sock.connect(endpoint.socket)
    except BaseException:
        sock.close()
        raise
    return sock


def _pieces(reply: HTTPResponse) -> Iterator[bytes]:
    """Yield a body piece by piece: whole, a chunk would get a buffer of the size that it claims."""
    try:
        while piece := reply.read(PIECE):
            yield piece
    except ValueError as error:  # of http.client itself, to a chunk of -5 bytes
        raise HTTPException(f"the reply's framing is no HTTP: {error}") from error


class _Watched(io.RawIOBase):
    """What a socket receives, counted, and only as long as there is time."""

    def __init__(self, sock: socket.socket, silence: float, began: float, whole: float) -> None:
        self._sock = sock
        self._silence = silence
        self._began = began
        self._deadline = began + whole
        self.received = 0
        self.limit = MAX_HEADS
        """Bytes."""

    def response(self, method: str) -> HTTPResponse:
        """Return the response to *method*, its head read, whose rest is read through this."""
        made = HTTPResponse(self._sock, method=method)
        made.fp.close()
        made.fp = io.BufferedReader(self)
        made.begin()
        return made

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        left = self._deadline - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError("timed out")  # noqa: TRY301 - as the socket itself would
            self._sock.settimeout(min(self._silence, left))
            count = self._sock.recv_into(buffer)
        except TimeoutError as error:
            if not self.received:
                raise
            raise SlowReplyError(
                "the server began a reply and had not finished it after "
                f"{time.monotonic() - self._began:.0f} s, {self.received:,} bytes so far"
            ) from error
        self.received += count
        if self.received > self.limit:
            raise LongReplyError(f"the server sends a reply of more than {self.limit >> 20} MiB")
        return count
