"""What came of a watch: of each second, and of all of it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lab.analysis.in_flight import InFlight, Look, in_flight_of
from lab.analysis.watch_verdict import MOST_GUESSED, WatchNotice, verdict
from lab.bench.probes.watching import BUDGET, LEARNING, PERIOD, Watching
from lab.cli.watch.target import WatchTarget
from lab.model.wording import in_a_line

SECOND = 1.0
"""Seconds of looks in a line."""

SPARSE = 0.5
"""Share of the looks that could have been made, below which that is told."""


@dataclass(frozen=True, slots=True)
class WorkerUse:
    """One worker, over a time."""

    pid: int
    in_flight: float | None
    """Mean; None: unknown."""

    time: float | None
    """Share of the time that requests spent in all workers; None: unknown, or none was spent."""

    segments: float | None
    """Share of the segments with data that clients sent; None: as above."""

    cpu: float | None
    """Share of a core since the watch began; None: it has just ended."""

    threads: Sequence[tuple[str, float]] = ()
    """Where its threads were since the watch began, and how many there on average; most first."""


@dataclass(frozen=True, slots=True)
class Period:
    """A second, or all of a watch."""

    at: float
    """Seconds since 1970, at its end."""

    seconds: float
    """How long the watch has counted, up to its end."""

    figures: InFlight
    capacity: int | None
    """Requests that its workers can process at once; None: any number, or unknown."""

    workers: Sequence[WorkerUse]
    started: int
    """Workers that have started since the watch began."""

    dropped: int | None
    """Handshakes that a full accept queue dropped since the watch began; None: unknown."""

    cost: float
    """Share of a core that the watch itself uses."""


@dataclass(frozen=True, slots=True)
class WatchResult:
    """A whole watch."""

    target: WatchTarget
    whole: Period
    verdict: Sequence[WatchNotice]
    """What matters, the gravest first."""

    not_known: Sequence[str]

    @property
    def busy(self) -> int:
        """The number for `lab tune --busy`: p95 of the requests in flight, at least 1."""
        return max(1, self.whole.figures.in_flight.p95)


def period_of(watching: Watching[WatchTarget], looks: Sequence[Look]) -> Period:
    """Return the period of some looks of a watch, one at least."""
    elapsed = watching.elapsed
    threads = watching.target.settings.threads
    figures = in_flight_of(looks, threads)
    shares = {share.pid: share for share in figures.workers}
    pids = watching.workers.shown(shares)
    known = not watching.workers.refused
    uses = []
    for pid in pids:
        share, cpu = shares.get(pid), watching.workers.cpu(pid)
        uses.append(
            WorkerUse(
                pid=pid,
                in_flight=(share.in_flight if share else 0.0) if known else None,
                time=share.time if share else None,
                segments=share.segments if share else None,
                cpu=None if cpu is None else cpu / elapsed,
                threads=watching.waits.of(pid),
            )
        )
    return Period(
        at=time.time(),
        seconds=elapsed - LEARNING,
        figures=figures,
        capacity=threads * len(pids) if threads and pids else None,
        workers=uses,
        started=watching.workers.started,
        dropped=watching.dropped(),
        cost=watching.cost,
    )


def verdict_of(
    watching: Watching[WatchTarget], looks: Sequence[Look], whole: Period
) -> list[WatchNotice]:
    """Return what a watch comes to."""
    settings = watching.target.settings
    return verdict(
        whole.figures,
        looks,
        threads=settings.threads,
        loops=settings.loops,
        cpu=[use.cpu for use in whole.workers if use.cpu is not None],
        cores=os.cpu_count() or 1,
        idle=watching.idle,
        dropped=whole.dropped,
        awaited=in_a_line(watching.waits.awaited(whole.figures.in_workers.mean / 2)),
    )


def not_known(watching: Watching[WatchTarget], whole: Period) -> Iterator[str]:
    """Yield what a watch cannot tell, each with how to have it."""
    target, figures = watching.target, whole.figures
    if watching.workers.refused:
        user = target.listeners[0].uid
        yield (
            f"not as this user: which worker has a request; run `lab watch` as root, or as user "
            f"{user} if the server has not changed its user itself"
        )
    elif not target.settings.loops and target.settings.threads is None:
        yield f"how many requests the server can process at once: {target.settings.unknown}"
    elif watching.waits.refused:
        yield (
            "where threads wait: only root may see it, and the server's user where "
            "kernel.yama.ptrace_scope is 0; on x86-64 and ARM"
        )
    if watching.waits.polled:
        yield "what a thread in poll waits for: `py-spy dump --pid` shows its line, and stops it"
    if target.is_unix and not target.settings.closes:
        yield (
            "which connections have a request: the kernel keeps no times for a UNIX socket, so "
            "connections that are kept for later count as in flight; watch the port of the proxy "
            "in front, such as nginx's"
        )
    if figures.guessed > MOST_GUESSED:
        yield (
            f"whether a request was in flight is a guess for {figures.guessed:.0%} of the "
            "connections: replies take less than a tick of the kernel's clock"
        )
    if figures.looks < SPARSE / PERIOD * whole.seconds:
        yield (
            f"short peaks: only {figures.looks / whole.seconds:.1f} looks a second cost "
            f"no more than {BUDGET:.0%} of a core here"
        )
