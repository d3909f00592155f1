"""Whether a reply is the correct one."""

from __future__ import annotations

import re

from lab.model import Expectation


class Judge:
    """
    Compares complete replies with an expectation.

    Args:
        expect: With neither body nor pattern, the first reply of the right status defines the body.
    """

    def __init__(self, expect: Expectation) -> None:
        self._status = expect.status
        self._body = expect.body
        self._pattern = None if expect.pattern is None else re.compile(expect.pattern.encode())

    def fault(self, status: int, body: bytes) -> str | None:
        """Return the error class of a reply, "status" or "body"; None for a correct one."""
        if status != self._status:
            return "status"
        if self._pattern is not None and not self._pattern.search(body):
            return "body"
        if self._body is None and self._pattern is None:
            self._body = body
        if self._body is not None and body != self._body:
            return "body"
        return None
