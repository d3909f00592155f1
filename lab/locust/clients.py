"""
Locust's own fast client as the load: a FastHttpSession for each user, judged like the engine.

It costs several times what the engine does, and the gate "generator-bound" says where that is too
much. `received` counts bodies only, `retried` what the client sent again by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import gevent
from geventhttpclient.response import HTTPConnectionClosed
from locust.contrib.fasthttp import FastHttpSession, LocustBadStatusCode
from locust.event import EventHook

from lab.bench.load.connections import BACK_OFF, FAILURES
from lab.bench.load.descriptors import allow_descriptors
from lab.bench.load.engine import UNLIMITED
from lab.bench.load.histogram import bucket
from lab.bench.load.judge import Judge
from lab.bench.load.recorder import Recorder
from lab.bench.load.setup import Setup
from lab.model.measurement import Window
from lab.model.plan import Load
from lab.model.wording import shown


class FastHttpClients:
    """A closed loop with the interface of `lab.bench.load.engine.Engine`; it drives itself."""

    def __init__(self, setup: Setup, failed: Callable[[Any], None]) -> None:
        """Begin with no connection; *failed* is called with a greenlet that ended by an error."""
        load = setup.load
        allow_descriptors(load.connections)
        self._endpoint, self._path = setup.endpoint, setup.workload.path
        self._host = setup.workload.host
        self._load, self._failed = load, failed
        self._judge, self._recorder = Judge(setup.workload.expect), Recorder()
        self._greenlets: list[gevent.Greenlet] = []
        self._replies = [0] * load.connections
        self._busy = self._left = 0  # requests under way, and those that may begin

    @property
    def done(self) -> bool:
        """Whether no request is under way and none will begin."""
        return not self._left and not self._busy

    @property
    def ok(self) -> int:
        """Correct replies in the window so far."""
        return self._recorder.ok

    def resume(self, connections: int | None = None, requests: int = UNLIMITED) -> None:
        """Begin a load of *requests* on the first *connections* seats, by default on all."""
        self.close()
        self._left = requests
        for seat in range(self._load.connections)[:connections]:
            self._greenlets.append(gevent.spawn(self._sit, seat))
            self._greenlets[-1].link_exception(self._failed)

    def begin_count(self, requests: int) -> None:
        """Open the window and send *requests*, each seat its next one when it is free."""
        self.close()
        self.open_window()
        self.resume(requests=requests)

    def drain(self) -> None:
        """Begin no more requests; `done` says when those under way have their outcome."""
        self._left = 0

    def close(self) -> None:
        """Close every connection; requests under way stay unfinished."""
        self._left = 0
        self._recorder.abandoned += self._busy
        gevent.killall(self._greenlets)
        self._greenlets.clear()

    def open_window(self) -> None:
        """Forget all counts; requests under way belong to the new window."""
        self._replies = [0] * self._load.connections
        self._recorder.restart(carried=self._busy)

    def close_window(self) -> Window:
        """Return what was counted since the window opened; a timed load goes on."""
        return self._recorder.close(unfinished=self._busy, replies=tuple(self._replies))

    def _sit(self, seat: int) -> None:
        headers = {"Host": self._host, "Accept": "*/*", "Accept-Encoding": "identity"}
        if not self._load.keepalive:
            headers["Connection"] = "close"
        session = _session(f"http://{self._endpoint.address}", self._load, self._recorder)
        try:
            while self._left:
                self._left -= 1
                self._busy += 1
                try:
                    fault = self._request(session, headers, seat)
                finally:
                    self._busy -= 1
                if self.done:
                    self._recorder.end()
                if fault is not None:
                    gevent.sleep(BACK_OFF)
        finally:
            session.client.close()

    def _request(self, session: FastHttpSession, headers: dict[str, str], seat: int) -> str | None:
        """Make one request, record its outcome, and return the class of its error."""
        recorder, start = self._recorder, perf_counter()
        recorder.retried -= 1  # the pool counts the first try, too
        response: Any = session.get(
            self._path, headers=headers, catch_response=True, allow_redirects=False
        )
        seconds, body = perf_counter() - start, response.content or b""
        error = response.request_meta["exception"]
        if error is None or isinstance(error, LocustBadStatusCode):  # which the judge may expect
            fault = self._judge.fault(response.status_code, body)
        else:
            fault = _failure(error)
        recorder.add(fault is None, len(body), 0.0 if fault else seconds)
        if fault is None:
            us = bucket(int(seconds * 1e6))
            recorder.latency[us] = recorder.latency.get(us, 0) + 1
            self._replies[seat] += 1
        else:
            seen = f"{response.status_code} {shown(body)}" if response.status_code else ""
            recorder.fail(fault, seen)
        return fault


def _session(url: str, load: Load, recorder: Recorder) -> FastHttpSession:
    """Return a session with one connection, whose tries and connections *recorder* counts."""
    session = FastHttpSession(
        url,
        EventHook(),  # nobody listens: Locust's table is filled from the windows
        user=None,
        network_timeout=load.timeout,
        connection_timeout=load.timeout,
        concurrency=1,
    )
    agent: Any = session.client
    pool = agent.clientpool.get_client(url)._connection_pool  # noqa: SLF001 - no other way
    take = pool.get_socket

    def take_and_count() -> Any:
        recorder.retried += 1
        return take()

    def connected(_: Any) -> None:
        recorder.connections += 1

    pool.get_socket, pool.after_connect = take_and_count, connected
    if not load.keepalive:  # it would keep a connection that it has asked the server to close
        pool.return_socket = pool.release_socket
    return session


def _failure(error: BaseException) -> str:
    """Return the class of a request's *error*; see `lab.model.measurement.Window.errors`."""
    error = getattr(error, "original", error)  # of a RetriesExceeded, which a timeout becomes
    if isinstance(error, (TimeoutError, gevent.Timeout)):
        return "timeout"
    if isinstance(error, OSError):
        return FAILURES.get(error.errno or 0, "connect")
    # geventhttpclient does not tell a reply that breaks off from one that is no HTTP.
    return "closed" if isinstance(error, HTTPConnectionClosed) else "malformed"
