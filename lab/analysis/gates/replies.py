"""Gates on what came back: no server, wrong replies, clients that got none, broken promises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from lab import dialects
from lab.analysis.gates import common
from lab.analysis.gates.network import port_failures
from lab.errors import WHOLE_LOG
from lab.model.finding import Finding
from lab.model.measured import Failure, Trial

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

WITH_CONNECTIONS = common.TIME_BASED | {"cpu", "cpu_vs_generator", "switches"}
"""Metrics that hold the cost of connections."""


def no_window(trial: Trial) -> Finding:
    """Say why there is nothing to judge."""
    failure = trial.failure or "it was not measured"
    if trial.failed is Failure.LOAD:
        return Finding(
            "no load",
            " ".join(failure.split()),
            "The server had started. Its log is not kept: run the profile by hand to read it, or "
            "use another generator.",
        )
    return Finding(
        "server died",
        _with_log_end(failure, trial.slot.arm.name),
        "Mend that and run it again."
        if failure.splitlines()[-1].startswith(WHOLE_LOG)
        else "More of its log is in trials.ndjson, under failure.",
    )


def died(trial: Trial, _fired: Mapping[str, Finding]) -> Finding | None:
    """Judge whether the server ended unasked."""
    if trial.failure is None:
        return None
    return Finding(
        "server died",
        _with_log_end(trial.failure, trial.slot.arm.name),
        "More of its log is in trials.ndjson, under failure; the figures are those of a crash.",
    )


def errors(trial: Trial, _fired: Mapping[str, Finding]) -> Finding | None:
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
        reason = f"no correct reply ({kinds or 'none came at all'})"
        return Finding("errors", reason, "Ask the server by hand: it does not do the work.")
    wrong = sum(counts[kind] for kind in WRONG_REPLIES)
    if wrong:
        return Finding(
            "errors",
            f"{wrong:,} of {ok + failed:,} replies were wrong ({kinds})",
            "Fix the application or say what a correct reply is; a wrong one costs nothing.",
        )
    share = failed / (ok + failed)
    if share <= common.FAILED_SHARE_TAIL:
        return None
    severe = share >= common.FAILED_SHARE
    return Finding(
        "errors",
        f"{share:.2%} of {ok + failed:,} requests failed ({kinds})",
        "Run the profile by hand to read its log, which is not kept here"
        + ("." if not again and {*counts} == {"status"} else ", or use fewer connections."),
        withholds=None if severe else frozenset({"p99", "service_p99"}),
    )


def _with_sample(trial: Trial, kind: str) -> str:
    """Return a class of errors, with what the first such reply was if one was kept."""
    samples = (window.sample for window in trial.windows)
    wanted = {each.expect.status for each in trial.slot.arm.workload.asks}
    other = f"than {wanted.pop()}" if len(wanted) == 1 else "than wanted"
    named = f"with another status {other}" if kind == "status" else kind
    return next((each for each in samples if each.startswith(f"{kind}: ")), named)


def never_kept(trial: Trial) -> bool:
    """Return whether the server answered one request on each connection and kept none."""
    opened = trial.total("connections")
    return opened >= NEVER_KEPT * trial.total("ok")


def starvation(trial: Trial, _fired: Mapping[str, Finding]) -> Finding | None:
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
    advice = "More processes or threads, or close connections: each one kept open holds a worker."
    starved = counts.count(0)
    if starved:
        reason = f"{starved} of {len(counts)} connections got no reply; the others shared {ok:,}"
        return Finding("starvation", reason, advice)
    explained = explained_time(trial)
    if trial.slot.arm.load.rate is not None or explained * common.LITTLE_EXCESS >= 1:
        return None
    mean = trial.total("latency_sum") / ok
    return Finding(
        "starvation",
        f"connections / throughput is {mean / explained * 1e3:.3g} ms and the mean reply took "
        f"{mean * 1e3:.3g} ms: a part of the {len(counts)} connections waits unserved",
        advice,
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


def reconnects(trial: Trial, _fired: Mapping[str, Finding]) -> Finding | None:
    """
    Judge whether connections are kept as the profile promises.

    A server that closes what it promised to keep is measured with another configuration than its
    profile says, and each reply pays for a connection: everything that holds that cost is withheld.
    Only a closed loop is judged for it, as an open one leaves connections idle for so long that a
    server may close them, and only where the generator tells its connections apart, as ab does not.
    A server may keep connections although its profile does not declare it; the finding says so, and
    withholds nothing, so that the profile can be completed. The profiles of some servers never
    declare it (`Settings.implied_keepalive`), so that there is nothing to complete.
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
            "reconnects",
            f"the profile promises to keep connections, and {again:.2f} were opened for each reply",
            "Find out why the server closes them (its worker class, its keep-alive time), or write "
            "that it does: keepalive = false.",
            withholds=WITH_CONNECTIONS,
        )
    fair = ok >= common.FAIR_REPLIES * sum(len(window.replies) for window in trial.windows)
    implied = dialects.settings(profile).implied_keepalive
    if not (implied or profile.keepalive) and fair and again < PLAINLY_KEPT:
        return Finding(
            "reconnects",
            f"connections are kept ({1 - again:.0%} of the replies needed no new one), which the "
            "profile does not promise",
            "Write keepalive = true into it, so that the promise is checked.",
            withholds=frozenset(),
        )
    return None


def _with_log_end(failure: str, profile: str) -> str:
    """Return the first and the last line of *failure*: what happened, and how the log ends."""
    lines = [line for line in failure.splitlines() if line.strip()]
    # The report names the profile already.
    reason = lines[0].removeprefix(f"profile {profile}: ").rstrip(".")
    last = lines[-1].strip()
    if last.startswith(WHOLE_LOG):
        return f"{reason}; {last[0].lower()}{last[1:]}"
    return reason if len(lines) == 1 else f"{reason}; its log ends: {last}"
