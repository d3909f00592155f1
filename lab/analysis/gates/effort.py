"""Gates on who was at work: the generator, the server, somebody else, nobody."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping

from lab.analysis.gates import common
from lab.analysis.gates.replies import explained_time
from lab.analysis.metrics import merged_latency, merged_service, quantile, usable_cores
from lab.model.finding import Finding
from lab.model.measured import Trial
from lab.model.wording import counted

FOREIGN_CPU = 0.10
"""Cores used by others, for each core of the server: from here on a trial is repeated."""

FOREIGN_CPU_SEVERE = 0.50
"""The same: from here on the trial is the others' as much as the server's, and does not count."""

STEAL = 0.02
"""Share of time that the hypervisor gave to others; the floor of every comparison is 2 %."""

LATE_SHARE = 0.01
"""Open loop: share of requests sent late from which p99 is made of the generator's own delays."""

RATE_KEPT = 0.98
"""Open loop: share of the planned requests with an outcome from which the rate was kept. What is
under way at the window's edges is far less."""

WAITED = 1.25
"""Open loop: latency over service time, of the fastest tenth, above which every request waited to
be sent. A server that merely stalls answers most requests at once."""

CLOCK_STEP = 0.050
"""Seconds that the wall clock was set forwards or back: far more than reading two clocks can differ
by, and far less than any timer of a server that goes by it."""

IDLE = 0.5
"""Share of its cores below which server or generator had nothing to do for most of the time."""

SPARED = 0.25
"""Cores of the load, in an open loop on the server's own, below which it is a small neighbour."""

SLACK = 0.10
"""Share of shared cores that stands idle where something else than CPU holds the server back."""

FEW_REPLIES = 3
"""Replies a connection below which their number may be that of the connections, not of the work."""


def generator_bound(trial: Trial, _fired: Mapping[str, Finding]) -> Finding | None:
    """
    Judge whether the generator, not the server, was at its limit.

    A server with one process at its limit is at its own limit too, however many cores idle beside
    it. In an open loop a busy generator does no harm as long as the rate is kept.
    """
    used = common.server_used(trial)
    if used is None and trial.slot.arm.load.requests is not None:
        used = common.server_used(trial, max(window.wall for window in trial.windows))
    if used is None or (trial.slot.arm.load.rate is not None and not _fell_behind(trial)):
        return None
    share = common.generator_share(trial)
    cores = common.server_cores(trial)
    if (
        trial.shares_cores  # each takes CPU from the other, and neither is at a limit of its own
        or share < common.BUSY
        or used >= common.BUSY * cores
        or trial.readings.get("server.busiest", 0.0) >= common.BUSY
    ):
        return None
    return Finding(
        "generator-bound",
        f"the generator was busy for {share:.0%} of the time, the server used {used:.2f} of "
        f"{counted(cores, 'core')}",
        f"{_relief(trial)}; throughput here is the generator's.",
        withholds=common.TIME_BASED,
    )


def _relief(trial: Trial) -> str:
    """Return what takes work off the generator, as far as the trial's machine allows it."""
    if any(window.host for window in trial.windows):
        return "Start more of Locust's workers, where they have a CPU each"
    if common.generator_may_grow(trial):
        return (
            "Use a second generator process (lab run --generators 2, locust --processes 2) or a "
            "cheaper one"
        )
    return (
        "The generator has no core here for another process: load with fewer connections, or use a "
        "machine with more cores"
    )


def shared_cores(trial: Trial, _fired: Mapping[str, Finding]) -> Finding | None:
    """
    Judge whether the load took CPU that the server could have used.

    In a closed loop it does wherever they have a core in common, and takes as much as there are
    replies. So throughput lies between what was served and what the server's cores have CPU for.
    In an open loop that keeps its rate a small load leaves the percentiles as they are.
    """
    kept = trial.slot.arm.load.rate is not None and not _fell_behind(trial)
    taken = sum(window.cpu / window.wall for window in trial.windows if window.wall > 0)
    if not trial.shares_cores or (kept and taken < SPARED):
        return None
    cores, idle = usable_cores(trial.readings) or 1.0, trial.readings.get("server.idle", 0.0)
    slack = (
        f"; {idle:.2f} stood idle, so CPU alone did not limit it" if idle > SLACK * cores else ""
    )
    return Finding(
        "shared cores",
        f"the load ran on the server's {counted(cores, 'core')} and used {taken:.2f}{slack}",
        "What was served is the least that the server can do; what its cores have CPU for, the "
        "most. CPU per request is mostly lower than without the load beside it.",
        withholds=common.PERCENTILES if kept else common.TIME_BASED,
    )


def limiting_share(trials: Iterable[Trial]) -> float:
    """
    Return the share of the time for which the busiest generator process was busy.

    It is one that half of the trials reach or exceed; 0 without any. From `common.BUSY` on the
    throughput is the least that the server can do, however busy that was itself: each of the two
    at its limit keeps the other from showing more. An open loop that kept its rate counts as 0,
    because its throughput is the plan's.
    """
    shares = [
        common.generator_share(trial)
        if trial.slot.arm.load.rate is None or _fell_behind(trial)
        else 0.0
        for trial in trials
    ]
    return statistics.median_high(shares) if shares else 0.0


def late_generator(trial: Trial, _fired: Mapping[str, Finding]) -> Finding | None:
    """Judge whether an open loop's requests were sent when they were due."""
    planned = trial.total("planned")
    late = trial.total("late")
    if late <= LATE_SHARE * planned:
        return None
    return Finding(
        "late generator",
        f"{late:,} of {planned:,} requests were sent late although a connection was free",
        "Give the generator a core of its own, a second process, or a lower rate.",
        withholds=common.TIME_BASED,
    )


def overload(trial: Trial, fired: Mapping[str, Finding]) -> Finding | None:
    """
    Judge whether the server kept an open loop's rate.

    If not, the queue grows for as long as the window lasts, and latencies are the window's length.
    Throughput and CPU per request count: they are those of a server at its limit. Requests queued
    at the end are not enough, since a server that stalls at that moment, and catches up, keeps the
    rate; so even the fastest tenth of the replies must have waited to be sent.
    """
    asked = trial.slot.arm.load.rate
    if asked is None or "generator-bound" in fired or not _fell_behind(trial):
        return None
    rate = sum(window.ok / window.wall for window in trial.windows if window.wall > 0)
    queued = trial.total("queued")
    return Finding(
        "overload",
        f"{rate:,.0f} of {asked:,.0f} requests/s were answered and {queued:,} "
        "waited to be sent at the end: latency grows as long as this lasts",
        f"Ask for less than {rate:,.0f} requests/s, or give the server more.",
        withholds=common.PERCENTILES,
    )


def cut_off(trial: Trial, fired: Mapping[str, Finding]) -> Finding | None:
    """
    Judge which percentiles of an open loop a stall at the window's end makes too low.

    What has no reply then is in no percentile, whether it was sent or is still queued. In the last
    q seconds at most q * rate requests became due, and one more of each generator process; the
    rest of the unfinished have already waited for longer than q. A percentile is withheld where
    these are more than may lie beyond it.
    """
    unfinished = trial.total("unfinished")
    latency = merged_latency(trial.windows)
    rate = trial.slot.arm.load.rate
    if rate is None or not unfinished or not latency or "overload" in fired:
        return None
    known = latency.total() + unfinished
    older = unfinished - len(trial.windows)
    low = {
        name
        for name, share in {"p50": 0.5, "p90": 0.9, "p99": 0.99}.items()
        if older - quantile(latency, share) * rate > (1 - share) * known
    }
    if not low:
        return None
    return Finding(
        "cut off",
        f"{unfinished:,} of {known:,} requests had no reply when the window closed, the oldest "
        f"after {older / rate:.3g} s or more",
        "Open it for longer, so that a stall also ends in it: --window.",
        withholds=frozenset(low),
    )


def machine(trial: Trial, _fired: Mapping[str, Finding]) -> Finding | None:
    """
    Judge whether something outside disturbed the trial.

    It asks for a repeat. A slight disturbance withholds nothing: in shuffled blocks it widens the
    intervals (simulated: 8.3 % instead of 6.7 %) and leaves their coverage at 95 %, and the A/A
    arm shows whether it was too much. A severe one withholds everything, and so does a step of the
    wall clock, by which servers time out what has just begun.
    """
    readings = trial.readings
    # Unpinned, the server may use every core. None read: the least that it can have.
    cores = max(1.0, usable_cores(readings) or 1.0)
    crowded = readings.get("machine.foreign_cpu", 0.0) > FOREIGN_CPU_SEVERE * cores
    # What is printed is the limit that decided.
    parts = _disturbances(readings, (FOREIGN_CPU_SEVERE if crowded else FOREIGN_CPU) * cores)
    if not parts:
        return None
    return Finding(
        "machine",
        "; ".join(parts),
        "Stop other work on this machine"
        + (": while it lasts no block counts." if crowded else ", or give the run more blocks."),
        withholds=None if crowded or _clock_stepped(readings) else frozenset(),
        outside=True,
    )


def idle_server(trial: Trial, fired: Mapping[str, Finding]) -> Finding | None:
    """
    Judge whether anybody was at work in a closed, timed loop.

    Asked last, where no other gate withholds anything and nothing outside disturbed the trial.

    Workers that wait for a database on purpose leave the machine idle too. Then all connections
    stand in line, replies account for their time, and the figure is the number of workers: a
    legitimate limit, with a cause to be found, so it is a remark. But where each connection got a
    reply or two and spent the rest of its time on nothing that a reply explains, client and server
    waited for each other, and the figure is the number of connections: nothing counts.
    """
    if any(found.withholds != frozenset() or found.outside for found in fired.values()):
        return None
    used, load = common.server_used(trial), trial.slot.arm.load
    if used is None or load.requests is not None or load.rate is not None:
        return None
    cores = common.server_cores(trial)
    share = common.generator_share(trial)
    if used >= IDLE * cores or share >= IDLE or trial.readings.get("listener.drops", 0) >= 1:
        return None
    ok = trial.total("ok")
    connections = sum(len(window.replies) for window in trial.windows)
    idle = (
        f"nobody was at work: the server used {used:.2f} of {counted(cores, 'core')}, and the "
        f"generator was busy for {share:.0%} of the time"
    )
    if ok < FEW_REPLIES * connections and explained_time(trial) * common.LITTLE_EXCESS < 1:
        wall = max(window.wall for window in trial.windows)
        return Finding(
            "idle server",
            f"{idle}; {ok:,} replies on {counted(connections, 'connection')} in {wall:.3g} s",
            "Ask by hand over one kept connection: client and server may wait for each other.",
        )
    return Finding(
        "idle server",
        f"{idle}; so its workers wait, for another service, a lock, a disk or a timer",
        "More workers or threads show whether it is their number that limits.",
        withholds=frozenset(),
    )


def _fell_behind(trial: Trial) -> bool:
    planned = trial.total("planned")
    ended = sum(window.ok + sum(window.errors.values()) for window in trial.windows)
    queued = trial.total("queued")
    if not planned or (ended >= RATE_KEPT * planned and not queued):
        return False
    latency, service = merged_latency(trial.windows), merged_service(trial.windows)
    if not latency or not service:
        return True  # nothing was answered at all
    return quantile(latency, 0.1) > WAITED * quantile(service, 0.1)


def _clock_stepped(readings: Mapping[str, float]) -> bool:
    return abs(readings.get("machine.clock_step", 0.0)) > CLOCK_STEP


def _disturbances(readings: Mapping[str, float], limit: float) -> list[str]:
    found = []
    if (foreign := readings.get("machine.foreign_cpu", 0.0)) > limit:
        found.append(f"other programs used {foreign:.2f} cores (limit {limit:.2f})")
    if (steal := readings.get("machine.steal", 0.0)) > STEAL:
        found.append(f"the hypervisor took {steal:.1%} of the time (limit {STEAL:.0%})")
    if readings.get("machine.throttled", 0.0) > 0:
        found.append("the CPU quota of the control group was used up")
    if _clock_stepped(readings):
        found.append(f"the wall clock was set by {readings['machine.clock_step']:+.3g} s")
    return found
