"""
Gates: when a trial does not count, why, and what to do.

Each has caught a published benchmark: results averaged over runs in which every connection failed,
a "fastest" server that answered one connection of 64, a client at its limit. A gate looks at
causes and at broken promises, never at whether a figure is pleasing: trials dropped for their
outcome take the coverage of a 95 % interval down to 89 %.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from lab.analysis.metrics import merged_latency, server_cpu
from lab.model import Finding, Plan, Trial

WRONG_REPLIES = ("body", "malformed", "truncated")
"""Errors that are a reply, and a wrong one: the server does something else than was asked."""

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

LATE = 0.9
"""Seconds: the kernel repeats a dropped handshake after 1 s, and 10 % is left for its ticks."""

BUSY = 0.9
"""Share of its cores from which a process is at its limit: the rest goes to interrupts."""

FOREIGN_CPU = 0.10
"""Cores used by others, for each core of the server: from here on a trial is repeated."""

FOREIGN_CPU_SEVERE = 0.50
"""The same: from here on the trial is the others' as much as the server's, and does not count."""

STEAL = 0.02
"""Share of time that the hypervisor gave to others; the floor of every comparison is 2 %."""

TIME_BASED = frozenset({"throughput", "p50", "p99"})


def judge(trial: Trial, plan: Plan) -> tuple[Finding, ...]:
    """
    Return what is wrong with *trial*, most fundamental first; nothing for a sound one.

    A gate whose readings are absent does not fire. A finding that withholds the empty set is a
    remark: the trial counts, but it should be repeated if it may be.
    """
    if not trial.windows:
        return (_no_window(trial),)
    found = (
        _died(trial),
        _errors(trial),
        _starvation(trial, plan),
        _accept_queue(trial),
        _generator_bound(trial, plan),
        _machine(trial),
    )
    return tuple(finding for finding in found if finding is not None)


def _no_window(trial: Trial) -> Finding:
    lines = [line for line in (trial.failure or "it was not measured").splitlines() if line.strip()]
    # The report names the profile already.
    reason = lines[0].removeprefix(f"profile {trial.slot.profile}: ").rstrip(".")
    if len(lines) > 1:
        reason += f"; its log ends: {lines[-1].strip()}"
    return Finding("server died", reason, "More of its log is in trials.ndjson, under failure.")


def _died(trial: Trial) -> Finding | None:
    if trial.failure is None and not trial.readings.get("server.died"):
        return None
    reason = (trial.failure or "the server ended during the window").splitlines()[0]
    return Finding(
        "server died",
        reason,
        "Its last log lines are in trials.ndjson, under failure; the figures are those of a crash.",
    )


def _errors(trial: Trial) -> Finding | None:
    """
    Judge failed requests: one rule of three steps.

    Any wrong reply, no reply at all, or 1 % failed: nothing counts. Above 0.1 %: p99 is withheld.
    Requests in flight at the end of a window have no outcome and count as neither.
    """
    ok = sum(window.ok for window in trial.windows)
    errors: Counter[str] = Counter()
    for window in trial.windows:
        errors.update({kind: count for kind, count in window.errors.items() if count})
    failed = errors.total()
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(errors.items()))
    if not ok:
        reason = f"no correct reply ({kinds or 'none came at all'})"
        return Finding("errors", reason, "Ask the server by hand: it does not do the work.")
    wrong = sum(errors[kind] for kind in WRONG_REPLIES)
    if wrong:
        return Finding(
            "errors",
            f"{wrong:,} of {ok + failed:,} replies were wrong ({kinds})",
            "Fix the application or say what a correct reply is; a wrong one costs nothing.",
        )
    share = failed / (ok + failed)
    if share <= FAILED_SHARE_TAIL:
        return None
    severe = share >= FAILED_SHARE
    return Finding(
        "errors",
        f"{share:.2%} of {ok + failed:,} requests failed ({kinds})",
        "Look for these errors in the server's log, or load it with fewer connections.",
        withholds=None if severe else frozenset({"p99"}),
    )


def _starvation(trial: Trial, plan: Plan) -> Finding | None:
    """
    Judge whether all connections of a timed load were served.

    Not for a counted load: its requests go to whichever connection is free, and a late one finds
    none left. Time that errors and their pauses took is explained and subtracted.
    """
    replies = [count for window in trial.windows for count in window.replies]
    ok = sum(window.ok for window in trial.windows)
    if plan.load.requests is not None or not ok or ok < FAIR_REPLIES * len(replies):
        return None
    advice = "More processes or threads, or close connections: each one kept open holds a worker."
    starved = replies.count(0)
    if starved:
        reason = f"{starved} of {len(replies)} connections got no reply; the others shared {ok:,}"
        return Finding("starvation", reason, advice)
    explained = sum(
        count * (plan.load.timeout if kind == "timeout" else ERROR_PAUSE)
        for window in trial.windows
        for kind, count in window.errors.items()
    )
    available = sum(len(window.replies) * window.wall for window in trial.windows)
    mean = sum(window.latency_sum for window in trial.windows) / ok
    expected = (available - explained) / ok
    if mean <= 0 or expected <= LITTLE_EXCESS * mean:
        return None
    return Finding(
        "starvation",
        f"connections / throughput is {expected * 1e3:.3g} ms and the mean reply took "
        f"{mean * 1e3:.3g} ms: a part of the {len(replies)} connections waits unserved",
        advice,
    )


def _accept_queue(trial: Trial) -> Finding | None:
    """Judge whether handshakes were dropped, and a client felt it. CPU a request still counts."""
    drops = trial.readings.get("listener.drops", 0)
    late = sum(n for us, n in merged_latency(trial.windows).items() if us >= LATE * 1e6)
    resent = trial.readings.get("tcp.TCPSynRetrans", 0)
    if drops < 1 or not (late or resent >= 1):
        return None
    return Finding(
        "accept queue",
        f"{drops:,.0f} handshakes dropped from a full accept queue, {resent:,.0f} sent again, "
        f"{late:,} replies later than {LATE:g} s: the time is the kernel's retry timer",
        "Raise `listen` (and net.core.somaxconn) above the number of clients that connect at once.",
        withholds=TIME_BASED | {"cpu_vs_generator"},
    )


def _generator_bound(trial: Trial, plan: Plan) -> Finding | None:
    """
    Judge whether the generator, not the server, was at its limit.

    Its share counts time spent waiting for a CPU: on a shared machine a saturated client may have
    run for 0.4 only. Without `server.cores` one core is assumed, so that the gate fires only where
    the server was below its limit whatever it had. A server with one process at its limit is at
    its own limit too, however many cores idle beside it.
    """
    seconds = server_cpu(trial.readings)
    elapsed = trial.readings.get("elapsed")
    if elapsed is None and plan.load.requests is not None:
        elapsed = max(window.wall for window in trial.windows)
    if seconds is None or not elapsed or all(window.wall <= 0 for window in trial.windows):
        return None
    generator = max(
        (window.cpu + window.wait) / window.wall for window in trial.windows if window.wall > 0
    )
    cores = trial.readings.get("server.cores", 1.0)
    used = seconds / elapsed
    if (
        generator < BUSY
        or used >= BUSY * cores
        or trial.readings.get("server.busiest", 0.0) >= BUSY
    ):
        return None
    return Finding(
        "generator-bound",
        f"the generator was busy for {generator:.0%} of the time, the server used "
        f"{used:.2f} of {cores:g} {'core' if cores == 1 else 'cores'}",
        "Use a second generator process (locust --processes 2) or a cheaper one; throughput here "
        "is the generator's.",
        withholds=TIME_BASED,
    )


def _machine(trial: Trial) -> Finding | None:
    """
    Judge whether something outside disturbed the trial.

    It asks for a repeat. A slight disturbance withholds nothing: in shuffled blocks it widens the
    intervals (simulated: 8.3 % instead of 6.7 %) and leaves their coverage at 95 %, and the A/A
    arm shows whether it was too much. A severe one withholds everything.
    """
    readings = trial.readings
    cores = max(1.0, readings.get("server.cores", 1.0))
    parts = _disturbances(readings, FOREIGN_CPU * cores)
    if not parts:
        return None
    severe = readings.get("machine.foreign_cpu", 0.0) > FOREIGN_CPU_SEVERE * cores
    return Finding(
        "machine",
        "; ".join(parts),
        "Stop other work on this machine, or give the run more blocks.",
        withholds=None if severe else frozenset(),
        outside=True,
    )


def _disturbances(readings: Mapping[str, float], limit: float) -> list[str]:
    found = []
    if (foreign := readings.get("machine.foreign_cpu", 0.0)) > limit:
        found.append(f"other programs used {foreign:.2f} cores (limit {limit:.2f})")
    if (steal := readings.get("machine.steal", 0.0)) > STEAL:
        found.append(f"the hypervisor took {steal:.1%} of the time (limit {STEAL:.0%})")
    if readings.get("machine.throttled", 0.0) > 0:
        found.append("the CPU quota of the control group was used up")
    return found
