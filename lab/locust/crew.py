"""
The workers' side: each process drives the connections of its own Locust users.

The same code runs in a lone Locust, in every process of `--processes N`, and in every `--worker`:
Locust delivers messages to itself where there is only one process. A worker measures its window by
its own clock, so no clocks have to agree: rates add up.
"""

from __future__ import annotations

import ctypes
import math
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import gevent
from locust import events
from locust.runners import MasterRunner, Runner, WorkerRunner

from lab.bench.load.codec import encode_window
from lab.bench.load.connections import SCAN_EVERY
from lab.bench.load.engine import Engine
from lab.bench.load.setup import decode_setup
from lab.bench.trials.hosts import Location, count_clients_side, describe, location
from lab.errors import LabError
from lab.locust.clients import FastHttpClients
from lab.model.measurement import Window
from lab.model.plan import Load
from lab.model.protocols import Stop

ORDER = "lab-order"
"""Message from the one who runs the plan to every worker: {"op": ..., "number": ..., "lease": ...,
"arguments": ...}; an op is one of `Crew.operations`, and the lease says for how many seconds the
load goes on without another order."""

ANSWER = "lab-answer"
"""Message back: {"number": of the order, "worker": id, ...}; {"error": text} where it failed."""

Answer = dict[str, Any]

PR_SET_PDEATHSIG = 1  # linux/prctl.h


class Crew:
    """The engine of this process, or the clients instead of it, and what it is told to do."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._engine: Engine | FastHttpClients | None = None
        self._awaited: int | None = None
        """Number of the order that is answered when the engine is done."""
        self._greenlet: gevent.Greenlet | None = None
        self._failure: str | None = None
        """What ended the engine's loop before it was told to; the answer to every order then."""
        self._until = math.inf
        """When the lease ends, by the monotonic clock."""
        self._affinity: set[int] | None = None
        """Of this process before it was pinned for a trial."""
        self._host = ""
        """What the master calls this host; empty where it is the master's own."""
        self._rtt: float | None = None
        """Seconds: the shortest round trip of the warm-up."""
        self._tcp: Stop | None = None
        """Ends the count of what this host's end of TCP did in the window."""
        self.operations: Mapping[str, Callable[..., Answer | None]] = {
            "describe": self._describe,
            "prepare": self._prepare,
            "resume": self._resume,
            "progress": self._progress,
            "drain": self._drain,
            "open": self._open,
            "close": self._close,
            "count": self._count,
            "end": self._end,
        }
        """What may be ordered; without an answer when it is answered later, as the load ends."""

    def obey(self, msg: Any, **_: Any) -> None:
        """Carry out one order and answer it."""
        order = msg.data
        self._until = time.monotonic() + order["lease"]
        answer: Answer | None
        try:
            answer = self.operations[order["op"]](**order["arguments"])
        except (LabError, OSError) as error:  # such as too few descriptors, or cores that are not
            answer = {"error": f"{type(error).__name__}: {error}"}
        if self._failure is not None:
            answer = {"error": self._failure}
        if answer is not None:
            self._answer(order["number"], answer)
        else:
            self._awaited = order["number"]

    # -- orders ------------------------------------------------------------------------------------

    def _describe(self, address: str) -> Answer:
        """Say what this host is, from which servers at *address* are to be loaded."""
        return {"location": location().encode(), "facts": describe(address)}

    def _prepare(
        self,
        *,
        setup: dict[str, Any],
        client: str,
        master: dict[str, str],
        names: Mapping[str, str],
    ) -> Answer:
        """Make the load's part ready; *names* are those of other hosts, by their network."""
        self._end()
        worker_setup, worker_location, theirs = decode_setup(setup), location(), Location(**master)
        self._host, self._rtt = names.get(worker_location.network, ""), None
        here = worker_location.processes == theirs.processes
        if worker_setup.cores and here:
            self._affinity = os.sched_getaffinity(0)
            os.sched_setaffinity(0, worker_setup.cores)
        seats = self._runner.user_count
        self._failure = None
        if seats:
            share = replace(worker_setup, load=_share(worker_setup.load, seats))
            if client == "fasthttp":
                self._engine = FastHttpClients(share, self._note_failure)
                self._greenlet = gevent.spawn(self._tick, self._engine)
            else:
                engine = share.engine()
                self._engine = engine
                self._greenlet = gevent.spawn(self._drive, engine)
            self._greenlet.link_exception(self._note_failure)
        return {
            "process": os.getpid() if here else None,
            "location": worker_location.encode(),
            "seats": seats,
            "version": version("uwsgi-fibonacci-lab"),
        }

    def _resume(self, connections: int | None) -> Answer:
        if self._engine is not None:
            self._engine.open_window()
            self._engine.resume(connections)
        return {}

    def _progress(self) -> Answer:
        if self._host and isinstance(self._engine, Engine):
            round_trips = (self._rtt, self._engine.least_rtt())
            self._rtt = min(
                (round_trip for round_trip in round_trips if round_trip is not None), default=None
            )
        return {"ok": self._engine.ok if self._engine is not None else 0}

    def _drain(self) -> Answer | None:
        """Let what is under way end, begin nothing new; answered when it has ended."""
        if self._engine is None:
            return {}
        self._engine.drain()
        return None

    def _open(self) -> Answer:
        if self._engine is not None:
            self._watch_tcp()
            self._engine.open_window()
        return {}

    def _close(self) -> Answer:
        return {"window": self._window(self._engine) if self._engine else None}

    def _count(self, requests: int, seats: int) -> Answer | None:
        """Begin this worker's share of a counted load; answered when it is done."""
        if self._engine is None:
            return {"window": None}
        self._watch_tcp()
        self._engine.begin_count(round(requests * self._runner.user_count / seats))
        return None

    def _end(self) -> Answer:
        engine, self._engine = self._engine, None
        if self._greenlet is not None:
            self._greenlet.kill()
            self._greenlet = None
        if engine is not None:
            engine.close()
        if self._affinity is not None:
            os.sched_setaffinity(0, self._affinity)
            self._affinity = None
        self._awaited = self._tcp = None
        return {}

    # -- a window ----------------------------------------------------------------------------------

    def _watch_tcp(self) -> None:
        """Count what this host's end of TCP does from now on, where the master's cannot see it."""
        self._tcp = count_clients_side() if self._host else None

    def _window(self, engine: Engine | FastHttpClients) -> dict[str, Any]:
        """Close the window, and return it with what is known of this host."""
        window: Window = engine.close_window()
        if self._tcp is not None:
            window = replace(window, host=self._host, tcp=self._tcp(), rtt=self._rtt)
        return encode_window(window)

    # -- the loop ----------------------------------------------------------------------------------

    def _drive(self, engine: Engine) -> None:
        """Drive *engine* until killed, so that heartbeats, messages and the web UI stay alive."""
        hub = gevent.get_hub()
        watcher = hub.loop.io(engine.fileno(), 1)
        ticker = gevent.spawn(self._tick, engine)
        try:
            while True:
                if engine.step(0) == 0:
                    self._report_done(engine)
                    hub.wait(watcher)
                else:
                    gevent.sleep(0)  # let the others have a turn after every batch
        finally:
            ticker.kill()
            watcher.close()

    def _tick(self, engine: Engine | FastHttpClients) -> None:
        """Find timeouts, and an end, even when no connection has anything to say."""
        while True:
            gevent.sleep(SCAN_EVERY)
            if isinstance(engine, Engine):  # the clients drive themselves
                engine.step(0)
            self._report_done(engine)
            if time.monotonic() > self._until:
                # The master is gone, and the server's port may be another's. Locust itself would
                # look for its master for a minute. By another greenlet, for this one ends, too.
                gevent.spawn(self._end)

    def _note_failure(self, greenlet: Any) -> None:
        self._failure = f"the load stopped: {greenlet.exception!r}"

    def _report_done(self, engine: Engine | FastHttpClients) -> None:
        if self._awaited is not None and engine.done:
            number, self._awaited = self._awaited, None
            self._answer(number, {"window": self._window(engine)})

    def _answer(self, number: int, answer: Answer) -> None:
        worker = getattr(self._runner, "client_id", "local")
        self._runner.send_message(ANSWER, {"number": number, "worker": worker, **answer})


def _share(load: Load, seats: int) -> Load:
    """Return the part of *load* that falls to *seats* of its connections."""
    rate = None if load.rate is None else load.rate * seats / load.connections
    return replace(load, connections=seats, rate=rate)


@events.init.add_listener
def enlist(environment: Any, runner: Runner | None, **_: Any) -> None:
    """Listen to orders in every process that has users."""
    if runner is None or isinstance(runner, MasterRunner):
        return
    runner.register_message(ORDER, Crew(runner).obey)
    if isinstance(runner, WorkerRunner) and environment.parsed_options.processes:
        # Forked by `--processes`: it ends with its parent, even when that was killed. By itself it
        # would look for a master for a minute, and load a port that may be another's by then.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
