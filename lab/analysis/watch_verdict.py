"""What a watch comes to: the facts that matter, the gravest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lab.analysis.in_flight import InFlight, Look
from lab.model.notice import Notice
from lab.model.wording import counted

OFTEN = 0.05
"""Share of the looks from which a wait is more than chance."""

CPU_FULL = 0.8
"""Share of the cores that the workers can use, from which the CPU is the limit."""

STANDING = 0.1
"""Seconds for which bytes wait for an event loop that stands still."""

FARTHEST = 2.0
"""Multiple of the requests seen, beyond which nothing is concluded: what limits may be another."""

LEAST_BUSY = 0.5
"""Requests in workers on average, below which chance makes a multiple of them."""

MOST_GUESSED = 0.05
"""Share of guesses from which they are named, and nothing is concluded from figures."""

LEAST = 0.05
"""Requests in flight on average, below which a watch says nothing."""


class WatchNotice(Notice):
    """A fact about a running server, with the page that explains it."""

    __slots__ = ()

    page = ""
    """Below `docs`."""


@dataclass(frozen=True, slots=True)
class HandshakesDropped(WatchNotice):
    """The accept queue was full."""

    number: int
    limit: int
    page = "explanation/what-limits-uwsgi.md#1-the-accept-queue"

    def sentence(self) -> str:
        """Name the number, and what to raise."""
        return (
            f"{counted(self.number, 'handshake')} found the accept queue of {self.limit} full, and "
            "such a client waits for a second or more: raise listen (uWSGI) or backlog, and "
            "net.core.somaxconn to at least that."
        )


@dataclass(frozen=True, slots=True)
class LoopStoodStill(WatchNotice):
    """Bytes waited for an event loop."""

    seconds: float
    page = "explanation/non-blocking.md"

    def sentence(self) -> str:
        """Name the longest wait."""
        return (
            f"Bytes waited up to {self.seconds:.1f} s for an event loop: a blocking call in async "
            "code, or computing, holds up all requests of its worker."
        )


@dataclass(frozen=True, slots=True)
class UnevenWorkers(WatchNotice):
    """Requests waited in one worker while another had free threads."""

    looks: float
    """Share of the looks."""
    busiest: int
    time: float
    """Share of the time that requests spent in the busiest worker."""
    page = "how-to/how-busy.md#read-the-figures"

    def sentence(self) -> str:
        """Name the busiest worker."""
        return (
            f"In {self.looks:.0%} of the looks a request waited in one worker while another had a "
            f"free thread; worker {self.busiest} takes {self.time:.0%} of the time. A connection "
            "stays with the worker that accepted it: use more workers with fewer threads, or let "
            "the proxy in front keep no connections."
        )


@dataclass(frozen=True, slots=True)
class CpuFull(WatchNotice):
    """Requests waited, and the workers had no more CPU."""

    cpu: float
    """Cores that the workers used."""
    others: bool = False
    """Whether other programs used most of the rest."""
    page = "explanation/what-limits-uwsgi.md#4-the-application"

    def sentence(self) -> str:
        """Say that more threads would not help."""
        rest = (
            ", and other programs most of the rest" if self.others else ", which is most of theirs"
        )
        return (
            f"Requests waited, and the workers used {self.cpu:.1f} cores{rest}: "
            "the CPU is the limit, and more threads do not help."
        )


@dataclass(frozen=True, slots=True)
class WorkersFull(WatchNotice):
    """Requests waited although there was CPU."""

    waited: float
    """Share of the looks."""
    awaited: str = ""
    """The server that most of their threads wait for; empty: none, or unknown."""
    page = "how-to/processes-and-threads.md"

    def sentence(self) -> str:
        """Say what to add."""
        return (
            f"In {self.waited:.0%} of the looks a request waited, and the CPU had room: the number "
            "of workers and threads is the limit."
            + f" Most requests in them wait for {self.awaited}."
            * bool(self.awaited)
        )


@dataclass(frozen=True, slots=True)
class RoomLeft(WatchNotice):
    """Nothing waited."""

    p95: int
    capacity: int
    mean: float | None
    """Requests in workers; None: too few, or guesses, to say what more requests would do."""
    workers: float
    """How many times the requests of the watch the workers have room for, by Little's law."""
    cpu: float
    """How many times these requests the CPU has room for."""
    page = "how-to/how-busy.md#how-many-more"

    def sentence(self) -> str:
        """Name how many are needed, and how many more there may be."""
        now = f"Nothing waits: at p95 {self.p95} of {self.capacity} requests at once."
        end = "This says nothing of a busier hour."
        if self.mean is None:
            return f"{now} {end}"
        first = "workers" if self.workers <= self.cpu else "CPU"
        limit = f", so the {first} would be the limit" if self._least < FARTHEST else ""
        return (
            f"{now} As long as a request takes as long as now, the workers have room for "
            f"{_times(self.workers)} the requests of this watch ({self.mean:.1f} of "
            f"{self.capacity} on average, Little's law), and the CPU for {_times(self.cpu)} of "
            f"them{limit}. Requests begin to wait before that. {end}"
        )

    @property
    def _least(self) -> float:
        return min(self.workers, self.cpu)


def _times(number: float) -> str:
    """Return a multiple in words, but none beyond what can be concluded."""
    return f"at least {FARTHEST:g} times" if number >= FARTHEST else f"{number:.1f} times"


@dataclass(frozen=True, slots=True)
class TooLittleTraffic(WatchNotice):
    """Hardly a request was in flight."""

    page = "how-to/how-busy.md#what-it-cannot-tell"

    def sentence(self) -> str:
        """Say so."""
        return "Hardly any request was in flight: watch at a busier hour."


def uneven(looks: Sequence[Look], threads: int, workers: int) -> float:
    """Return the share of *looks* at which one worker had too many requests and another too few."""

    def is_uneven(look: Look) -> bool:
        held = [worker.busy + worker.unread for worker in look.workers.values()]
        free = min(held, default=0) < threads or len(held) < workers
        return max(held, default=0) > threads and free

    return sum(map(is_uneven, looks)) / len(looks)


def verdict(
    figures: InFlight,
    looks: Sequence[Look],
    *,
    threads: int | None,
    loops: bool,
    cpu: Sequence[float],
    cores: int,
    dropped: int | None,
    idle: float | None = None,
    awaited: str = "",
) -> list[WatchNotice]:
    """
    Return what matters, the gravest first; empty where nothing can be said.

    Args:
        figures: Of all looks.
        looks: The looks.
        threads: Requests that a worker can process at once; None: any number, or unknown.
        loops: Whether workers are event loops.
        cpu: Cores that each worker used.
        cores: Of the machine.
        dropped: Handshakes; None: unknown.
        idle: Cores of the machine that were idle; None: unknown.
        awaited: The server that most threads wait for; empty: none, or unknown.
    """
    usable = min(cores, len(cpu))
    free = usable if idle is None else min(usable, sum(cpu) + idle)
    return [*_notices(figures, looks, threads, loops, cpu, usable, free, dropped, awaited)]


def _notices(  # noqa: PLR0917 - as above
    figures: InFlight,
    looks: Sequence[Look],
    threads: int | None,
    loops: bool,
    cpu: Sequence[float],
    usable: int,
    free: float,
    dropped: int | None,
    awaited: str,
) -> Iterator[WatchNotice]:
    if dropped:
        yield HandshakesDropped(dropped, figures.limit)
    if figures.in_flight.mean < LEAST:
        yield TooLittleTraffic()
        return
    if loops and figures.oldest_unread > STANDING:
        yield LoopStoodStill(figures.oldest_unread)
    if threads is None or not cpu:
        return
    if figures.waited <= OFTEN:
        if not dropped:
            yield _room_left(figures, threads * len(cpu), cpu, free)
        return
    apart = uneven(looks, threads, len(cpu))
    if apart > OFTEN:
        busiest = max(figures.workers, key=lambda worker: worker.in_flight)
        yield UnevenWorkers(apart, busiest.pid, busiest.time or 0.0)
    elif sum(cpu) >= CPU_FULL * free:
        yield CpuFull(sum(cpu), others=sum(cpu) < CPU_FULL * usable)
    else:
        yield WorkersFull(figures.waited, awaited)


def _room_left(figures: InFlight, capacity: int, cpu: Sequence[float], cores: float) -> RoomLeft:
    """
    Return how much room there is.

    By Little's law the requests in workers are their rate times the time of one; while that time
    stays, they grow as the rate does.
    """
    mean = figures.in_workers.mean
    is_known = mean >= LEAST_BUSY and figures.guessed <= MOST_GUESSED
    return RoomLeft(
        figures.in_workers.p95,
        capacity,
        mean if is_known else None,
        capacity / mean if mean else FARTHEST,
        cores / sum(cpu) if sum(cpu) else FARTHEST,
    )
