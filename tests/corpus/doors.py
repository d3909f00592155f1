"""The ways by which a request reaches the application, each with how it is asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from tests.corpus.play import AT_ONCE
from tests.corpus.stand import Stand, Storm, instead, stand

_TARGET = re.compile(rb"\A([!-~]+ )\S*")


@dataclass(frozen=True)
class Door:
    """A way in."""

    name: str
    start: Callable[[], AbstractContextManager[Stand]]
    """Runs the server behind it until the block ends."""
    nginx: bool = False
    """Whether nginx is in front: it must not let anything through that is no HTTP."""
    target: bytes | None = None
    """What takes the place of a request's target, where only that is answered."""

    def storm(self, server: Stand, requests: Iterable[bytes]) -> Storm:
        """Send *requests* through this door; see `Stand.storm`."""
        stays, at_once = (1.0, 256) if self.nginx else (0.0, AT_ONCE)
        return server.storm(requests, stays, at_once, server.figures if self.target else None)

    def aim(self, request: bytes) -> bytes:
        """
        Return *request* with the target that this door answers.

        >>> FIGURES.aim(b"GET /9 HTTP/1.1")
        b'GET /metrics/a HTTP/1.1'
        """
        if self.target is None:
            return request
        return _TARGET.sub(lambda match: match[1] + (self.target or b""), request)


SOCKET = Door("http-socket", lambda: stand("tuned"))
ROUTER = Door("HTTP router", lambda: instead("http"))
HTTP11 = Door("http11-socket", lambda: instead("http11-socket"))
FRONT = Door("behind nginx", lambda: stand("production", workers=2), nginx=True)
FIGURES = Door("port 8081", FRONT.start, nginx=True, target=b"/metrics/a")

DOORS = (SOCKET, ROUTER, HTTP11, FRONT, FIGURES)
