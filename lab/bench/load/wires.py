"""
The wires: what the engine sends on a connection, and how it tells the right reply.

To add one, write what stands for it here, and its word and manner in `lab.model.workload`.
Whatever it is, the engine compares first: with the last right reply of any connection
(`Engine._good`), and with what `expected` says. Only what equals neither is given to the reply,
byte by byte if need be.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from lab.bench.load.judge import Judge
from lab.bench.load.mix import order
from lab.bench.load.reply import LongBodyError, MalformedReplyError, Reply
from lab.errors import UsageError
from lab.model.echo import difference, message
from lab.model.request import Expectation, Request, labels
from lab.model.wording import MOST_SHOWN, shown
from lab.model.workload import Transport, Wire, Workload

RECEIVE = 65536
"""Bytes taken from a socket at once, unless a message has more."""

MOST_CONNECTIONS = 10_000
"""Of one process, so that the numbers of their echoes begin with its process id."""


class WrongReplyError(ValueError):
    """A reply is wrong; its text says what came."""

    def __init__(self, failure: str, seen: str) -> None:
        """Note the class of the failure, see `Window.errors`, and what was seen."""
        super().__init__(seen)
        self.failure = failure


class JudgedReply(Reply):
    """A reply of HTTP, and the judge of what it says."""

    __slots__ = ("_judge",)

    def __init__(self, judge: Judge) -> None:
        super().__init__(judge.limit, bodiless=judge.bodiless)
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
    names: Mapping[bytes, str] = {}
    """What several requests are called, by their bytes; empty where there is one."""

    def __init__(
        self,
        request: bytes,
        expect: Expectation,
        *,
        bodiless: bool = False,
        keepalive: bool = True,
    ) -> None:
        """
        Send *request* as it is, and *expect* this of its replies; see `Judge`.

        Without *keepalive* no connection can carry a second request, whatever a reply says.
        """
        self.keepalive = keepalive
        self._request = request
        self._judges = {request: Judge(expect, bodiless=bodiless)}
        self.length = len(request)
        """Bytes of every request; of several, of whichever comes first."""

    def request(self, _number: int) -> bytes:
        """Return what connection *number* sends first."""
        return self._request

    def sequence(self, _start: int) -> Sequence[bytes]:
        """Return several requests in the order in which they are made, from that of *start* on."""
        return ()

    def expected(self, _request: bytes) -> bytes | None:
        """Return the whole reply to *request*, where it is known to the byte."""
        return None

    def reply(self, request: bytes) -> JudgedReply:
        """Return what takes in the reply to *request*."""
        return JudgedReply(self._judges[request])


class MixWire(HttpWire):
    """HTTP/1.1: several requests by weight, in an order that every trial has."""

    def __init__(self, asks: Mapping[bytes, Request], seed: int, *, keepalive: bool) -> None:
        """Send each of *asks*, by its bytes, in the order that *seed* draws: see `order`."""
        self._sent = tuple(asks)
        self._order = order([ask.weight for ask in asks.values()], seed)
        first = self.request(0)
        super().__init__(first, asks[first].expect, keepalive=keepalive)
        self._judges = {
            sent: Judge(request.expect, bodiless=request.bodiless) for sent, request in asks.items()
        }
        self.names = dict(zip(asks, labels(asks.values()), strict=True))

    def request(self, number: int) -> bytes:
        """See `HttpWire.request`."""
        return self._sent[self._order[number % len(self._order)]]

    def sequence(self, start: int) -> Sequence[bytes]:
        """See `HttpWire.sequence`."""
        return [self.request(start + number) for number in range(len(self._order))]


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
    names: Mapping[bytes, str] = {}

    def __init__(self, size: int, lines: int = 1) -> None:
        """Send *lines* of *size* bytes at once."""
        self._size, self._lines = size, lines
        self.length = size * lines
        # In one piece it costs half; and one byte more than was sent is not to be overlooked.
        self.receive = max(RECEIVE, self.length + 1)

    def request(self, number: int) -> bytes:
        """See `HttpWire.request`; no two connections of a machine send the same."""
        return message(os.getpid() * MOST_CONNECTIONS + number, self._size, self._lines)

    def sequence(self, _start: int) -> Sequence[bytes]:
        """See `HttpWire.sequence`."""
        return ()

    def expected(self, request: bytes) -> bytes | None:
        """See `HttpWire.expected`."""
        return request

    def reply(self, request: bytes) -> EchoReply:
        """See `HttpWire.reply`."""
        return EchoReply(request)


AnyWire = HttpWire | EchoWire


def wire_of(workload: Workload, *, keepalive: bool) -> AnyWire:
    """
    Return the wire of *workload*.

    Args:
        workload: What is asked.
        keepalive: HTTP: without it each request asks the server to close the connection.

    Raises:
        UsageError: One of the workload's requests cannot be sent as it is.
    """
    manner = workload.wire.manner
    if not manner.http:
        return EchoWire(workload.size, workload.lines)
    try:
        # A proxy's clients keep their connections, and it tells the server nothing of that.
        offered = keepalive or manner.proxied
        asks = {
            manner.encode(ask.encode(workload.host, keepalive=offered)): ask
            for ask in workload.asks
        }
    except ValueError as error:
        raise UsageError(f"workload {workload.name}: {error}") from error
    if len(asks) > 1:
        return MixWire(asks, workload.seed, keepalive=manner.keeps)
    ((sent, only),) = asks.items()
    return HttpWire(sent, only.expect, bodiless=only.bodiless, keepalive=manner.keeps)


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
        if client == "engine":
            continue
        if not plain:
            spoken = f"{workload.wire} over {workload.transport}"
            reason = f"{workload.name} is {spoken}, for the lab's engine"
            raise UsageError(f"{client} speaks http over tcp; {reason}")
        if workload.requests:
            reason = "methods, headers, bodies and several requests are for the lab's engine"
            raise UsageError(f"{client} makes one GET; {reason}")
