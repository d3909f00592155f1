"""
The load engine: every connection of a process driven by one epoll, in pure Python.

A server that answers in 100 µs of CPU is faster than most clients written in Python, and then every
comparison says the same: how fast the client is. This one costs about as much as `wrk` (see
`studies/engine_cost.py`) and still checks the status and the whole body of every reply. Three
decisions make it cheap:

- a reply that equals, byte for byte, the last one found correct is correct: no parsing; nor of an
  echo, which is known beforehand (`lab.bench.load.wires`);
- a request is sent right after `connect`, since over loopback the handshake is already done; only
  where it is not does the connection wait in epoll;
- timeouts are looked for 20 times a second, not kept in a heap.

It knows neither Locust nor gevent: whoever owns the loop calls `step`, and may wait on `fileno`.
"""

from __future__ import annotations

import select
from time import perf_counter

from lab.bench.load.connections import GONE, Connections, ConnectionSlot
from lab.bench.load.descriptors import allow_descriptors
from lab.bench.load.histogram import PRECISION_BITS
from lab.bench.load.mix import Mix
from lab.bench.load.recorder import Recorder
from lab.bench.load.wires import AnyWire, WrongReplyError
from lab.model.measurement import Window
from lab.model.plan import Load
from lab.model.request import AT_ONCE

LATE_SEND = 0.005
"""Open loop: seconds after its planned instant from which a send counts as late. A generator that
loses its CPU for one time slice (about 3 ms) stays below; one that is blocked, or starved, not."""

UNLIMITED = 1 << 62
"""Requests that a timed load may begin."""

_BATCH = 256


class Engine:
    """
    A closed loop of `load.connections` slots against one address; idle until told to begin.

    A request has exactly one outcome: a correct reply, an error, or unfinished when the window
    closes; `attempted` is the sum of these.

    Args:
        address: `(numeric host, port)`, or the path of a UNIX socket.
        wire: What is sent, and what a correct reply is.
        load: Connections, keep-alive and timeout; `load.requests` is up to `begin_count`.

    Raises:
        GeneratorError: This process may not open so many connections.
    """

    def __init__(self, address: tuple[str, int] | str, wire: AnyWire, load: Load) -> None:
        allow_descriptors(load.connections)
        self._wire = wire
        self._keepalive = load.keepalive and wire.keepalive
        # The last correct reply that came in one piece, of one request for all. Of several each has
        # its own (`Mix`), and of an echo each connection, which it leaves open.
        self._good: bytes | None = None
        self._good_reusable = self._keepalive
        self._granted = self._left = 0  # requests that may begin, and those of them that did not
        self._recorder = Recorder(wire.names)
        # None with one request, which then costs what it would if there could be no others.
        self._mix: Mix | None = None
        if wire.names:
            sequence = wire.sequence(load.connections)
            self._mix = Mix(sequence, self._recorder.latency_of, kept=load.keepalive)
        self._connections = Connections(
            address, wire, load.connections, load.timeout, self._recorder, mix=self._mix
        )
        self._poll = self._connections.epoll.poll
        self.interrupted = False
        """Whether a watched descriptor was readable in the last step."""

    # -- what its owner calls ----------------------------------------------------------------------

    def fileno(self) -> int:
        """Return a descriptor that is readable when `step` has something to do but timeouts."""
        return self._connections.epoll.fileno()

    def watch(self, fd: int) -> None:
        """Let `step` return, with `interrupted` set, when *fd* is readable."""
        self._connections.epoll.register(fd, select.POLLIN)

    def resume(self, connections: int | None = None) -> None:
        """Begin a timed load on the first *connections* slots, by default on all."""
        self._grant(UNLIMITED)
        self._start(self._connections.slots[:connections])

    def drain(self) -> None:
        """Begin no more requests; `done` says when those under way have their outcome."""
        self._grant(0)

    def pause(self) -> None:
        """Close every connection; requests under way stay unfinished."""
        self._grant(0)
        self._recorder.abandoned += len(self._connections.by_fd)
        self._connections.close_all()

    def close(self) -> None:
        """Close every connection and the epoll itself."""
        self.pause()
        self._connections.epoll.close()

    def open_window(self) -> None:
        """Forget all counts; requests under way belong to the new window."""
        self._granted = self._left
        for slot in self._connections.slots:
            slot.restart()
        self._recorder.restart(carried=len(self._connections.by_fd))

    def close_window(self) -> Window:
        """
        Return what was counted since the window opened; a timed load goes on.

        The window of a counted load ended with its last outcome, however late this is called.
        """
        return self._recorder.close(
            unfinished=len(self._connections.by_fd),
            replies=tuple(slot.replies for slot in self._connections.slots),
        )

    def cut_window(self) -> Window:
        """
        Close the window and open the next one at the same instant.

        What is unfinished in one is carried into the next, so the windows of a series have no gap
        between them, and no request is in none or planned in two.
        """
        window = self.close_window()
        self._granted = self._left
        for slot in self._connections.slots:
            slot.restart()
        carried = window.unfinished - self._recorder.abandoned
        self._recorder.restart(carried, continued=True)
        return window

    def begin_count(self, requests: int) -> None:
        """Open the window and send *requests*, each slot its next one when it is free."""
        self.pause()
        self.open_window()
        self._grant(requests)
        self._start(self._connections.slots)

    def least_rtt(self) -> float | None:
        """Return the seconds of the shortest round trip of the connections that are open."""
        return self._connections.least_rtt()

    @property
    def opened(self) -> float:
        """Instant at which the window opened, by `time.perf_counter`."""
        return self._recorder.opened

    @property
    def attempted(self) -> int:
        """Requests under way when the window opened, and those begun since."""
        return self._recorder.carried + self._granted - self._left

    @property
    def done(self) -> bool:
        """Whether no request is under way and none will begin."""
        return not self._left and not self._connections.by_fd

    @property
    def ok(self) -> int:
        """Correct replies in the window so far."""
        return self._recorder.ok

    def step(self, timeout: float) -> int:
        """
        Handle one batch of events, and the timeouts that are due.

        Args:
            timeout: Seconds to wait for the first event at the most; 0 where another loop waits
                on `fileno`, which then calls this at least every 50 ms for the timeouts' sake.

        Returns:
            Number of events handled.
        """
        connections = self._connections
        self.interrupted = False
        if timeout > 0:
            timeout = min(timeout, max(0.0, connections.due - perf_counter()))
        events = self._poll(timeout, _BATCH)
        if events:
            self._handle(events)
        now = perf_counter()
        if now >= connections.due:
            self._start(connections.tick(now))
        if not self._left and self.done and self.attempted:
            self._recorder.end()
        return len(events)

    # -- the hot path ------------------------------------------------------------------------------

    # One loop without calls, attributes in locals, counts added up at the end: what a request costs
    # is decided here. Nothing that is called from here changes `left`.
    def _handle(  # noqa: C901, PLR0912, PLR0915
        self, events: list[tuple[int, int]]
    ) -> None:
        connections, clock = self._connections, perf_counter
        receive, length = self._wire.receive, self._wire.length
        by_fd, latency, mix = connections.by_fd, self._recorder.latency, self._mix
        good, good_reusable, left = self._good, self._good_reusable, self._left
        ok = received = 0
        latency_sum = 0.0
        for fd, event in events:
            slot = by_fd.get(fd)
            if slot is None:
                self.interrupted = True
                continue
            if slot.unsent and not connections.send_rest(slot, event):
                continue
            try:
                data = slot.recv(receive)
            except BlockingIOError:
                continue
            except OSError as error:
                connections.lose(slot, error)
                continue
            received += len(data)
            if slot.reply is None and (data == good or data == slot.expected):  # noqa: PLR1714
                reusable = good_reusable
            else:
                verdict = self._take(slot, data)
                if verdict is None:
                    continue
                reusable = verdict
                good, good_reusable = self._good, self._good_reusable
            now = clock()
            seconds = now - slot.start
            us = int(seconds * 1e6)
            shift = us.bit_length() - PRECISION_BITS
            if shift > 0:  # histogram.bucket, without the call
                us = us >> shift << shift
            latency[us] = latency.get(us, 0) + 1
            if mix is not None:
                length = mix.answered(slot, us)
            latency_sum += seconds
            ok += 1
            slot.replies += 1
            if not left:
                connections.close(slot)
                continue
            left -= 1
            slot.start = now
            if reusable and not event & GONE:
                try:
                    sent = slot.send(slot.request)
                except OSError:
                    connections.send_again(slot)
                else:
                    if sent != length:
                        connections.hold(slot, sent)
            else:
                connections.close(slot)
                connections.open(slot)
        self._left = left
        self._recorder.add(ok, received, latency_sum)

    def _take(self, slot: ConnectionSlot, data: bytes) -> bool | None:
        """Return whether the connection may be used again; None without a correct reply so far."""
        whole, mix = slot.reply is None, self._mix
        if slot.reply is None:
            if not data:
                self._connections.lose(slot, None)
                return None
            if mix is not None and (known := mix.known(slot.request, data)) is not None:
                return known
            slot.reply = self._wire.reply(slot.request)
        reply = slot.reply
        try:
            complete = reply.take(data)
        except WrongReplyError as error:
            self._connections.fail(slot, error.failure, str(error))
            return None
        if not complete:
            if not data:
                self._connections.lose(slot, None)
            return None
        if slot.unsent:
            self._connections.fail(slot, "malformed", "a whole reply to a part of the request")
            return None
        slot.reply = None
        reusable = self._keepalive and reply.reusable
        # Of a request that may be sent in parts, the reply to a part might equal the right one.
        if whole and reply.self_delimited and len(slot.request) <= AT_ONCE:
            if mix is None:
                self._good, self._good_reusable = data, reusable
            else:
                mix.learn(slot.request, data, reusable=reusable)
        return reusable

    # -- how many may begin ------------------------------------------------------------------------

    def _grant(self, requests: int) -> None:
        self._recorder.carried += self._granted - self._left
        self._granted = self._left = requests

    def _start(self, slots: list[ConnectionSlot]) -> None:
        for slot in slots:
            if slot.socket is None and self._left:
                self._left -= 1
                slot.start = perf_counter()
                self._connections.open(slot)
