"""
What a diagnosis looks at: a trial's readings and windows, brought to the same few figures.

A figure is None where a reading that it needs was not taken; a rule that needs it is then silent,
because nothing can be concluded from what was not seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.analysis.gates import BUSY, LATE
from lab.analysis.gates.common import left_over
from lab.analysis.metrics import merged_latency, quantile, server_cpu, usable_cores
from lab.config import servers
from lab.config.meaning import Settings
from lab.model.finding import Gate
from lab.model.measurement import Trial, Window
from lab.model.plan import Load
from lab.model.profile import Profile

STALL_FACTOR = 20
"""A reply so many times slower than the median did not merely queue: at full load the slowest 1 %
of a sound server's replies stay below 3 times the median."""

STALL_LEAST = 0.100
"""Seconds: shorter gaps are the scheduler's, which lets eight busy processes take turns."""

LOST_SHARE = 0.05
"""Share of the clients' time from which a wait limits, and is not merely something that happens."""

IDLE_CORE = 0.5
"""Idle cores that a second process could use; with less it would gain too little to be a cause."""

BEHIND = 0.7
"""Share of their cores below which server and generator were waiting for something else."""


@dataclass(frozen=True, slots=True)
class Signs:
    """The figures of one trial; "a reply" is of correct ones."""

    gates: Mapping[Gate, str]
    """Gates that fired -> what each saw."""
    readings: Mapping[str, float]
    settings: Settings
    """What the profile's options mean."""
    profile: Profile
    load: Load
    rate: float
    """Replies a second."""
    probed: float | None
    """Replies while the readings were taken."""
    connects: float
    """Connections opened a reply."""
    generator: float
    """Share of the time in which the busiest generator process ran or waited for a CPU."""
    used: float | None
    """Cores that the server used."""
    cores: float | None
    """Cores that it may use."""
    capacity: float | None
    """Cores that were there for it: fewer where its backends, the generator and others ran on
    them, too."""
    backend: float | None
    """Cores that its backends used; None without one."""
    shares_cores: bool
    """Whether the load generator could run on its cores, too."""
    p50: float
    """Seconds."""
    late: int
    """Replies later than the kernel's first retry of a handshake."""
    lost: float
    """Share of the clients' time that late replies, and connections without one, took."""
    stalls: int
    """Replies far slower than the median."""
    stalled: float
    """Share of the clients' time that those took beyond the median."""

    def get(self, reading: str) -> float | None:
        """Return a reading, None if it was not taken."""
        return self.readings.get(reading)

    def per_reply(self, reading: str) -> float | None:
        """Return a count a reply, None if it was not taken."""
        count = self.readings.get(reading)
        return None if count is None or not self.probed else count / self.probed

    @property
    def switches(self) -> float | None:
        """Voluntary context switches per reply."""
        return self.per_reply("server.switches_voluntary")

    @property
    def cpu(self) -> float | None:
        """CPU seconds a reply."""
        seconds = server_cpu(self.readings)
        return None if seconds is None or not self.probed else seconds / self.probed

    @property
    def system(self) -> float | None:
        """Share of the server's CPU that the kernel used on its behalf."""
        seconds = server_cpu(self.readings)
        return self.readings["server.cpu_system"] / seconds if seconds else None

    @property
    def share(self) -> float | None:
        """Share of its capacity that the server used."""
        return None if self.used is None or not self.capacity else self.used / self.capacity

    @property
    def threads(self) -> int:
        """Threads that serve requests in a worker: as configured, else as seen in the busiest."""
        return self.settings.at_once or int(self.readings.get("server.busiest_threads", 1))

    @property
    def interface(self) -> str:
        """How its server calls the application; see `lab.config.interface`."""
        return servers.of(self.profile).interface(self.profile)

    @property
    def is_idle(self) -> bool:
        """Whether server and generator wait for something that is no CPU, and no client is lost."""
        if self.share is None or self.get("listener.drops"):
            return False
        # One process at its limit leaves most of many cores idle, and is wide awake.
        return max(self.share, self.generator, self.get("server.busiest") or 0.0) < BEHIND

    @property
    def at_limit(self) -> bool:
        """Whether the server is known to use all that there was for it."""
        return self.share is not None and self.share >= BUSY


def signs(trial: Trial, gates: Mapping[Gate, str]) -> Signs | None:
    """
    Return the figures of *trial*; None without a window, or without a reply.

    Args:
        trial: What was measured.
        gates: Gates that fired -> what each saw.
    """
    windows = trial.windows
    replies = trial.total("ok")
    if not replies or any(window.wall <= 0 for window in windows):
        return None
    load = trial.slot.arm.load
    readings = trial.readings
    seconds, elapsed = server_cpu(readings), readings.get("elapsed")
    own_time = elapsed and elapsed * trial.share
    used = seconds / own_time if seconds is not None and own_time else None
    backend = readings["backend.cpu"] / own_time if own_time and "backend.cpu" in readings else None
    latency = merged_latency(windows)
    p50 = quantile(latency, 0.5)
    late = {us / 1e6: n for us, n in latency.items() if us >= LATE * 1e6}
    slow_from = max(STALL_LEAST, STALL_FACTOR * p50)
    slow = {us / 1e6: n for us, n in latency.items() if us >= slow_from * 1e6}
    answered, total = _clients_time(windows, load)
    rate = replies / max(window.wall for window in windows)
    return Signs(
        gates=gates,
        readings=readings,
        settings=servers.settings(trial.slot.arm.profile),
        profile=trial.slot.arm.profile,
        load=load,
        rate=rate,
        probed=_probed(replies, rate, elapsed, load),
        connects=trial.total("connections") / replies,
        generator=max((window.cpu + window.wait) / window.wall for window in windows),
        used=used,
        cores=usable_cores(readings),
        capacity=_without(left_over(trial), backend or 0.0),
        backend=backend,
        shares_cores=trial.shares_cores,
        p50=p50,
        late=sum(late.values()),
        lost=(_beyond(p50, late) + max(0.0, total - answered)) / total,
        stalls=sum(slow.values()),
        stalled=_beyond(p50, slow) / total,
    )


def _without(cores: float | None, backend: float) -> float | None:
    """Return what a backend left of *cores*; None where these were not read."""
    return None if cores is None else max(0.0, cores - backend)


def _probed(replies: int, rate: float, elapsed: float | None, load: Load) -> float | None:
    """Return the replies over the probes' interval; a counted load falls silent when it is done."""
    if load.requests is not None:
        return float(replies)
    return None if elapsed is None else rate * elapsed


def _beyond(p50: float, latency: Mapping[float, int]) -> float:
    """Return the seconds by which these replies took longer than the median."""
    return sum((seconds - p50) * count for seconds, count in latency.items())


def _clients_time(windows: tuple[Window, ...], load: Load) -> tuple[float, float]:
    """
    Return the seconds in which clients waited for replies that came, and all in which they waited.

    In a timed closed loop every connection always waits. In the others a connection without a
    request is idle on purpose, and only the replies' own time is known.
    """
    answered = sum(window.latency_sum for window in windows)
    if load.requests is not None or load.rate is not None:
        return answered, max(answered, 1e-9)
    return answered, sum(len(window.replies) * window.wall for window in windows)
