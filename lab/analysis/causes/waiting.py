"""
Rules for clients that wait while the server could do more: for a handshake, a log, a worker.

Thresholds are priors, put to the test by the planted causes of `lab selftest`. A rule whose
readings are absent is silent.
"""

from __future__ import annotations

from lab.analysis.causes import words
from lab.analysis.causes.signs import BEHIND, STALL_LEAST, Signs
from lab.analysis.gates import BUSY, LATE
from lab.model import Cause

LOST_SHARE = 0.05
"""Share of the clients' time from which a wait limits, and is not merely something that happens."""

WAITING = 3.0
"""How many times longer than it computes a worker holds a request, when it mostly waits."""

SLEEPS = 0.5
"""Voluntary switches a reply: who waits within a request gives the CPU up about once in each."""

IN_LINE = 0.5
"""Median latency over connections / throughput. It is 1 where all requests wait in one line for a
worker, and far less where a few of them wait very long."""

IO_PRESSURE = 0.05
"""Share of the time in which some task waited for a disk; a quiet machine shows below 0.01."""

MEMORY_PRESSURE = 0.01
"""Share of the time in which some task waited for memory; 0 as long as there is enough."""


def accept_queue(s: Signs) -> Cause | None:
    """Handshakes were dropped from a full queue, and clients waited for the kernel's retry."""
    if "accept queue" not in s.gates or s.lost <= LOST_SHARE:
        return None
    return Cause(
        "accept queue",
        f"{s.get('listener.drops'):,.0f} handshakes dropped from a full queue, "
        f"{s.get('tcp.TCPSynRetrans') or 0:,.0f} sent again; {s.late:,} replies later than "
        f"{LATE:g} s; {s.lost:.0%} of the clients' time went to waiting for retries",
        words.against(words.server(s), words.generator(s)),
    )


def generator(s: Signs) -> Cause | None:
    """The client was at its limit and the server was not."""
    seen = s.gates.get("generator-bound") or s.gates.get("late generator")
    if seen is None:
        return None
    return Cause("generator", seen, words.against(words.server(s), words.drops(s)))


def logging_blocks(s: Signs) -> Cause | None:
    """The request log goes into a pipe whose reader is slower than the server."""
    if not s.logs or s.get("server.log_pipe") != 1.0 or s.share is None or s.at_limit:
        return None
    if s.generator >= BUSY:
        return None
    written = s.each("server.writes")
    if written is not None and written < 1:
        return None
    return Cause(
        "logging",
        "a line is logged for each request, into a pipe, and the server used only "
        f"{s.share:.0%} of its CPU: it waits for the pipe's reader",
        words.against(words.generator(s), words.drops(s)),
    )


def workers_asleep(s: Signs) -> Cause | None:
    """All workers are occupied, and mostly wait within a request; the CPUs are idle."""
    if s.processes is None or s.at_once is None or s.share is None or s.cpu is None:
        return None
    places = s.processes * s.at_once
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
        "workers asleep",
        f"{places} requests are served at a time, {s.rate:,.0f} a second: each occupies its "
        f"worker for {held * 1e3:.3g} ms and computes for {s.cpu * 1e3:.2g} ms of it",
        words.against(words.server(s), words.generator(s), words.drops(s)),
    )


def respawning(s: Signs) -> Cause | None:
    """Workers were replaced in the window, and it was felt."""
    replaced = s.get("server.respawned") or 0.0
    idle = s.load.rate is None and s.share is not None and not s.at_limit
    every = s.processes is not None and replaced >= s.processes
    if replaced < 1 or not (idle or every or s.stalled > LOST_SHARE):
        return None
    return Cause(
        "respawning",
        f"{replaced:.0f} worker processes began in the window; {s.stalls:,} replies took far "
        f"longer than the median, {s.stalled:.0%} of the clients' time",
        words.against(words.server(s), words.drops(s)),
    )


def stalls(s: Signs) -> Cause | None:
    """The server stands still from time to time."""
    resent = s.get("tcp.TCPSynRetrans") or 0.0
    if s.stalled <= LOST_SHARE or s.get("listener.drops") or resent >= 1:
        return None
    return Cause(
        "stalls",
        f"{s.stalls:,} replies took longer than {STALL_LEAST * 1e3:.0f} ms and far longer than the "
        f"median of {s.p50 * 1e3:.3g} ms: {s.stalled:.0%} of the clients' time",
        words.against(
            words.drops(s), "no handshake was sent again" if resent == 0 else "", words.server(s)
        ),
    )


def io_wait(s: Signs) -> Cause | None:
    """Tasks waited for a disk while the server had CPU left."""
    waited = s.get("pressure.io_some") or 0.0
    if waited <= IO_PRESSURE or s.at_limit or s.share is None:
        return None
    return Cause(
        "I/O wait",
        f"some task of this machine waited for a disk in {waited:.0%} of the time",
        words.against(words.server(s), words.generator(s)),
    )


def memory(s: Signs) -> Cause | None:
    """Tasks waited for memory."""
    waited = s.get("pressure.memory_some") or 0.0
    if waited <= MEMORY_PRESSURE:
        return None
    return Cause(
        "memory",
        f"some task of this machine waited for memory in {waited:.1%} of the time",
        words.against(words.server(s), words.generator(s)),
    )
