"""The HTTP router of uWSGI takes a large part of the server's CPU, and there is no more."""

from __future__ import annotations

from lab.analysis.causes import phrases
from lab.analysis.causes.hypothesis import Hypothesis, When
from lab.analysis.causes.signs import Signs
from lab.analysis.gates import BUSY
from lab.config.moves import http_socket
from lab.model.diagnosis import Cause

NAME = "router"

ROUTER_SHARE = 0.25
"""Of the server's CPU. Behind the router 0.28-0.30 was measured where its removal gives 1.6x: the
workers then also save the connection that it makes to them for every request."""


def _shows(s: Signs) -> Cause | None:
    used = s.get("server.router")
    if used is None or not s.used or used / s.used < ROUTER_SHARE:
        return None
    if not s.at_limit and used < BUSY:
        return None
    return Cause(
        NAME,
        f"uWSGI's HTTP router used {used:.2f} of the server's {s.used:.2f} cores "
        f"({used / s.used:.0%}); it opens a connection to a worker for every request",
        phrases.against(phrases.server(s), phrases.generator(s), phrases.drops(s)),
    )


HYPOTHESIS = Hypothesis(NAME, _shows, When.FULL_LOAD, move=http_socket.without_router)
