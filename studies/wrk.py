"""
The load tool `wrk`: a cross-check of the engine's counts and of its cost.

It checks neither length nor body, counts a read error for nearly every reply of a server that
closes the connection after it, and leaves no trace of a connection that is never answered (4.1.0).
"""

from __future__ import annotations

import re

from lab.bench.load.tool import ToolCounts
from lab.errors import GeneratorError

PACKAGE = "wrk"

_TOTAL = re.compile(r"^\s*(\d+) requests in ([0-9.]+)(us|ms|s|m|h),", re.MULTILINE)
_SOCKET = re.compile(r"^\s*Socket errors: (.*)$", re.MULTILINE)
_STATUS = re.compile(r"^\s*Non-2xx or 3xx responses: (\d+)", re.MULTILINE)
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def wrk_command(url: str, connections: int, seconds: int, *, keepalive: bool) -> list[str]:
    """Return the command that loads *url* for whole *seconds* from one thread."""
    close = [] if keepalive else ["-H", "Connection: close"]
    return ["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", *close, url]


def parse_wrk(output: str) -> ToolCounts:
    """
    Return what wrk printed.

    Raises:
        GeneratorError: It is not a whole report.
    """
    total = _TOTAL.search(output)
    if total is None:
        raise GeneratorError(f"wrk printed no count of requests: {output[-500:]!r}")
    errors: dict[str, int] = {}
    sockets = _SOCKET.search(output)
    for part in sockets[1].split(", ") if sockets else ():
        name, _, count = part.partition(" ")
        errors[name] = int(count)
    status = _STATUS.search(output)
    if status:
        errors["status"] = int(status[1])
    return ToolCounts(
        requests=int(total[1]),
        seconds=float(total[2]) * _SECONDS[total[3]],
        errors={name: count for name, count in errors.items() if count},
    )
