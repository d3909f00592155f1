"""
Clients that ask the same again and again, and remember what became of each request.

Plain threads and http.client, and nothing of the lab: what a fault cost is to be told by something
that shares no code with what `lab stress` tells it by.
"""

import http.client
import threading
import time
from collections import Counter
from dataclasses import dataclass

from tests.kit.lab_process import until

TIMEOUT = 20.0
"""Seconds until a client gives up; more than any bound that is asserted."""


CLOSED = ("RemoteDisconnected", "ConnectionResetError", "BrokenPipeError")
"""How http.client fails on a connection that the server has closed."""


@dataclass(frozen=True)
class Outcome:
    """What became of one request."""

    began: float
    """Seconds, monotonic."""
    took: float
    """Seconds until the whole reply was there, or the failure."""
    failure: str
    """Empty for the right reply."""


def ask(address, path, body, connection=None):
    """Ask once, on a connection of its own or a kept one, and return the outcome."""
    began = time.monotonic()
    used = connection or http.client.HTTPConnection(*address, timeout=TIMEOUT)
    try:
        used.request("GET", path)
        reply = used.getresponse()
        read = reply.read()
        right = (reply.status, read) == (200, body)
        failure = "" if right else f"{reply.status} {read[:80]!r}"
    except (OSError, http.client.HTTPException) as error:
        failure = repr(error)
    finally:
        if connection is None:
            used.close()
    return Outcome(began, time.monotonic() - began, failure)


class Clients:
    """
    So many threads, each of which asks again when it has its reply; a context manager.

    Args:
        address: Host and port.
        path: What they ask.
        body: The one right answer, with status 200.
        threads: How many.
        keepalive: Whether a thread keeps its connection. A kept one that the server closed between
            two requests counts as a failure here.
        pause: Seconds between two requests of a thread.
        retry: Whether a thread repeats a request, once and on a new connection, if its kept
            connection was closed before a reply. HTTP allows that for a GET (RFC 9110, section
            9.2.2).
    """

    def __init__(self, address, path, body, *, threads=8, keepalive=False, pause=0.0, retry=False):
        self._asked = address, path, body
        self._keepalive = keepalive
        self._retry = retry
        self._pause = pause
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(threads)]
        self.outcomes = []
        """Of all threads, as they came."""

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def wait_for(self, count, timeout=60.0):
        """Wait until there are *count* outcomes more than now."""
        goal = len(self.outcomes) + count
        until(lambda: len(self.outcomes) >= goal, f"{count} more requests", timeout)

    @property
    def failed(self):
        """Return the outcomes that are not the right reply."""
        return [outcome for outcome in self.outcomes if outcome.failure]

    @property
    def longest(self):
        """Return the longest that any of them took, in seconds."""
        return max(outcome.took for outcome in self.outcomes)

    def account(self):
        """Return how many requests were lost, then when and how."""
        offset = time.time() - time.monotonic()
        when = Counter(
            (time.strftime("%H:%M:%S", time.gmtime(offset + outcome.began)), outcome.failure)
            for outcome in self.failed
        )
        count = f"{len(self.failed)} of {len(self.outcomes)} lost, slowest {self.longest:.2f} s"
        lines = [f"    lost at {at}: {times} x {failure}" for (at, failure), times in when.items()]
        return "\n".join([count, *lines])

    def _run(self):
        address, *request = self._asked
        kept = http.client.HTTPConnection(*address, timeout=TIMEOUT) if self._keepalive else None
        while not self._stop.wait(self._pause):
            reused = kept is not None and kept.sock is not None
            outcome = ask(address, *request, kept)
            if outcome.failure and kept is not None:
                kept.close()
                if self._retry and reused and outcome.failure.startswith(CLOSED):
                    outcome = ask(address, *request, kept)
                    if outcome.failure:
                        kept.close()
            self.outcomes.append(outcome)
        if kept is not None:
            kept.close()
