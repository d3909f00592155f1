"""All workers are occupied, and mostly wait within a request; the CPUs are idle."""

from __future__ import annotations

from lab.analysis.causes import phrases
from lab.analysis.causes.hypothesis import Hypothesis, When
from lab.analysis.causes.signs import BEHIND, Signs
from lab.config.moves import processes
from lab.model.diagnosis import Cause

NAME = "workers asleep"

WAITING = 3.0
"""How many times longer than it computes a worker holds a request, when it mostly waits."""

SLEEPS = 0.5
"""Voluntary switches per reply: who waits within a request gives the CPU up about once in each."""

IN_LINE = 0.5
"""Median latency over connections / throughput. It is 1 where all requests wait in one line for a
worker, and far less where a few of them wait very long."""


def _shows(s: Signs) -> Cause | None:
    places = s.settings.places
    if places is None or s.share is None or s.cpu is None:
        return None
    held = places / s.rate
    resent = s.get("tcp.TCPSynRetrans") or 0.0
    if places >= s.load.connections or resent >= 1:
        return None
    # One process at its limit leaves most of many cores idle, and is wide awake.
    if max(s.share, s.generator, s.get("server.busiest") or 0.0) >= BEHIND:
        return None
    if s.get("listener.drops") or held < WAITING * s.cpu or (s.switches or 0.0) < SLEEPS:
        return None
    if s.p50 < IN_LINE * s.load.connections / s.rate:
        return None
    return Cause(
        NAME,
        f"{places} requests are served at a time, {s.rate:,.0f} a second: each occupies its "
        f"worker for {held * 1e3:.3g} ms and computes for {s.cpu * 1e3:.2g} ms of it",
        phrases.against(phrases.server(s), phrases.generator(s), phrases.drops(s)),
    )


HYPOTHESIS = Hypothesis(NAME, _shows, When.FULL_LOAD, move=processes.doubled)
