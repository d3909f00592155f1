"""Gates on what applications ask: a backing service at its limit."""

from __future__ import annotations

from lab.analysis.gates.common import TIME_BASED
from lab.model.finding import Beside, Finding, Gate, Whose
from lab.model.measurement import Trial

SATURATED = 0.7
"""Share of the time from which a process is too busy to be asked: what comes by chance waits in
front of it for 1.2 times as long as it is served (M/D/1), and at 0.9 for 4.5 times as long."""


def upstream(trial: Trial, _beside: Beside) -> Finding | None:
    """Judge whether the upstream, which is a part of the load, could keep up."""
    busiest = trial.readings.get("upstream.busiest", 0.0)
    if busiest < SATURATED:
        return None
    return Finding(
        UPSTREAM,
        f"the upstream ran or waited for a CPU for {busiest:.0%} of the time",
        "Use fewer connections, or give the load's side more cores: the requests/s are those of "
        "the upstream.",
        withholds=TIME_BASED,
    )


UPSTREAM = Gate(
    "upstream",
    100,
    upstream,
    Whose.GENERATOR,
    fires="a process of what applications ask (a backing service with the role `upstream`) ran or "
    "waited for a CPU for 70 % of the time",
    withholds="time",
    because="it is a part of the load, as the generator is. What comes by chance then waits for "
    "1.2 times as long as it is served, and at 90 % for 4.5 times as long",
)
