"""
The engine as an open loop: requests are due at planned instants, whatever the server does.

A closed loop asks a stalled server for nothing, so it hardly sees the stall. Here arrivals lie on a
grid that begins with the load and is never planned anew; one that finds every slot busy waits in a
queue, and its latency counts from the instant at which it was due. The service time, from the
first attempt to send, stands beside it.

A free slot takes its turn after those that were free before it. So every connection stays in use
and can be judged for starvation, as the many clients of an open loop would be; taking the last one
first would leave most of them idle until the server closes them.
"""

from __future__ import annotations

import math
import select
from collections import deque
from time import perf_counter

from lab.bench.load.alarm import Alarm
from lab.bench.load.connections import GONE, ConnectionSlot
from lab.bench.load.engine import LATE_SEND, UNLIMITED, Engine
from lab.bench.load.histogram import bucket
from lab.bench.load.wires import AnyWire
from lab.errors import GeneratorError
from lab.model.measurement import Window
from lab.model.plan import Load

_NEVER = math.inf
_EDGE = 1 << 31  # EPOLLET, which gevent takes out of `select`


def make_engine(
    address: tuple[str, int] | str, wire: AnyWire, load: Load, phase: float | None = None
) -> Engine:
    """Return the engine for *load*: an `OpenLoop` where it has a rate, else an `Engine`."""
    if load.rate is None:
        return Engine(address, wire, load)
    return OpenLoop(address, wire, load, phase)


class OpenLoop(Engine):
    """
    Evenly spaced requests over at most `load.connections` connections.

    The outcomes are those of `Engine`. A request that is queued for longer than the load's timeout
    is a "timeout" too, which bounds the queue; one that is queued when the window closes is
    unfinished.

    Args:
        address: See `Engine`.
        wire: See `Engine`.
        load: With a rate above 0, and no number of requests.
        phase: Share of a period by which the grid lies behind the multiples of the period on the
            machine's monotonic clock, so that the grids of several processes interlock. None to
            begin the grid at once.

    Raises:
        GeneratorError: See `Engine`; or the load is not an open loop.
    """

    def __init__(
        self,
        address: tuple[str, int] | str,
        wire: AnyWire,
        load: Load,
        phase: float | None = None,
    ) -> None:
        if load.rate is None or not 0 < load.rate < math.inf or load.requests is not None:
            raise GeneratorError("an open loop takes a rate above 0, and no number of requests")
        super().__init__(address, wire, load)
        self._rate = load.rate
        self._phase = phase
        self._timeout = load.timeout
        self._waiting: deque[float] = deque()  # when each queued request was due
        self._free: deque[ConnectionSlot] = deque()  # the one that is free the longest first
        self._enlisted = 0  # slots in use, from the first
        self._began = 0.0
        self._arrivals = 0  # since then
        self._due = _NEVER  # when the next one is
        self._alarm = Alarm()
        self._alarmed = _NEVER
        self._connections.epoll.register(self._alarm.fd, select.POLLIN | _EDGE)

    # -- what its owner calls ----------------------------------------------------------------------

    def resume(self, connections: int | None = None) -> None:
        """Begin the grid, unless it has begun, on the first *connections* slots or on all."""
        if self._due == _NEVER:
            self._grant(UNLIMITED)
            self._arrivals = 0
            self._began = self._due = self._first(perf_counter())
        slots = self._connections.slots[self._enlisted : connections]
        self._enlisted += len(slots)
        self._start(slots)
        self._admit()

    def drain(self) -> None:
        """Plan no more requests; those that are due are still sent."""
        self._admit()
        self._due = _NEVER
        self._grant(0)

    def pause(self) -> None:
        """Close every connection; requests under way or queued stay unfinished."""
        self._recorder.abandoned += len(self._waiting)
        self._waiting.clear()
        self._free.clear()
        self._enlisted = 0
        self._due = _NEVER
        super().pause()

    def close(self) -> None:
        """Close every connection, the alarm and the epoll."""
        super().close()
        self._alarm.close()

    def open_window(self) -> None:
        """Forget all counts; requests under way or queued belong to the new window."""
        self._admit()
        super().open_window()
        self._recorder.carried += len(self._waiting)

    def close_window(self) -> Window:
        """Return what was counted since the window opened; the load goes on."""
        self._admit()
        queued = len(self._waiting)
        return self._recorder.close(
            unfinished=len(self._connections.by_fd) + queued,
            replies=tuple(slot.replies for slot in self._connections.slots),
            queued=queued,
        )

    @property
    def attempted(self) -> int:
        """Requests under way or queued when the window opened, and those due since."""
        return self._recorder.carried + self._recorder.planned

    @property
    def done(self) -> bool:
        """Whether no request is under way or queued, and none will be."""
        return not self._left and not self._waiting and not self._connections.by_fd

    def step(self, timeout: float) -> int:
        """Handle one batch of events, and what is due by then; see `Engine.step`."""
        events = super().step(timeout)
        self._admit()
        return events

    # -- arrivals ----------------------------------------------------------------------------------

    def _first(self, now: float) -> float:
        """Return the grid's first instant that is not before *now*."""
        if self._phase is None:
            return now
        return (math.ceil(now * self._rate - self._phase) + self._phase) / self._rate

    def _admit(self) -> None:
        """Queue the requests that have become due, send what can be sent, set the alarm."""
        now, waiting = perf_counter(), self._waiting
        while self._due <= now:
            waiting.append(self._due)
            self._recorder.planned += 1
            self._arrivals += 1
            # Not the last instant and 1/rate, whose rounding would add up.
            self._due = self._began + self._arrivals / self._rate
        while waiting and waiting[0] < now - self._timeout:
            waiting.popleft()
            self._recorder.fail("timeout")
        self._dispatch()
        if self._due not in (self._alarmed, _NEVER):
            self._alarmed = self._due
            self._alarm.set(self._due)

    def _dispatch(self) -> None:
        """Send queued requests, the oldest first, as long as a slot is free."""
        waiting, free, connections = self._waiting, self._free, self._connections
        while waiting and free:
            slot = free.popleft()
            slot.due = due = waiting.popleft()
            slot.start = now = perf_counter()
            if now - due > LATE_SEND and slot.freed <= due:
                self._recorder.late += 1
            connections.send(slot)

    def _start(self, slots: list[ConnectionSlot]) -> None:
        """Take in slots that are new, or have rested after an error."""
        now = perf_counter()
        for slot in slots:
            slot.freed = now
        self._free.extend(slots)
        self._dispatch()

    # -- the hot path ------------------------------------------------------------------------------

    def _handle(self, events: list[tuple[int, int]]) -> None:  # noqa: C901 - as `Engine._handle`
        connections, clock, good = self._connections, perf_counter, self._good
        by_fd, free, waiting = connections.by_fd, self._free, self._waiting
        receive, mix = self._wire.receive, self._mix
        latency, service = self._recorder.latency, self._recorder.service
        ok = received = 0
        latency_sum = 0.0
        for fd, event in events:
            slot = by_fd.get(fd)
            if slot is None:
                self._notice(fd)
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
                reusable = self._good_reusable
            else:
                verdict = self._take(slot, data)
                if verdict is None:
                    continue
                reusable = verdict
                good = self._good
            now = clock()
            us = bucket(int((now - slot.due) * 1e6))
            latency[us] = latency.get(us, 0) + 1
            if mix is not None:
                mix.answered(slot, us)
            us = bucket(int((now - slot.start) * 1e6))
            service[us] = service.get(us, 0) + 1
            latency_sum += now - slot.due
            ok += 1
            slot.replies += 1
            slot.freed = now
            if reusable and not event & GONE:
                connections.keep(slot)
            else:
                connections.close(slot)
            free.append(slot)
            if waiting:
                self._dispatch()
        self._recorder.add(ok, received, latency_sum)

    def _notice(self, fd: int) -> None:
        """Deal with an event that belongs to no request."""
        slot = self._connections.idle.get(fd)
        if slot is not None:
            # Its end, or bytes that nobody asked for, such as a 408: either way of no more use.
            self._connections.drop(slot)
        elif fd != self._alarm.fd:
            self.interrupted = True
