"""The request log holds the server up, or takes a share of its CPU."""

from __future__ import annotations

from lab.analysis.causes import phrases
from lab.analysis.causes.hypothesis import Hypothesis, When
from lab.analysis.causes.signs import Signs
from lab.analysis.gates import BUSY
from lab.config.moves import request_log
from lab.model.diagnosis import Cause

NAME = "logging"

LOG_LINE = 40
"""Bytes logged a reply; uWSGI's own line has above 100, the shortest useful format half."""


def _blocks(s: Signs) -> Cause | None:
    """The request log goes into a pipe whose reader is slower than the server."""
    if not s.settings.logs or s.get("server.log_pipe") != 1.0 or s.share is None or s.at_limit:
        return None
    if s.generator >= BUSY:
        return None
    written = s.each("server.writes")
    if written is not None and written < 1:
        return None
    return Cause(
        NAME,
        "a line is logged for each request, into a pipe, and the server used only "
        f"{s.share:.0%} of its CPU: it waits for the pipe's reader",
        phrases.against(phrases.generator(s), phrases.drops(s)),
    )


def _costs(s: Signs) -> Cause | None:
    """The request log takes CPU: never what limits first, and worth a toggle."""
    logged = s.each("server.logged")
    if not s.settings.logs or not s.at_limit:
        return None
    if s.get("server.log_pipe") == 1.0:
        sink = "a line into a pipe"
    elif logged is not None and logged >= LOG_LINE:
        sink = f"{logged:.0f} bytes into a file"
    else:
        return None
    return Cause(NAME, f"{sink} for each request, by a server at the limit of its CPU")


BLOCKS = Hypothesis(NAME, _blocks, When.FULL_LOAD, move=request_log.without)

COSTS = Hypothesis(NAME, _costs, When.BESIDE, move=request_log.without)
