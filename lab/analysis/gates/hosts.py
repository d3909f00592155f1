"""Gates on a load from other hosts: whether its windows overlap, and its packets arrive."""

from __future__ import annotations

from lab.analysis.gates import common
from lab.analysis.gates.network import CONFIRMED
from lab.analysis.metrics import merged_latency
from lab.model.finding import Beside, Finding, Gate, Whose
from lab.model.measurement import Trial

SKEW = 0.02
"""Share of a window by which it may be off the others: the floor of every comparison is 2 %."""

LOST_TIME = 0.02
"""Share of the connections' time that may pass until what was lost is sent again: the same."""


def skew(trial: Trial, _beside: Beside) -> Finding | None:
    """
    Judge whether the workers' windows were open at the same time, so that their rates add up.

    What is known is how long an order and its answer were under way, which is the most by which a
    window can be off. No clock of one host is compared with that of another.
    """
    windows = [window for window in trial.windows if window.wall > 0]
    if len(windows) < 2:
        return None
    worst = max(windows, key=lambda window: window.skew / window.wall)
    if worst.skew <= SKEW * worst.wall:
        return None
    return Finding(
        WINDOW_SKEW,
        f"the workers' windows do not overlap: an order to {worst.host} and its answer took "
        f"{worst.skew:.3g} s, of a window of {worst.wall:.3g} s (limit {SKEW:.0%})",
        "Make the window longer (--window), or look for what delays the way to that host.",
        withholds=frozenset({"throughput"}),
    )


WINDOW_SKEW = Gate(
    "window skew",
    170,
    skew,
    Whose.NETWORK,
    fires="load from another host: an order to a worker and its answer took more than 2 % of the "
    "window",
    withholds="throughput",
    because="the workers' rates add up only where they are of the same time. No clocks of two "
    "machines are compared",
)


def link(trial: Trial, _beside: Beside) -> Finding | None:
    """
    Judge whether the way between load and server lost so much that it decides the figures.

    Replies that are late by as many segments sent again, and not by the server, took that time for
    a timer. Beside drops the gate "accept queue" has the reason.
    """
    if not any(window.host for window in trial.windows):
        return None
    if trial.readings.get("listener.drops", 0) >= 1:
        return None
    latency = merged_latency(trial.windows)
    late = {us: count for us, count in latency.items() if us >= common.LATE * 1e6}
    resent = trial.readings.get("tcp.RetransSegs", 0.0)
    if not late or resent < CONFIRMED * sum(late.values()):
        return None
    waited = sum(us / 1e6 * count for us, count in late.items())
    share = waited / sum(window.wall * len(window.replies) for window in trial.windows)
    if share <= LOST_TIME:
        return None
    return Finding(
        LINK,
        f"packets were lost on the way: {resent:,.0f} sent again, {sum(late.values()):,} replies "
        f"later than {common.LATE:g} s, which took {share:.0%} of the connections' time",
        "Look for errors of the link between the hosts (ip -s link) and what it is shared with.",
        withholds=common.ON_THE_WAY,
    )


LINK = Gate(
    "link",
    160,
    link,
    Whose.NETWORK,
    fires="load from another host: replies later than 0.9 s took 2 % of the connections' time, "
    "with a segment sent again for every second one and no drop here",
    withholds="time",
    because="so long the figures wait for TCP to send again what was lost on the way",
)
