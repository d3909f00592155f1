"""How many requests a running server has in flight, for a command that loads another one so."""

from __future__ import annotations

from lab.bench.probes.sock_diag import SocketDiagnosis
from lab.bench.probes.watching import Watching
from lab.cli.watch.result import WatchResult, not_known, period_of
from lab.cli.watch.target import find_target
from lab.errors import UsageError
from lab.model.wording import counted, in_a_line
from lab.report.edge import say

SECONDS = 60.0
"""For which the server is watched."""


def watched_busy(server: str) -> int:
    """
    Watch a server for a minute; return the p95 of its requests in flight, and say it.

    Raises:
        LabError: There is no such server, or it has no request in flight.
    """
    target = find_target(server)
    place = in_a_line(target.name)
    say(f"watching {place} for {SECONDS:g} s, reading only", err=True)
    with SocketDiagnosis(target.space) as diagnosis:
        watching = Watching(target, diagnosis)
        looks = list(watching.looks(SECONDS))
        if not looks:
            raise UsageError(f"{place}: this machine left no CPU for a look: give --busy yourself")
        whole = period_of(watching, looks)
    if not whole.figures.in_flight.most:
        raise UsageError(f"{place} had no request in flight: watch it at its busiest hour")
    result = WatchResult(target, whole, (), [*not_known(watching, whole)])
    requests = counted(result.busy, "request")
    say(f"{place}: {requests} in flight at p95, the number for --busy", err=True)
    return result.busy
