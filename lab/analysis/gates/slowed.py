"""Gates on a server that was slowed down: whether it was the same server, and had enough to do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from statistics import median

from lab.analysis.gates import common
from lab.analysis.metrics import derive
from lab.model.finding import Beside, Finding, Gate, Whose
from lab.model.measurement import Run, Trial
from lab.model.wording import counted

DEARER = 1.5
"""Median over an arm's trials of CPU per request over that of the same server unslowed, from which
the windows are too short for it. Four processes of two threads read 1.3 in windows of any length
from 3 to 24 ms, because several CPUs cost them more; servers whose threads wake each other up to
2.4."""

FEWEST = 3
"""Trials from which on that median counts: the speed of a shared machine changes within seconds."""

LEFT_IDLE = 0.8
"""Share of its cores, and of one core for its busiest process, below which a slowed server waited
for something else than CPU. One that is busy in all its windows reads 0.83 and more: looks, kernel
threads and the edges of the windows have the rest."""

ANSWERED = 0.5
"""Replies of a window, for each connection, from which it is for the connections that it waited:
their next requests come after the window."""


def dearer(run: Run) -> Mapping[tuple[str, str], float]:
    """Return `Beside.dearer` of a run; without the arms of which there are too few trials."""
    ratios: dict[tuple[str, str], list[float]] = defaultdict(list)
    for trial in run.trials:
        if before := trial.readings.get("server.cpu_unslowed"):
            cpu = derive(trial).get("cpu")
            ratios[_key(trial)] += [cpu / before] if cpu else []
    return {key: median(values) for key, values in ratios.items() if len(values) >= FEWEST}


def _key(trial: Trial) -> tuple[str, str]:
    return trial.slot.arm.name, trial.slot.arm.role


def short_windows(trial: Trial, beside: Beside) -> Finding | None:
    """
    Judge whether a request cost a slowed server more CPU than the same server unslowed.

    By all trials of the arm: by each trial alone, what is kept would depend on its figure.
    """
    ratio = beside.dearer.get(_key(trial), 1.0)
    if trial.share == 1 or ratio <= DEARER:
        return None
    return Finding(
        SHORT_WINDOWS,
        f"a request costs {ratio:.2f} times the CPU that it costs when the server is not slowed",
        "The server pays for each window anew; compare it with --server-share 100%.",
    )


SHORT_WINDOWS = Gate(
    "short windows",
    92,
    short_windows,
    Whose.GENERATOR,
    fires="a request costs a slowed server 1.5 times the CPU that it costs just before and after "
    "(median of its trials, three at least)",
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
