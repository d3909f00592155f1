"""Gates on who was at work: the generator, the server, somebody else, nobody."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from lab.analysis.gates import common
from lab.analysis.gates.replies import explained_time
from lab.analysis.metrics import usable_cores
from lab.config import servers
from lab.config.interface import ASGI
from lab.model.finding import Beside, Finding, Gate, Whose
from lab.model.measurement import Trial
from lab.model.wording import counted

IDLE = 0.5
"""Share of its cores below which server or generator had nothing to do for most of the time."""

SPARED = 0.25
"""Cores of the load, in an open loop on the server's own, below which it is a small neighbour."""

SLACK = 0.10
"""Share of shared cores that stands idle where something else than CPU holds the server back."""

WAITS = " Only CPU is slowed down, and no wait: compare servers that wait with --server-share 100%."
"""What is said of a slowed server that was idle."""

IN_WORKERS = "Try more workers or threads: their number may be the limit."
IN_A_LOOP = (
    "Try more connections, as an event loop waits for all of them at once; if handlers are `def`, "
    "the limit may be the threads that run them, 40 for each worker unless the application sets "
    "another number."
)

FEW_REPLIES = 3
"""Replies a connection below which their number may be that of the connections, not of the work."""


def generator_bound(trial: Trial, _beside: Beside) -> Finding | None:
    """
    Judge whether the generator, not the server, was at its limit.

    A server with one process at its limit is at its own limit too, however many cores idle beside
    it. In an open loop a busy generator does no harm as long as the rate is kept.
    """
    used = common.server_used(trial)
    if used is None and trial.slot.arm.load.requests is not None:
        used = common.server_used(trial, max(window.wall for window in trial.windows))
    if used is None or (trial.slot.arm.load.rate is not None and not common.fell_behind(trial)):
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
        GENERATOR_BOUND,
        f"the load generator was busy for {share:.0%} of the time, and the server used "
        f"{used:.2f} of "
        f"{counted(cores, 'core')}",
        f"{_relief(trial)}; the requests/s are those of the load generator.",
        withholds=common.TIME_BASED,
    )


GENERATOR_BOUND = Gate(
    "generator-bound",
    80,
    generator_bound,
    Whose.GENERATOR,
    fires="the load generator ran or waited for a CPU for 90 % of the time, and the server did not",
    withholds="time",
    because="Locust's own client needs <!-- result engine_cost: scenarios / keep-alive, nginx / "
    "FastHttpUser in µs --><!-- --> of CPU for a request on a kept connection, <!-- result "
    "engine_cost: scenarios / connection each, nginx / FastHttpUser in µs --><!-- --> with a "
    "connection each, and the server less ([measured](../../studies/results/engine_cost.json)); "
    "its CPU share alone can read 40 % while it is at its limit",
)


def _relief(trial: Trial) -> str:
    """Return what takes work off the generator, as far as the trial's machine allows it."""
    if any(window.host for window in trial.windows):
        return "Start more Locust workers on machines with a free CPU for each"
    if common.generator_may_grow(trial):
        return "Use a second load generator process (lab run --generators 2, locust --processes 2)"
    return (
        "No core is free for another load generator process: use fewer connections, or a machine "
        "with more cores"
    )


def shared_cores(trial: Trial, _beside: Beside) -> Finding | None:
    """
    Judge whether the load took CPU that the server could have used.

    In a closed loop it does wherever they have a core in common, and takes as much as there are
    replies. So throughput lies between what was served and what the server's cores have CPU for.
    In an open loop that keeps its rate a small load leaves the percentiles as they are.
    """
    kept = trial.slot.arm.load.rate is not None and not common.fell_behind(trial)
    taken = sum(window.cpu / window.wall for window in trial.windows if window.wall > 0)
    if not trial.shares_cores or (kept and taken < SPARED):
        return None
    cores, idle = usable_cores(trial.readings) or 1.0, trial.readings.get("server.idle", 0.0)
    slack = f"; {idle:.2f} was idle, so CPU alone was not the limit" if idle > SLACK * cores else ""
    return Finding(
        SHARED_CORES,
        f"the load ran on the server's {counted(cores, 'core')} and used {taken:.2f}{slack}",
        "The requests/s that were served are the least that the server can do, and its CPU per "
        "request gives the most. CPU per request is usually lower than with the load elsewhere.",
        withholds=common.PERCENTILES if kept else common.TIME_BASED,
    )


SHARED_CORES = Gate(
    "shared cores",
    90,
    shared_cores,
    Whose.GENERATOR,
    fires="the load ran on the server's cores: always in a closed loop; in an open loop that "
    "keeps its rate, from a quarter of a core on",
    withholds="time (percentiles alone in that open loop); "
    "[two ends](../explanation/method.md#shared-cores) are given instead",
    because="the load takes CPU from the server that it measures, and takes more of it from a "
    "faster server",
    floor=True,
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
        if trial.slot.arm.load.rate is None or common.fell_behind(trial)
        else 0.0
        for trial in trials
    ]
    return statistics.median_high(shares) if shares else 0.0


def idle_server(trial: Trial, beside: Beside) -> Finding | None:
    """
    Judge whether anybody was at work in a closed, timed loop.

    Asked last, where no other gate withholds anything and nothing outside disturbed the trial.

    Workers that wait for a database on purpose leave the machine idle too. Then all connections
    stand in line, replies account for their time, and the figure is the number of workers: a
    legitimate limit, with a cause to be found, so it is a remark. But where each connection got a
    reply or two and spent the rest of its time on nothing that a reply explains, client and server
    waited for each other, and the figure is the number of connections: nothing counts.
    """
    if any(
        finding.withholds != frozenset() or finding.gate.outside
        for finding in beside.fired.values()
    ):
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
        f"server and load were both idle: the server used {used:.2f} of "
        f"{counted(cores, 'core')}, and the "
        f"generator was busy for {share:.0%} of the time"
    )
    if ok < FEW_REPLIES * connections and explained_time(trial) * common.LITTLE_EXCESS < 1:
        wall = max(window.wall for window in trial.windows)
        return Finding(
            IDLE_SERVER,
            f"{idle}; {ok:,} replies on {counted(connections, 'connection')} in {wall:.3g} s",
            "Send two requests by hand over one kept connection: client and server may wait for "
            "each other.",
        )
    profile = trial.slot.arm.profile
    looped = servers.of(profile).interface(profile) == ASGI
    return Finding(
        IDLE_SERVER,
        f"{idle}; so its {'requests' if looped else 'workers'} wait for another service, a lock, "
        "a disk or a timer",
        (IN_A_LOOP if looped else IN_WORKERS) + WAITS * (trial.share < 1),
        withholds=frozenset(),
    )


IDLE_SERVER = Gate(
    "idle server",
    190,
    idle_server,
    Whose.SERVER,
    fires="neither server nor load generator was busy for half of the time",
    withholds="a remark; everything if the connections got a reply or two and nothing explains the "
    "rest",
    because="one request per connection in 30 s is published as 3.5 requests/s",
)
