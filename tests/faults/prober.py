"""
Clients that ask the same again and again, and remember what became of each request.

Plain threads and http.client, and nothing of the lab: what a fault cost is to be told by something
that shares no code with what `lab stress` tells it by.
"""

import http.client
import threading
import time
from dataclasses import dataclass

from tests.kit.lab_process import until

TIMEOUT = 20.0
"""Seconds until a client gives up; more than any bound that is asserted."""


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
    """

    def __init__(self, address, path, body, *, threads=8, keepalive=False, pause=0.0):
        self._asked = address, path, body
        self._keepalive = keepalive
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
        return [each for each in self.outcomes if each.failure]

    @property
    def longest(self):
        """Return the longest that any of them took, in seconds."""
        return max(each.took for each in self.outcomes)

    def _run(self):
        address, *asked = self._asked
        kept = http.client.HTTPConnection(*address, timeout=TIMEOUT) if self._keepalive else None
        while not self._stop.wait(self._pause):
            outcome = ask(address, *asked, kept)
            self.outcomes.append(outcome)
            if outcome.failure and kept is not None:
                kept.close()
        if kept is not None:
            kept.close()
