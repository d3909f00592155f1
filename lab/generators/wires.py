"""
The wires: what the engine sends on a connection, and how it tells the right reply.

To add one, write what stands for it here, and its words in `lab.model.Wire`. Whatever it is, the
engine compares first: with the last right reply of any connection (`Engine._good`), and with what
`expected` says. Only what equals neither is given to the reply, byte by byte if need be.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from lab.errors import UsageError
from lab.generators.judge import Judge
from lab.generators.reply import LongBodyError, MalformedReplyError, Reply
from lab.generators.request import build_request
from lab.model import Expectation, Transport, Wire, Workload
from lab.model.echo import difference, message
from lab.model.uwsgi import passed_on
from lab.model.wording import MOST_SHOWN, shown

RECEIVE = 65536
"""Bytes taken from a socket at once, unless a message has more."""

MOST_CONNECTIONS = 10_000
"""Of one process, so that the numbers of their echoes begin with its process id."""


class WrongReplyError(ValueError):
    """A reply is wrong; its text says what came."""

    def __init__(self, failure: str, seen: str) -> None:
        """Note the class of the failure, see `lab.model.Window.errors`, and what was seen."""
        super().__init__(seen)
        self.failure = failure


class JudgedReply(Reply):
    """A reply of HTTP, and the judge of what it says."""

    __slots__ = ("_judge",)

    def __init__(self, judge: Judge) -> None:
        super().__init__(judge.limit)
        self._judge = judge

    def take(self, data: bytes) -> bool:
        """
        Take in *data*, empty at the stream's end, and return whether the reply is whole and right.

        Raises:
            WrongReplyError: It is not right, or can no longer become so.
        """
        try:
            complete = self.feed(data) if data else self.end()
        except MalformedReplyError as error:
            raise WrongReplyError("malformed", str(error)) from error
        except LongBodyError as error:
            raise WrongReplyError(self._judge.fault_of_long(self.status), self.seen) from error
        fault = self._judge.fault(self.status, self.body) if complete else None
        if fault is not None:
            raise WrongReplyError(fault, self.seen)
        return complete

    @property
    def seen(self) -> str:
        """Its status, and how its body begins, as far as they have come; for people."""
        body = self.body or b"".join((*self._parts[:MOST_SHOWN], self._buffer[self._at :]))
        return f"{self.status} {shown(body)}" if self.status else shown(body)


class HttpWire:
    """HTTP/1.1: one request for all connections, whose replies are parsed and judged."""

    receive = RECEIVE
    keepalive = True
    """Whether a connection can carry a second request."""

    def __init__(self, request: bytes, expect: Expectation) -> None:
        """Send *request* as it is, and *expect* this of its replies; see `Judge`."""
        self._request = request
        self._judge = Judge(expect)
        self.length = len(request)
        """Bytes of every request."""

    def request(self, _number: int) -> bytes:
        """Return what connection *number* sends."""
        return self._request

    def expected(self, _request: bytes) -> bytes | None:
        """Return the whole reply to *request*, where it is known to the byte."""
        return None

    def reply(self, _request: bytes) -> JudgedReply:
        """Return what takes in the reply to *request*."""
        return JudgedReply(self._judge)


class UwsgiWire(HttpWire):
    """The same requests as nginx's `uwsgi_pass` sends them; a reply ends its connection."""

    keepalive = False

    def __init__(self, request: bytes, expect: Expectation) -> None:
        """See `HttpWire`; raises ValueError where the protocol does not take *request*."""
        super().__init__(passed_on(request), expect)


class EchoReply:
    """What comes back of a message, compared as it comes."""

    __slots__ = ("_sent", "_taken")

    reusable = self_delimited = True

    def __init__(self, sent: bytes) -> None:
        self._sent = sent
        self._taken = 0

    def take(self, data: bytes) -> bool:
        """See `JudgedReply.take`; no more bytes are right than were sent."""
        if not self._sent.startswith(data, self._taken):
            rest = self._sent[self._taken :]
            failure = "malformed" if data.startswith(rest) else "body"
            back = self._sent[: self._taken] + data
            raise WrongReplyError(failure, difference(self._sent, back))
        self._taken += len(data)
        return self._taken == len(self._sent)

    @property
    def seen(self) -> str:
        """How much has come; for people."""
        return difference(self._sent, self._sent[: self._taken])


class EchoWire:
    """As many bytes back as were sent, and the same: vmbench's protocol, without any framing."""

    keepalive = True

    def __init__(self, size: int, lines: int = 1) -> None:
        """Send *lines* of *size* bytes at once."""
        self._size, self._lines = size, lines
        self.length = size * lines
        # In one piece it costs half; and one byte more than was sent is not to be overlooked.
        self.receive = max(RECEIVE, self.length + 1)

    def request(self, number: int) -> bytes:
        """See `HttpWire.request`; no two connections of a machine send the same."""
        return message(os.getpid() * MOST_CONNECTIONS + number, self._size, self._lines)

    def expected(self, request: bytes) -> bytes | None:
        """See `HttpWire.expected`."""
        return request

    def reply(self, request: bytes) -> EchoReply:
        """See `HttpWire.reply`."""
        return EchoReply(request)


AnyWire = HttpWire | EchoWire


def wire_of(workload: Workload, authority: str, *, keepalive: bool) -> AnyWire:
    """
    Return the wire of *workload*.

    Args:
        workload: What is asked.
        authority: Value of the Host header.
        keepalive: HTTP: without it each request asks the server to close the connection.

    Raises:
        UsageError: The workload's path cannot be sent as it is.
    """
    if workload.wire is Wire.ECHO:
        return EchoWire(workload.size, workload.lines)
    kind = UwsgiWire if workload.wire is Wire.UWSGI else HttpWire
    try:
        # A proxy's clients keep their connections, and it tells the server nothing of that.
        kept = keepalive or not kind.keepalive
        return kind(build_request(workload.path, authority, keepalive=kept), workload.expect)
    except ValueError as error:
        raise UsageError(f"workload {workload.name}: {error}") from error


def check_clients(clients: Iterable[str], workload: Workload) -> None:
    """
    Refuse a client that cannot ask for *workload*, before anything starts.

    Args:
        clients: "engine", which can; any other speaks HTTP over TCP.
        workload: What is to be asked.

    Raises:
        UsageError: One of them cannot.
    """
    plain = workload.wire is Wire.HTTP and workload.transport is Transport.TCP
    for client in clients:
        if client != "engine" and not plain:
            spoken = f"{workload.wire} over {workload.transport}"
            asked = f"{workload.name} is {spoken}, for the lab's engine"
            raise UsageError(f"{client} speaks http over tcp; {asked}")
