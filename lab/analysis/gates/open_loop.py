"""Gates on an open loop: whether its requests were sent when due, answered, and counted."""

from __future__ import annotations

from lab.analysis.gates import common
from lab.analysis.gates.effort import GENERATOR_BOUND
from lab.analysis.metrics import merged_latency, quantile
from lab.model.finding import Beside, Finding, Gate, Whose
from lab.model.measurement import Trial

LATE_SHARE = 0.01
"""Open loop: share of requests sent late from which p99 is made of the generator's own delays."""


def late_generator(trial: Trial, _beside: Beside) -> Finding | None:
    """Judge whether an open loop's requests were sent when they were due."""
    planned = trial.total("planned")
    late = trial.total("late")
    if late <= LATE_SHARE * planned:
        return None
    return Finding(
        LATE_GENERATOR,
        f"{late:,} of {planned:,} requests were sent late although a connection was free",
        "Give the load generator its own core or a second process, or lower the rate.",
        withholds=common.TIME_BASED,
    )


LATE_GENERATOR = Gate(
    "late generator",
    110,
    late_generator,
    Whose.GENERATOR,
    fires="open loop: 1 % of requests sent more than 5 ms late although a connection was free",
    withholds="time",
    because="the delay of the load generator would be reported as the server's",
)


def overload(trial: Trial, beside: Beside) -> Finding | None:
    """
    Judge whether the server kept an open loop's rate.

    If not, the queue grows for as long as the window lasts, and latencies are the window's length.
    Throughput and CPU per request count: they are those of a server at its limit. Requests queued
    at the end are not enough, since a server that stalls at that moment, and catches up, keeps the
    rate; so even the fastest tenth of the replies must have waited to be sent.
    """
    target = trial.slot.arm.load.rate
    if target is None or GENERATOR_BOUND in beside.fired or not common.fell_behind(trial):
        return None
    rate = sum(window.ok / window.wall for window in trial.windows if window.wall > 0)
    queued = trial.total("queued")
    return Finding(
        OVERLOAD,
        f"{rate:,.0f} of {target:,.0f} requests/s were answered and {queued:,} were still waiting "
        "to be sent at the end: latency grows with the length of the window",
        f"Use a rate below {rate:,.0f} requests/s, or give the server more CPU or workers.",
        withholds=common.PERCENTILES,
    )


OVERLOAD = Gate(
    "overload",
    120,
    overload,
    Whose.SERVER,
    fires="open loop: the rate was not kept, and even the fastest tenth of the requests waited to "
    "be sent",
    withholds="percentiles",
    because="the queue, and so the latency, grows with the length of the window",
)


def cut_off(trial: Trial, beside: Beside) -> Finding | None:
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
    if rate is None or not unfinished or not latency or OVERLOAD in beside.fired:
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
        CUT_OFF,
        f"{unfinished:,} of {known:,} requests had no reply when the window closed, the oldest "
        f"after {older / rate:.3g} s or more",
        "Use a longer --window, so that a stall ends within it.",
        withholds=frozenset(low),
    )


CUT_OFF = Gate(
    "cut off",
    130,
    cut_off,
    Whose.SERVER,
    fires="open loop: so many requests were still unanswered at the end that the percentile cannot "
    "be known",
    withholds="those percentiles",
    because="a stall at the window's end is in no reply: with 288 of 721 requests unanswered, p99 "
    "read 0.2 ms (measured)",
)
