"""
A client for bytes that no HTTP library would send: it writes, reads to the end, names what came.

The outcome is one word, or the statuses of all replies: `200`, `200 404`. The words:

closed: the server ended the connection without a byte, by an end of stream or a reset.
unfinished: it did so after the client had ended its own side, so there was nothing to wait for.
http09: bytes without a status line, to a request line without a version: HTTP/0.9's reply.
malformed: not HTTP/1 replies, by the status line, a header or the framing, or one of them cut off.
timeout: not a byte, and the connection still open.

Which of end and reset a closing server sends depends on whether it has read everything by then, so
they count as one.
"""

from __future__ import annotations

import asyncio
import re
import socket
from contextlib import suppress
from dataclasses import dataclass

from lab.bench.load.reply import MalformedReplyError, Reply

PATIENCE = 15.0
"""Seconds of silence until a client gives up; uWSGI waits 4 for a request's rest, nginx here 10."""

QUIET = 0.3
"""Seconds without a byte after which an open connection has no further reply to come."""

FAILURES = frozenset({"500", "502", "503", "504"})
"""501 and 505 are answers: such a coding, method or version is not spoken here."""

_INTERIM = re.compile(rb"(?:HTTP/1\.1 100 Continue\r\n\r\n)+")

_SIMPLE = re.compile(rb"[A-Z_-]+ +(?!HTTP/)[^ \r\n]+ *\r?\n")
"""A request line of HTTP/0.9, which has no version; behind a body it begins in midst of a line."""


_STATUS = re.compile(r" (\d{3})(?= |$)")
"""In a status line, whatever is in front of it; what the client sent comes before the status."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came back."""

    word: str
    bodies: tuple[bytes, ...] = ()
    """One for each reply."""
    said: str = ""
    """The first line received, where that is malformed."""
    status: str = ""
    """Where it is malformed: the statuses that can be read all the same."""

    def failed(self) -> bool:
        """Whether any reply says that the server failed, in a sound status line or not."""
        return not FAILURES.isdisjoint([*self.word.split(), *self.status.split()])


async def ask(
    address: tuple[str, int] | str, sent: bytes, *, replies: int = 1, stays: float = PATIENCE
) -> Outcome:
    """
    Send bytes over a connection of their own, and read until nothing more is to come.

    Args:
        address: Where the server listens: host and port, or the path of a UNIX socket.
        sent: At most what the kernel buffers, some 100 kB.
        replies: How many are waited for until silence counts as the end.
        stays: Seconds of silence after which the client ends its side of the connection; with
            `PATIENCE` it gives up instead, for a request to which a reply is owed.

    Raises:
        ConnectionError: Nobody listens.
    """
    loop = asyncio.get_running_loop()
    data, silence = b"", "closed"
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    with socket.socket(family) as connection:
        connection.setblocking(False)
        await loop.sock_connect(connection, address)
        # It may have refused what it read so far, and closed: its reply can still be read.
        with suppress(OSError):
            await loop.sock_sendall(connection, sent)
            if not stays:
                connection.shutdown(socket.SHUT_WR)
                silence, stays = "unfinished", PATIENCE
        while True:
            enough = len(_split(sent, data)[0]) >= replies
            try:
                async with asyncio.timeout(QUIET if enough else stays):
                    piece = await loop.sock_recv(connection, 65536)
            except ConnectionError:
                break
            except TimeoutError:
                if enough or stays == PATIENCE:
                    silence = "timeout"
                    break
                with suppress(OSError):  # it closed at this very moment
                    connection.shutdown(socket.SHUT_WR)
                silence, stays = "unfinished", PATIENCE
                continue
            if not piece:
                break
            data += piece
    return classify(sent, data, silence)


def classify(sent: bytes, data: bytes, silence: str = "closed") -> Outcome:
    """Name what a server answered to *sent*; *silence* is the word for no reply at all."""
    replies, rest = _split(sent, data)
    if _INTERIM.fullmatch(rest):
        rest = b""  # it asked for the rest of a request, and got none
    words = [str(reply.status) for reply in replies]
    bodies = [reply.body for reply in replies]
    simple = not rest.startswith(b"HTTP/") and b"\r\n\r\n" not in rest
    if rest and simple and _SIMPLE.search(sent):
        return Outcome(" ".join([*words, "http09"]), (*bodies, rest))
    if rest:
        line = rest.partition(b"\r\n")[0].decode("latin-1")
        status = " ".join([*words, *_STATUS.findall(line)[-1:]])
        return Outcome("malformed", said=line[:80], status=status)
    return Outcome(" ".join(words) or silence, tuple(bodies))


def _split(sent: bytes, data: bytes) -> tuple[list[Reply], bytes]:
    """Return the complete replies at the start of *data*, and what follows them."""
    replies: list[Reply] = []
    while data:
        reply, length = _first(data, head=b"HEAD " in sent)
        if not length:
            break
        replies.append(reply)
        data = data[length:]
    return replies, data


def _first(data: bytes, *, head: bool) -> tuple[Reply, int]:
    """Return the reply at the start of *data* and its length; 0 where there is none."""
    reply = Reply()
    try:
        if head:
            interim = _INTERIM.match(data)
            end = data.find(b"\r\n\r\n", interim.end() if interim else 0) + 4
            whole = reply.feed(data[:end])
            # Its length is that of the body which the reply to HEAD leaves out.
            if whole or (reply.status and data[end : end + 5] in (b"", b"HTTP/")):
                return reply, end
            reply = Reply()
        if reply.feed(data) or reply.end():
            return reply, len(data)
    except MalformedReplyError:
        pass
    # One and more, then: where it ends, only its parser knows.
    reply = Reply()
    try:
        for at in range(len(data)):
            if reply.feed(data[at : at + 1]):
                return reply, at + 1
    except MalformedReplyError:
        pass
    return reply, 0
