"""
Locust's own fast client as the load: a FastHttpSession for each user, judged like the engine.

It is here to be compared with. What a client costs decides what a comparison can see, and with
this one the gate "generator-bound" says so: its windows hold the CPU that it used, as the engine's
do. The table of Locust is filled from the windows, so the sessions report to nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import gevent
from geventhttpclient.response import HTTPConnectionClosed
from locust.contrib.fasthttp import FastHttpSession, LocustBadStatusCode
from locust.event import EventHook

from lab.generators.connections import BACK_OFF, FAILURES
from lab.generators.descriptors import allow_descriptors
from lab.generators.engine import UNLIMITED
from lab.generators.histogram import bucket
from lab.generators.judge import Judge
from lab.generators.recorder import Recorder
from lab.model import Endpoint, Expectation, Load, Window


class FastHttpClients:
    """
    A closed loop of `load.connections` seats, each a greenlet with a session of its own.

    It has the engine's interface as far as the crew uses it, but drives itself; see
    `lab.generators.engine`. Two figures differ in meaning: `received` counts bodies only, and
    `retried` whatever the client sends again by itself, on new connections too.

    Args:
        endpoint: Where the server answers.
        path: Request target.
        expect: What a correct reply is; with neither body nor pattern the first one defines it.
        load: Connections, keep-alive and timeout (of each wait for bytes, not of the request).
        failed: Called with a seat's greenlet that ended by an error of the client's own.

    Raises:
        GeneratorError: This process may not open so many connections.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        path: str,
        expect: Expectation,
        load: Load,
        failed: Callable[[Any], None],
    ) -> None:
        allow_descriptors(load.connections)
        self._url = f"http://{endpoint.address}"
        self._path = path
        self._load = load
        self._status = expect.status
        self._headers = {
            "Host": endpoint.authority,
            "Accept": "*/*",
            "Accept-Encoding": "identity",
        }
        if not load.keepalive:
            self._headers["Connection"] = "close"
        self._judge = Judge(expect)
        self._failed = failed
        self._recorder = Recorder()
        self._greenlets: list[Any] = [None] * load.connections
        self._replies = [0] * load.connections
        self._busy = 0  # requests under way
        self._left = 0  # requests that may begin

    @property
    def done(self) -> bool:
        """Whether no request is under way and none will begin."""
        return not self._left and not self._busy

    @property
    def ok(self) -> int:
        """Correct replies in the window so far."""
        return self._recorder.ok

    def resume(self, connections: int | None = None) -> None:
        """Begin a timed load on the first *connections* seats, by default on all."""
        self._left = UNLIMITED
        self._start(connections)

    def drain(self) -> None:
        """Begin no more requests; `done` says when those under way have their outcome."""
        self._left = 0

    def pause(self) -> None:
        """Close every connection; requests under way stay unfinished."""
        self._left = 0
        self._recorder.abandoned += self._busy
        gevent.killall([greenlet for greenlet in self._greenlets if greenlet])

    def close(self) -> None:
        """Close every connection."""
        self.pause()

    def open_window(self) -> None:
        """Forget all counts; requests under way belong to the new window."""
        self._replies = [0] * len(self._replies)
        self._recorder.restart(carried=self._busy)

    def close_window(self) -> Window:
        """Return what was counted since the window opened; a timed load goes on."""
        return self._recorder.close(unfinished=self._busy, replies=tuple(self._replies))

    def begin_count(self, requests: int) -> None:
        """Open the window and send *requests*, each seat its next one when it is free."""
        self.pause()
        self.open_window()
        self._left = requests
        self._start(None)

    # -- a seat ------------------------------------------------------------------------------------

    def _start(self, seats: int | None) -> None:
        for seat, greenlet in list(enumerate(self._greenlets))[:seats]:
            if not greenlet:  # true from its start to its end
                self._greenlets[seat] = gevent.spawn(self._sit, seat)
                self._greenlets[seat].link_exception(self._failed)

    def _sit(self, seat: int) -> None:
        """Make requests with one session as long as there are any left to begin."""
        client = _Client(self._url, self._load, self._status, self._recorder)
        try:
            while self._left:
                self._left -= 1
                self._busy += 1
                try:
                    fault = self._request(client, seat)
                finally:
                    self._busy -= 1
                if self.done:
                    self._recorder.end()
                if fault is not None:
                    gevent.sleep(BACK_OFF)
        finally:
            client.close()

    def _request(self, client: _Client, seat: int) -> str | None:
        """Make one request, record its outcome, and return the class of its error."""
        recorder = self._recorder
        start = perf_counter()
        response, error = client.get(self._path, self._headers)
        seconds = perf_counter() - start
        body: bytes = response.content or b""
        if error is None:
            fault = self._judge.fault(response.status_code, body)
        else:
            fault = failure(error, begun=bool(response.status_code))
        if fault is None:
            us = bucket(int(seconds * 1e6))
            recorder.latency[us] = recorder.latency.get(us, 0) + 1
            recorder.add(1, len(body), seconds)
            self._replies[seat] += 1
        else:
            recorder.errors[fault] = recorder.errors.get(fault, 0) + 1
            recorder.add(0, len(body), 0.0)
        return fault


class _Client:
    """A FastHttpSession with one connection, whose connecting and sending again is counted."""

    def __init__(self, url: str, load: Load, status: int, recorder: Recorder) -> None:
        self._recorder = recorder
        self._session = FastHttpSession(
            url,
            EventHook(),
            user=None,
            network_timeout=load.timeout,
            connection_timeout=load.timeout,
            max_redirects=0,
            max_retries=0,
            concurrency=1,
        )
        agent: Any = self._session.client
        agent.valid_response_codes = frozenset([status])
        self._tries = 0
        pool = agent.clientpool.get_client(url)._connection_pool  # noqa: SLF001 - no way to count
        self._get_socket = pool.get_socket
        pool.get_socket = self._try
        pool.after_connect = self._connected
        if not load.keepalive:
            # It would keep a connection that it has asked the server to close.
            pool.return_socket = pool.release_socket

    def get(self, path: str, headers: dict[str, str]) -> tuple[Any, BaseException | None]:
        """Return the response, and what kept it from being whole."""
        self._tries = 0
        response: Any = self._session.get(path, headers=headers, catch_response=True)
        self._recorder.retried += max(0, self._tries - 1)
        error = response.request_meta["exception"]
        # Whether a status is the right one is the judge's to say.
        return response, None if isinstance(error, LocustBadStatusCode) else error

    def close(self) -> None:
        """Close the connection."""
        self._session.client.close()

    def _try(self) -> Any:
        self._tries += 1
        return self._get_socket()

    def _connected(self, _: Any) -> None:
        self._recorder.connections += 1


def failure(error: BaseException, *, begun: bool) -> str:
    """
    Return the class of a request's *error*; see `lab.model.Window.errors`.

    Args:
        error: From the session.
        begun: Whether the head of a reply had arrived.
    """
    error = getattr(error, "original", error)  # of a RetriesExceeded, which a timeout becomes
    if isinstance(error, (TimeoutError, gevent.Timeout)):
        return "timeout"
    if isinstance(error, OSError):
        return FAILURES.get(error.errno or 0, "reset" if begun else "connect")
    if isinstance(error, HTTPConnectionClosed):
        return "truncated" if begun else "closed"
    # geventhttpclient does not tell a reply that breaks off from one that is no HTTP.
    return "malformed"
