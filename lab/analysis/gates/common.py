"""Limits and withheld metrics that several gates share."""

from __future__ import annotations

from lab.analysis.metrics import merged_latency, merged_service, quantile, server_cpu, usable_cores
from lab.model.measurement import Trial
from lab.model.metric import Of, made_of

FAILED_SHARE = 0.01
"""Failures cost a server other work than replies do; from 1 % on the sum is a mixture."""

FAILED_SHARE_TAIL = 0.001
"""Percentiles are of replies only. With 0.1 % failed, a tenth of the slowest 1 % is missing, and
what is printed as p99 is another percentile."""

FAIR_REPLIES = 10
"""Mean replies a connection from which a share can be judged: with equal service none then gets
nothing, and replies that the window's edges cut in two are at most a tenth of the whole."""

LITTLE_EXCESS = 1.5
"""Consistent closed loops show 0.95-1.02; at 1.5 a third of the connections' time is nowhere."""

ERROR_PAUSE = 0.010
"""Seconds that the engine's connection waits after an error; a timeout costs the load's own."""

BUSY = 0.9
"""Share of its cores from which a process is at its limit: the rest goes to interrupts."""

LATE = 0.9
"""Seconds: the kernel repeats a dropped handshake after 1 s, and 10 % is left for its ticks."""

RATE_KEPT = 0.98
"""Open loop: share of the planned requests with an outcome from which the rate was kept. What is
under way at the window's edges is far less."""

WAITED = 1.25
"""Open loop: latency over service time, of the fastest tenth, above which every request waited to
be sent. A server that merely stalls answers most requests at once."""

PERCENTILES = made_of(Of.PERCENTILE)

TIME_BASED = made_of(Of.PERCENTILE | Of.RATE)

ON_THE_WAY = made_of(Of.PERCENTILE | Of.RATE | Of.GENERATOR)
"""Where clients waited for the network, and the generator had less to do than for the server."""


def server_cores(trial: Trial) -> float:
    """
    Return the cores that there were for the server; one where that was not read.

    A gate that compares with it then fires only where the server was below its limit whatever it
    had.
    """
    cores = left_over(trial) if trial.shares_cores else usable_cores(trial.readings)
    return 1.0 if cores is None else cores


def left_over(trial: Trial) -> float | None:
    """
    Return the cores that the server could have had: those it used, and those that stood idle.

    On the others somebody else ran: strangers, or the generator where both share cores. At least
    half of its cores, because a server that sleeps while strangers compute is not at its limit.
    None where its cores were not read.
    """
    cores, idle = usable_cores(trial.readings), trial.readings.get("server.idle")
    used = server_used(trial)
    if cores is None or used is None or idle is None:
        return cores
    return min(cores, max(used + idle, cores / 2))


def at_limit(trial: Trial) -> bool:
    """Return whether the server, or one of its processes, is known to be at its limit."""
    used = server_used(trial)
    full = used is not None and used >= BUSY * server_cores(trial)
    return full or trial.readings.get("server.busiest", 0.0) >= BUSY


def generator_share(trial: Trial) -> float:
    """
    Return the share of the time for which the busiest generator process ran or waited for a CPU.

    On a shared machine a saturated client may have run for 0.4 of it only.
    """
    return max(
        ((window.cpu + window.wait) / window.wall for window in trial.windows if window.wall > 0),
        default=0.0,
    )


def generator_may_grow(trial: Trial) -> bool:
    """
    Return whether the generator has a core for another process; true where that was not read.

    A generator that is not pinned may use every core.
    """
    cores = trial.readings.get("machine.cores")
    if cores is None:
        return True
    return cores - trial.readings.get("server.cores", 0.0) > len(trial.windows)


def server_used(trial: Trial, elapsed: float | None = None) -> float | None:
    """
    Return the cores that the server and its backends used; None where its CPU was not read.

    Args:
        trial: Its trial.
        elapsed: Seconds that belong to its CPU, where the probes did not tell.
    """
    seconds = server_cpu(trial.readings)
    elapsed = trial.readings.get("elapsed", elapsed)
    if seconds is None or not elapsed:
        return None
    return (seconds + trial.readings.get("backend.cpu", 0.0)) / (elapsed * trial.share)


def fell_behind(trial: Trial) -> bool:
    """Return whether an open loop's rate was not kept; False of a closed one."""
    planned = trial.total("planned")
    ended = sum(window.ok + sum(window.errors.values()) for window in trial.windows)
    queued = trial.total("queued")
    if not planned or (ended >= RATE_KEPT * planned and not queued):
        return False
    latency, service = merged_latency(trial.windows), merged_service(trial.windows)
    if not latency or not service:
        return True  # nothing was answered at all
    return quantile(latency, 0.1) > WAITED * quantile(service, 0.1)
