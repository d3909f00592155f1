"""Gates on what came back: no server, wrong replies, clients that got none, broken promises."""

from __future__ import annotations

from collections import Counter

from lab.analysis.gates import common
from lab.analysis.gates.network import port_failures
from lab.config import servers
from lab.model.finding import Beside, Finding, Gate, Whose
from lab.model.measurement import Failure, Trial
from lab.model.metric import Of, made_of

WRONG_REPLIES = ("body", "malformed", "truncated")
"""Errors that are a reply, and a wrong one: the server does something else than was asked."""

PROMISE_BROKEN = 0.10
"""Connections a reply from which a promise to keep them is broken: less than ten replies on each.
Servers that renew a connection now and then do so after 100 or 1,000."""

PLAINLY_KEPT = 0.50
"""Connections a reply below which a server keeps them, whatever its profile says."""

NEVER_KEPT = 0.90
"""Connections a reply from which a server keeps none: one for each, and a tenth for those that a
window's edges cut in two. That it does not say so costs its clients a request sent again, and is no
request without an answer."""

WITH_CONNECTIONS = made_of(Of.PERCENTILE | Of.RATE | Of.COST)
"""Metrics that hold the cost of connections."""


def no_load(trial: Trial, _beside: Beside) -> Finding | None:
    """Judge whether the generator gave up."""
    if trial.windows or trial.failed is not Failure.LOAD:
        return None
    return Finding(
        NO_LOAD,
        " ".join(_failure(trial).split()),
        "The server had started. Its log is not stored: start the server by hand to read it, or "
        "use another load generator.",
    )


NO_LOAD = Gate(
    "no load",
    10,
    no_load,
    Whose.GENERATOR,
    fires="the server started, and the load generator failed",
    withholds="everything",
    because="nothing was measured",
)


def died(trial: Trial, beside: Beside) -> Finding | None:
    """Judge whether the server did not start, or ended unasked."""
    if NO_LOAD in beside.fired or (trial.windows and trial.failure is None):
        return None
    kept = "trials.ndjson has more of its log"
    if trial.windows:
        advice = f"{kept}; these figures measure a crash."
    elif trial.log is None and trial.log_file is not None:
        advice = "Fix that and run again."
    else:
        advice = f"{kept}."
    return Finding(DIED, _with_log_end(trial), advice)


DIED = Gate(
    "server died",
    20,
    died,
    Whose.SERVER,
    fires="the server did not start; or one of its commands ended before the window did",
    withholds="everything",
    because="the figures measure a crash",
    failing=True,
    explains=True,
)

NOT_MEASURED = (NO_LOAD, DIED)
"""All that is asked of a trial without a window."""


def _failure(trial: Trial) -> str:
    return trial.failure or "it was not measured"


def errors(trial: Trial, _beside: Beside) -> Finding | None:
    """
    Judge failed requests: one rule of three steps.

    Any wrong reply, no reply at all, or 1 % failed: nothing counts. Above 0.1 %: p99 is withheld.
    Requests that were sent again count as failed, but with a server that keeps no connection: a
    client that does not send again has lost them. Requests in flight at the end of a window have no
    outcome and count as neither, nor do those that found no local port: they never reached the
    server.
    """
    ok = trial.total("ok")
    counts: Counter[str] = Counter()
    for window in trial.windows:
        counts.update({kind: count for kind, count in window.errors.items() if count})
    again = 0 if never_kept(trial) else trial.total("retried")
    kinds = ", ".join(
        (
            *(f"{count:,} {_with_sample(trial, kind)}" for kind, count in sorted(counts.items())),
            *((f"{again:,} sent again",) if again else ()),
        )
    )
    failed = counts.total() + again - port_failures(trial)
    if not ok:
        reason = f"no correct reply ({kinds or 'no reply at all'})"
        return Finding(ERRORS, reason, "Send a request by hand: the server does not do the work.")
    wrong = sum(counts[kind] for kind in WRONG_REPLIES)
    if wrong:
        return Finding(
            ERRORS,
            f"{wrong:,} of {ok + failed:,} replies were wrong ({kinds})",
            "Fix the application, or describe a correct reply with --check: an error page costs "
            "almost nothing.",
        )
    share = failed / (ok + failed)
    if share <= common.FAILED_SHARE_TAIL:
        return None
    severe = share >= common.FAILED_SHARE
    return Finding(
        ERRORS,
        f"{share:.2%} of {ok + failed:,} requests failed ({kinds})",
        "Start the server by hand to read its log, which is not stored"
        + ("." if not again and {*counts} == {"status"} else ", or use fewer connections."),
        withholds=None if severe else frozenset({"p99", "service_p99"}),
    )


ERRORS = Gate(
    "errors",
    40,
    errors,
    Whose.SERVER,
    fires="any wrong body; 1 % of requests failed, or were sent again on kept connections",
    withholds="everything (p99 alone from 0.1 %)",
    because="an error page costs next to nothing: a published comparison averages over runs in "
    "which every connection failed, and the dead server appears to double its rate",
    failing=True,
    explains=True,
)


def _with_sample(trial: Trial, kind: str) -> str:
    """Return a class of errors, with what the first such reply was if one was kept."""
    samples = (window.sample for window in trial.windows)
    wanted = {ask.expect.status for ask in trial.slot.arm.workload.asks}
    other = f"than {wanted.pop()}" if len(wanted) == 1 else "than wanted"
    named = f"with another status {other}" if kind == "status" else kind
    return next((sample for sample in samples if sample.startswith(f"{kind}: ")), named)


def never_kept(trial: Trial) -> bool:
    """Return whether the server answered one request on each connection and kept none."""
    opened = trial.total("connections")
    return opened >= NEVER_KEPT * trial.total("ok")


def starvation(trial: Trial, _beside: Beside) -> Finding | None:
    """
    Judge whether all connections of a timed load were served.

    Not for a counted load: its requests go to whichever connection is free, and a late one finds
    none left. In an open loop connections take turns, so each gets some, but they are idle on
    purpose and their time is not judged.
    """
    counts = [count for window in trial.windows for count in window.replies]
    ok = trial.total("ok")
    if trial.slot.arm.load.requests is not None or not ok or ok < common.FAIR_REPLIES * len(counts):
        return None
    advice = (
        "Use more processes or threads, or close connections: each kept connection occupies a "
        "worker."
    )
    starved = counts.count(0)
    if starved:
        reason = f"{starved} of {len(counts)} connections got no reply; the others got {ok:,}"
        return Finding(STARVATION, reason, advice)
    explained = explained_time(trial)
    if trial.slot.arm.load.rate is not None or explained * common.LITTLE_EXCESS >= 1:
        return None
    mean = trial.total("latency_sum") / ok
    return Finding(
        STARVATION,
        f"connections / throughput is {mean / explained * 1e3:.3g} ms and the mean reply took "
        f"{mean * 1e3:.3g} ms: a part of the {len(counts)} connections is never served",
        advice,
    )


STARVATION = Gate(
    "starvation",
    60,
    starvation,
    Whose.SERVER,
    fires="a connection got no reply; or connections / throughput is 1.5 times the mean latency",
    withholds="everything",
    because="`http11-socket` with one process is the fastest of all while 63 of 64 connections get "
    "nothing (measured)",
    explains=True,
)


def explained_time(trial: Trial) -> float:
    """
    Return the share of a closed loop's connection time that its replies took: Little's law.

    1 for a consistent one. Time that errors and their pauses took is subtracted from the whole. 1
    also where no latency was recorded, since nothing can be concluded then.
    """
    lost = sum(
        count * (trial.slot.arm.load.timeout if kind == "timeout" else common.ERROR_PAUSE)
        for window in trial.windows
        for kind, count in window.errors.items()
    )
    whole = sum(len(window.replies) * window.wall for window in trial.windows) - lost
    taken = trial.total("latency_sum")
    return taken / whole if taken > 0 and whole > 0 else 1.0


def reconnects(trial: Trial, _beside: Beside) -> Finding | None:
    """
    Judge whether connections are kept as the profile promises.

    A server that closes what it promised to keep is measured with another configuration than its
    profile says, and each reply pays for a connection: everything that holds that cost is withheld.
    Only a closed loop is judged for it, as an open one leaves connections idle for so long that a
    server may close them, and only where the generator tells its connections apart, as ab does not.
    A server may keep connections although its profile does not declare it; the finding says so, and
    withholds nothing, so that the profile can be completed. The profiles of some servers never
    declare it (`Settings.implied_keepalive`), nor do users' configurations: nothing is to complete.
    """
    load, ok = trial.slot.arm.load, trial.total("ok")
    profile = trial.slot.arm.profile
    if not ok or not load.keepalive or load.rate is not None:
        return None
    if not all(window.replies for window in trial.windows):
        return None
    opened = trial.total("connections")
    failed = sum(sum(window.errors.values()) for window in trial.windows)
    first = 0 if load.requests is None else sum(len(window.replies) for window in trial.windows)
    again = max(0, opened - failed - first) / ok
    if profile.keepalive and again > PROMISE_BROKEN:
        return Finding(
            RECONNECTS,
            f"the profile declares keep-alive, but {again:.2f} connections were opened per reply",
            "Find out why the server closes them (worker class, keep-alive time), or declare it: "
            "keepalive = false.",
            withholds=WITH_CONNECTIONS,
        )
    fair = ok >= common.FAIR_REPLIES * sum(len(window.replies) for window in trial.windows)
    # A configuration of the user's has no place for it.
    declares = profile.private_copy is None and not servers.settings(profile).implied_keepalive
    if declares and not profile.keepalive and fair and again < PLAINLY_KEPT:
        return Finding(
            RECONNECTS,
            f"connections are kept ({1 - again:.0%} of the replies needed no new one), but the "
            "profile does not declare keep-alive",
            "Write keepalive = true into the profile, so that it is checked.",
            withholds=frozenset(),
        )
    return None


RECONNECTS = Gate(
    "reconnects",
    140,
    reconnects,
    Whose.SERVER,
    fires="more than one connection in ten replies where the profile promises keep-alive",
    withholds="time, CPU",
    because="gunicorn's `keepalive` is published with sync workers, which ignore it",
)


def _with_log_end(trial: Trial) -> str:
    """Return what happened, in a line, and how the log ends or where it is."""
    reason = _failure(trial).splitlines()[0].rstrip(".")
    last = [line.strip() for line in trial.log or () if line.strip()][-1:]
    if last:
        return f"{reason}; its log ends: {last[0]}"
    if trial.log_file is not None:
        return f"{reason}; its whole log: {trial.log_file}"
    return reason if trial.log is None else f"{reason}; its log is empty"
