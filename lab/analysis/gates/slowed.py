"""Gates on a server that was slowed down: whether it was the same server, and had enough to do."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping

from lab.analysis import stats
from lab.analysis.gates import common
from lab.analysis.metrics import derive
from lab.model.comparison import Estimate
from lab.model.finding import Beside, Finding, Gate, Whose
from lab.model.measurement import Run, Trial
from lab.model.wording import counted

DEARER = 1.2
"""Price of the windows over that of the arm that pays least, from which the two are not compared.
Ten trials of a server with itself read up to 1.14."""

DEAREST = 1.5
"""Price of the windows from which a server is another server in them, whatever others pay."""

FEWEST = 6
"""Trials from which on their mean counts: the speed of a shared machine changes within seconds, so
that the price of a trial scatters by a tenth to a quarter."""

LEFT_IDLE = 0.8
"""Share of its cores, and of one core for its busiest process, below which a slowed server waited
for something else than CPU. One that is busy in all its windows reads 0.83 and more: looks, kernel
threads and the edges of the windows have the rest."""

ANSWERED = 0.5
"""Replies of a window, for each connection, from which it is for the connections that it waited:
their next requests come after the window."""


def prices(run: Run) -> Mapping[str, float]:
    """Return `Beside.prices` of a run; without the arms of which there are too few trials."""
    halved: dict[str, list[float]] = defaultdict(list)
    for trial in run.trials:
        if sample := trial.readings.get("server.cpu_halved"):
            cpu = derive(trial).get("cpu")
            halved[trial.slot.arm.name] += [sample / cpu] if cpu else []
    estimates = {
        name: stats.paired([math.log(ratio) for ratio in ratios])
        for name, ratios in halved.items()
        if len(ratios) >= FEWEST
    }
    if not estimates:
        return {}
    least = min(estimates.values(), key=lambda estimate: estimate.value)

    def stands(estimate: Estimate) -> bool:
        """Return whether it is above the least one by more than chance, or too much for any."""
        return estimate.low > least.high or price(estimate.value) > DEAREST

    return {
        name: price((estimate if stands(estimate) else least).value)
        for name, estimate in estimates.items()
    }


def price(halved: float) -> float:
    """
    Return how many times the CPU a request costs in windows, over that in windows without an end.

    What a server pays for a window it pays twice as often in windows half as long.

    Args:
        halved: CPU per request in windows half as long over that in the windows.

    >>> price(1.2)
    1.25
    """
    return max(1.0, 1 / (2 - min(halved, 1.9)))


def short_windows(trial: Trial, beside: Beside) -> Finding | None:
    """
    Judge whether a server pays for its windows, and more than those that it is compared with.

    By all trials of the arm: by each trial alone, what is kept would depend on its figure.
    """
    paid = beside.prices.get(trial.slot.arm.name, 1.0)
    least = min(beside.prices.values(), default=1.0)
    if paid <= min(DEARER * least, DEAREST):
        return None
    return Finding(
        SHORT_WINDOWS,
        f"the windows make a request cost {paid:.2f} times the CPU, by windows half as long (least "
        f"of this run: {least:.2f} times)",
        "Use more connections or a longer --window, which make the windows longer, or "
        "--server-share 100%.",
    )


SHORT_WINDOWS = Gate(
    "short windows",
    92,
    short_windows,
    Whose.GENERATOR,
    fires="its windows make a request of a slowed server cost 1.5 times the CPU, or 1.2 times what "
    "they make it cost another server of the run (by windows half as long; mean of six trials at "
    "least, whose interval is above the other server's)",
    withholds="everything",
    because="servers whose threads wake each other pay for each window anew: it would be another "
    "server",
)


def not_busy(trial: Trial, _beside: Beside) -> Finding | None:
    """Judge whether a slowed server answered its connections' requests before a window's end."""
    load, used = trial.slot.arm.load, common.server_used(trial)
    if trial.share == 1 or used is None or load.requests is not None:
        return None
    cores = common.server_cores(trial)
    busiest = trial.readings.get("server.busiest", 0.0)
    period = trial.readings.get("server.window", 0.0) / trial.share
    answered = sum(window.ok / window.wall for window in trial.windows) * period
    if used >= LEFT_IDLE * cores or busiest >= LEFT_IDLE or answered < ANSWERED * load.connections:
        return None
    return Finding(
        NOT_BUSY,
        f"the server used {used:.2f} of {counted(cores, 'core')} in its own time, and answered "
        f"{answered:.0f} requests in a window, of {counted(load.connections, 'connection')}",
        f"Use more connections, as in --connections {4 * load.connections}.",
        withholds=common.TIME_BASED,
    )


NOT_BUSY = Gate(
    "slowed server not busy",
    94,
    not_busy,
    Whose.GENERATOR,
    fires="a slowed server used less than 80 % of its cores, no process of it 80 % of one, and "
    "answered half of the connections in each window",
    withholds="time",
    because="the next requests come after the window, so the load is the limit",
)
