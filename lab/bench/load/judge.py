"""Whether a reply is the correct one."""

from __future__ import annotations

import re

from lab.model.request import LONGEST_BODY, Expectation

ROOM = 65536
"""Bytes by which a body may be too long and is still taken in: one read of a socket."""

GROWTH = 16
"""How much longer than the longest right body so far one that is held against a pattern may be. A
page that varies varies by less, and a thousand connections then hold sixteen thousand pages at the
most instead of 64 GB."""


class Judge:
    """
    Compares complete replies with an expectation.

    Args:
        expect: With neither body nor pattern, the first reply of the right status defines the body.
        bodiless: Whether the reply ends with its head, whatever length that tells: to HEAD.
    """

    def __init__(self, expect: Expectation, *, bodiless: bool = False) -> None:
        self.bodiless = bodiless
        self._status = expect.status
        self._body = expect.body
        self._pattern = None if expect.pattern is None else re.compile(expect.pattern.encode())
        self._longest = 0  # of the right ones so far, in bytes
        self.limit = LONGEST_BODY if expect.body is None else len(expect.body) + ROOM
        """Bytes of body from which a reply cannot be right; falls when a right one is known."""

    def fault(self, status: int, body: bytes) -> str | None:
        """Return the error class of a reply, "status" or "body"; None for a correct one."""
        if status != self._status:
            return "status"
        if self._pattern is not None and not self._pattern.search(body):
            return "body"
        if self._body is None and self._pattern is None:
            self._body = body
            self.limit = len(body) + ROOM
        if self._body is not None and body != self._body:
            return "body"
        if self._body is None and len(body) > self._longest:
            self._longest = len(body)
            self.limit = min(LONGEST_BODY, GROWTH * len(body) + ROOM)
        return None

    def fault_of_long(self, status: int) -> str:
        """Return the error class of a reply whose body exceeds the limit, as of a whole one."""
        return "status" if status != self._status else "body"
