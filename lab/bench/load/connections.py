"""The connections of one engine: opening, closing, failing, resting, timing out."""

from __future__ import annotations

import _socket  # socket.socket may be gevent's, which blocks a greenlet
import errno
import math
import select
import struct
import sys
from collections import deque
from collections.abc import Callable
from socket import (
    AF_INET,
    AF_INET6,
    AF_UNIX,
    IPPROTO_TCP,
    SO_ERROR,
    SOCK_CLOEXEC,
    SOCK_NONBLOCK,
    SOCK_STREAM,
    SOL_SOCKET,
    TCP_INFO,
    TCP_NODELAY,
)
from time import perf_counter

from lab.bench.load.mix import Mix
from lab.bench.load.recorder import Recorder
from lab.bench.load.wires import AnyWire, EchoReply, JudgedReply

BACK_OFF = 0.010
"""Seconds that a slot rests after an error, so that a dead server gives no busy loop."""

SCAN_EVERY = 0.050
"""Seconds between two searches for requests that timed out."""

IDLE = 1.0
"""Seconds without a request from which a server may be closing a kept connection just when the next
one comes. Keep-alive times are set in whole seconds, and 1 s is the shortest (gunicorn's default is
2 s, uvicorn's, Node's and Apache's 5 s); in a closed loop no connection rests for a millisecond."""

_EPOLLRDHUP = 0x2000
_READABLE = select.POLLIN | _EPOLLRDHUP  # EPOLL* has the values of POLL*, and survives gevent so
TCP_INFO_MIN_RTT = 148
"""Where struct tcp_info has tcpi_min_rtt: microseconds, all ones before the first (linux/tcp.h)."""

GONE = _EPOLLRDHUP | select.POLLHUP | select.POLLERR
"""Events that say that the server has ended the connection, whatever it still sent before."""

FAILURES = {
    errno.ECONNREFUSED: "refused",
    errno.EADDRNOTAVAIL: "ports",
    errno.ECONNRESET: "reset",
    errno.EPIPE: "reset",
    errno.ETIMEDOUT: "timeout",
    errno.EAGAIN: "refused",
}
"""Error number of a socket -> class of the failure; see `Window.errors`. EAGAIN is what connecting
to a UNIX socket gives whose accept queue is full: nothing waits there, as over TCP."""


class ConnectionSlot:
    """One of the load's connections: at most one socket at a time, and the request on it."""

    __slots__ = (
        "before",
        "due",
        "expected",
        "fd",
        "freed",
        "recv",
        "replies",
        "reply",
        "request",
        "send",
        "socket",
        "start",
        "unsent",
    )

    recv: Callable[[int], bytes]
    send: Callable[[bytes | memoryview], int]

    def __init__(self, request: bytes, expected: bytes | None) -> None:
        self.socket: _socket.socket | None = None
        self.fd = -1
        self.request = request
        self.unsent = 0
        """Bytes at its request's end that its socket has not taken yet: all while it connects."""
        self.expected = expected
        """What its reply is, where that is known; None also until its request is sent whole."""
        self.reply: JudgedReply | EchoReply | None = None
        """A reply of which a part has arrived."""
        self.start = 0.0
        """When its request was first sent."""
        self.due = 0.0
        """Open loop: when its request was to be sent."""
        self.freed = math.inf
        """Open loop: when it had no request any more."""
        self.replies = 0
        """Correct ones in the window, on all its connections."""
        self.before = 0
        """What *replies* was when its connection was opened."""

    @property
    def carried(self) -> int:
        """Correct replies on the connection that is open; counted so, it costs a reply nothing."""
        return self.replies - self.before

    def restart(self) -> None:
        """Count the replies of another window."""
        self.before -= self.replies
        self.replies = 0


class Connections:
    """
    Slots, and the sockets that they have open, registered in one epoll.

    Args:
        address: `(numeric host, port)`, or the path of a UNIX socket.
        wire: Says what is sent on each connection as soon as it is open.
        count: Slots.
        timeout: Seconds from the start of a request until it has failed.
        recorder: Told of connections, errors and retries.
        mix: Gives a slot its next request; None where all send one and the same.
    """

    def __init__(
        self,
        address: tuple[str, int] | str,
        wire: AnyWire,
        count: int,
        timeout: float,
        recorder: Recorder,
        *,
        mix: Mix | None = None,
    ) -> None:
        self._address = address
        if isinstance(address, str):
            self._family = AF_UNIX
        else:
            self._family = AF_INET6 if ":" in address[0] else AF_INET
        self._wire = wire
        self._timeout = timeout
        self._recorder = recorder
        self._mix = mix
        self._resting: deque[tuple[float, ConnectionSlot]] = deque()
        self._next_scan = 0.0
        requests = map(wire.request, range(count))
        self.slots = [ConnectionSlot(request, wire.expected(request)) for request in requests]
        self.by_fd: dict[int, ConnectionSlot] = {}
        """The slots with a request under way."""
        self.idle: dict[int, ConnectionSlot] = {}
        """Open loop: the slots with a connection and no request."""
        self.due = 0.0
        """When `tick` is to be called next, by `time.perf_counter`."""
        self.epoll = _original_epoll()

    def open(self, slot: ConnectionSlot) -> None:
        """Connect, and send the request if the handshake is done at once, as over loopback."""
        sock = _socket.socket(self._family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)
        slot.socket = sock
        slot.fd = fd = sock.fileno()
        slot.recv = sock.recv
        slot.send = sock.send
        slot.before = slot.replies
        self.by_fd[fd] = slot
        self._recorder.connections += 1
        if self._family != AF_UNIX:
            sock.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        code = sock.connect_ex(self._address)
        if code not in (0, errno.EINPROGRESS):
            self.fail(slot, FAILURES.get(code, "connect"))
            return
        try:
            sent = sock.send(slot.request)
        except BlockingIOError:
            slot.unsent = len(slot.request)
            self.epoll.register(fd, select.POLLOUT)
        except OSError as error:
            self.fail(slot, FAILURES.get(error.errno or 0, "connect"))
        else:
            self.epoll.register(fd, _READABLE)
            if sent != len(slot.request):
                self.hold(slot, sent)

    def hold(self, slot: ConnectionSlot, sent: int) -> None:
        """Keep what is left of a request of which the socket took the first *sent* bytes."""
        slot.unsent = len(slot.request) - sent
        slot.expected = None
        self._recorder.partial += 1
        self.epoll.modify(slot.fd, _READABLE | select.POLLOUT)

    def send_rest(self, slot: ConnectionSlot, event: int) -> bool:
        """
        Send what is left of a request, the whole one if its handshake came to an end, or fail.

        Returns:
            Whether there is something to read as well: an echo may begin before it was all sent.
        """
        assert slot.socket is not None
        if event & ~_READABLE:
            code = slot.socket.getsockopt(SOL_SOCKET, SO_ERROR)
            if code:
                self.fail(slot, FAILURES.get(code, "connect"))
                return False
            whole = len(slot.request)
            try:
                sent = slot.send(memoryview(slot.request)[whole - slot.unsent :])
            except BlockingIOError:
                sent = 0
            except OSError as error:
                self.fail(slot, FAILURES.get(error.errno or 0, "reset"))
                return False
            if sent == slot.unsent:
                self.epoll.modify(slot.fd, _READABLE)
                self._sent(slot)
            elif slot.unsent == whole:
                self.hold(slot, sent)
            else:
                slot.unsent -= sent
        return bool(event & _READABLE)

    def _sent(self, slot: ConnectionSlot) -> None:
        slot.unsent = 0
        slot.expected = self._wire.expected(slot.request)

    def close(self, slot: ConnectionSlot) -> None:
        """Close the slot's socket, which takes it out of the epoll as well."""
        assert slot.socket is not None
        del self.by_fd[slot.fd]
        slot.socket.close()
        slot.socket = None
        slot.reply = None
        if slot.unsent:
            self._sent(slot)

    def keep(self, slot: ConnectionSlot) -> None:
        """Leave the slot's connection open without a request."""
        self.idle[slot.fd] = self.by_fd.pop(slot.fd)

    def send(self, slot: ConnectionSlot) -> None:
        """Send a request on the slot's kept connection if it has one, else on a new one."""
        if slot.socket is None:
            self.open(slot)
            return
        self.by_fd[slot.fd] = self.idle.pop(slot.fd)
        try:
            sent = slot.send(slot.request)
        except OSError:
            self.send_again(slot)
        else:
            if sent != len(slot.request):
                self.hold(slot, sent)

    def drop(self, slot: ConnectionSlot) -> None:
        """Close a kept connection on which no request is under way."""
        self.by_fd[slot.fd] = self.idle.pop(slot.fd)
        self.close(slot)

    def close_all(self) -> None:
        """Close every socket and end every rest."""
        self._resting.clear()
        for slot in tuple(self.idle.values()):
            self.drop(slot)
        for slot in tuple(self.by_fd.values()):
            self.close(slot)

    def least_rtt(self) -> float | None:
        """Return the seconds of the shortest round trip that any open connection has seen."""
        if self._family == AF_UNIX:
            return None
        slots = (*self.by_fd.values(), *self.idle.values())
        round_trips = (_min_rtt(slot.socket) for slot in slots if slot.socket is not None)
        return min(
            (round_trip for round_trip in round_trips if round_trip is not None), default=None
        )

    def lose(self, slot: ConnectionSlot, error: OSError | None) -> None:
        """
        Deal with a connection that ended under a request, *error* being None for an orderly end.

        RFC 9112 (9.3.1) lets a client send a GET again when a kept connection ends, and each does;
        so a server that drops every 300th request has clients that see nothing but a delay. Here
        it is sent again, its time running on, only where the server need not have had it:

        - The server had ended the connection in order before the request came. Then its kernel
          answers the request with a reset, and the client's notes that as EPIPE; where the request
          came first it is ECONNRESET, and after a request that was read nothing follows the end.
        - The connection had carried one reply and no more: as a server does that keeps none and
          does not say so (uWSGI's http and http-socket).
        - It was reset after `IDLE` without a request: the end of its keep-alive time may have met
          the request on its way.

        All else is an error, and so is any end of a connection without a reply.
        """
        if slot.reply is None and slot.carried and self._unseen(slot, error):
            self.send_again(slot)
        elif error is not None:
            self.fail(slot, FAILURES.get(error.errno or 0, "reset"))
        elif slot.reply is None:
            self.fail(slot, "closed")
        else:
            self.fail(slot, "truncated", slot.reply.seen)

    def _unseen(self, slot: ConnectionSlot, error: OSError | None) -> bool:
        """Return whether the server need not have had the request; see `lose`."""
        assert slot.socket is not None
        if slot.carried == 1:
            return True
        if error is None:
            return slot.socket.getsockopt(SOL_SOCKET, SO_ERROR) == errno.EPIPE
        return error.errno == errno.EPIPE or slot.start - slot.freed >= IDLE

    def send_again(self, slot: ConnectionSlot) -> None:
        """Send the request of a kept connection that has ended on a new one, and count it."""
        self._recorder.retried += 1
        self.close(slot)
        self.open(slot)

    def fail(self, slot: ConnectionSlot, failure: str, seen: str = "") -> None:
        """Count an error, see `Recorder.fail`, close, and let the slot rest."""
        self._recorder.fail(failure, seen, slot.request)
        self.close(slot)
        if self._mix is not None:
            self._mix.give(slot)
        due = perf_counter() + BACK_OFF
        self._resting.append((due, slot))
        self.due = min(self.due, due)

    def tick(self, now: float) -> list[ConnectionSlot]:
        """Fail requests that timed out, and return the slots that have rested."""
        if now >= self._next_scan:
            late = now - self._timeout
            for slot in [slot for slot in self.by_fd.values() if slot.start < late]:
                self.fail(slot, "timeout")
            self._next_scan = now + SCAN_EVERY
        resting = self._resting
        rested = []
        while resting and resting[0][0] <= now:
            rested.append(resting.popleft()[1])
        self.due = min(self._next_scan, resting[0][0]) if resting else self._next_scan
        return rested


def _min_rtt(connection: _socket.socket) -> float | None:
    info = connection.getsockopt(IPPROTO_TCP, TCP_INFO, TCP_INFO_MIN_RTT + 4)
    if len(info) < TCP_INFO_MIN_RTT + 4:  # a kernel before 4.9
        return None
    (microseconds,) = struct.unpack_from("=I", info, TCP_INFO_MIN_RTT)
    return None if microseconds in (0, 0xFFFFFFFF) else microseconds / 1e6


def _original_epoll() -> select.epoll:
    """Return a new epoll even after gevent's monkey-patching, which takes it out of `select`."""
    monkey = sys.modules.get("gevent.monkey")
    if monkey is None:
        return select.epoll()
    epoll: select.epoll = monkey.get_original("select", "epoll")()
    return epoll
