"""Gates on what TCP did: dropped packets and handshakes, timers instead of work, no port left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from lab.analysis.gates import common
from lab.analysis.metrics import merged_latency, merged_service
from lab.model.finding import Beside, Finding, Gate, Whose
from lab.model.measurement import Trial
from lab.model.workload import Transport

TIMERS: Mapping[float, tuple[str, ...]] = {
    0.040: ("DelayedACKs",),
    0.050: (),
    0.200: ("TCPTimeouts", "RetransSegs"),
    1.0: ("TCPSynRetrans", "TCPTimeouts"),
    1.2: ("TCPTimeouts",),
    1.4: ("TCPTimeouts",),
    1.8: ("TCPTimeouts",),
    3.0: ("TCPSynRetrans", "TCPTimeouts"),
    7.0: ("TCPSynRetrans", "TCPTimeouts"),
}
"""Seconds that replies wait for a timer, and the kernel's counters that go with it: 40 ms for a
delayed acknowledgement; 50 ms, a server's own polling; 200 ms until data are sent again; 1, 3 and
7 s for a handshake (kernels since 6.5 repeat it each second); 1.2, 1.4 and 1.8 s for data after a
handshake that the server forgot. An application that waits 40 ms on purpose over kept connections
looks like the first, acknowledgements included."""

CLUSTER = (0.985, 1.03)
"""What counts as a timer's value, as a share of it: histogram buckets lose up to 0.8 %, and a reply
takes its own time after the timer."""

TICKS = 0.008
"""Seconds by which the kernel's timers run later than they are set: two ticks of 4 ms. A reply sent
in two pieces over a kept connection took 42 to 48 ms (measured; 40 ms are set)."""

ONE_TICK = 0.5
"""Share of such a wider cluster that lies at one tick, in 3 % of its value. Of those replies it was
0.9; of latencies that spread by 6 % it is 0.2."""

NEIGHBOURS, OF_RETRIES = (0.8, 1.25), (0.93, 1.07)
"""From this share of a cluster's lower edge to this one of its upper, all else must be nearly
empty. From 1 s on timers lie closer together."""

ISOLATED = 0.9
"""Share of cluster and neighbours that is the cluster's. In the stored runs of this project no
cluster of work, at whatever latency, has more than 0.71 of it, and one of retries 0.92."""

TIMER_SHARE = 0.05
"""Share of replies from which a cluster is what percentiles and throughput are made of."""

FEW_TRIPS = 4
"""Round trips that a reply may take without a timer: a handshake, a request, and a reply of more
than ten segments, which TCP does not send at once."""

CONFIRMED = 0.5
"""Growth of a timer's counters, for each reply that waited for it, that shows that it was it."""


def tracking(trial: Trial, _beside: Beside) -> Finding | None:
    """
    Judge whether connection tracking dropped packets.

    Not whether TCP sent some again: it does so a second later, when the window may be over.
    """
    dropped = trial.readings.get("tcp.conntrack_drop", 0)
    if dropped < 1:
        return None
    return Finding(
        TRACKING,
        f"the kernel's connection tracking dropped {dropped:,.0f} packets: its table is full "
        '("nf_conntrack: table full, dropping packet")',
        "Remove the firewall rules that track connections (`iptables -S`, `nft list ruleset`), or "
        "raise net.netfilter.nf_conntrack_max, and nf_conntrack_buckets with it.",
    )


TRACKING = Gate(
    "connection tracking",
    45,
    tracking,
    Whose.MACHINE,
    fires="the kernel's connection tracking dropped a packet",
    withholds="everything",
    because="a firewall's rules, also those that a container engine left, track each connection "
    "for two minutes after its end; a full table drops handshakes, and every server seems slow. "
    "Entries that were evicted early, and collisions that were resolved, lose no packet",
    explains=True,
)


def accept_queue(trial: Trial, _beside: Beside) -> Finding | None:
    """Judge whether handshakes were dropped, and a client felt it. CPU per request still counts."""
    drops = trial.readings.get("listener.drops", 0)
    late = _late(trial)
    resent = trial.readings.get("tcp.TCPSynRetrans", 0)
    if drops < 1 or not (late or resent >= 1):
        return None
    return Finding(
        ACCEPT_QUEUE,
        f"{drops:,.0f} handshakes dropped from a full accept queue, {resent:,.0f} sent again, "
        f"{late:,} replies later than {common.LATE:g} s: the time is the kernel's retry timer",
        "Raise `listen` (and net.core.somaxconn) above the number of clients that connect at once.",
        withholds=common.ON_THE_WAY,
    )


ACCEPT_QUEUE = Gate(
    "accept queue",
    70,
    accept_queue,
    Whose.SERVER,
    fires="handshakes dropped, and sent again or replies later than 0.9 s",
    withholds="time",
    because="the time is the kernel's retry timer; CPU per request still counts",
)


def quantised(trial: Trial, _beside: Beside) -> Finding | None:
    """
    Judge whether replies waited for a timer instead of a server at work.

    The counters come first. Replies that are late by a handshake's retry, with as many handshakes
    sent again and none dropped by this server, were lost on the way. Else replies must cluster at a
    timer's value with next to none around it. If the kernel counted that timer, or nothing was
    counted at all (a published figure), the time-based metrics are withheld. If the counters were
    read and did not grow, the application may wait so long on purpose, as one that asks another
    service does: then it is a remark. Not for a server at its limit, whose line of clients has a
    sharp latency as well, nor beside drops, which explain the retries.
    """
    if trial.readings.get("listener.drops", 0) >= 1:
        return None
    return _lost_handshakes(trial) or _cluster(trial)


QUANTISED = Gate(
    "quantised",
    150,
    quantised,
    Whose.SERVER,
    fires="replies cluster at a timer (40, 50, 200 ms; 1, 1.2, 1.4, 1.8, 3, 7 s) with next to none "
    "around it, so long is not one to four round trips, and the server is not at its limit; or as "
    "many handshakes were sent again without a drop here",
    withholds="time, if the kernel counted that timer, or nothing counts it; else a remark, "
    "because the application may wait on purpose",
    because="a published p50 of exactly 50.00 ms: somebody polls",
)


def ports(trial: Trial, _beside: Beside) -> Finding | None:
    """
    Judge whether connections failed because no local port was free.

    Not whether many are in TIME_WAIT: 131,072 of them, the kernel's limit, were seen in sound
    trials without one failure, as a port is used up for one pair of addresses only and the kernel
    hands out those of other pairs. The failures are the generator's, so `errors` is withheld, and
    above 0.1 % what depends on time as well.
    """
    failed = port_failures(trial)
    if not failed:
        return None
    share = failed / (failed + trial.total("ok"))
    waiting = trial.readings.get("tcp.time_wait")
    seen = "" if waiting is None else f"; {waiting:,.0f} connections are in TIME_WAIT"
    return Finding(
        PORTS,
        f"{failed:,} connections found no free local port ({share:.2%} of the requests){seen}",
        "Widen net.ipv4.ip_local_port_range, wait a minute, or use keep-alive.",
        withholds=frozenset({"errors"})
        | (common.ON_THE_WAY if share > common.FAILED_SHARE_TAIL else set()),
    )


PORTS = Gate(
    "ports",
    50,
    ports,
    Whose.MACHINE,
    fires="connections failed because no local port was free",
    withholds="errors; from 0.1 % of the requests on, time as well",
    because="the failure is the client's. TIME_WAIT alone proves nothing: sound trials had 131,072 "
    "of them, the kernel's limit (measured)",
)


def port_failures(trial: Trial) -> int:
    """
    Return the connections that failed for want of a local port.

    A generator that does not tell them apart counts them under "connect"; they are taken for it
    while more than half of the port range is in TIME_WAIT.
    """
    counts: Counter[str] = Counter()
    for window in trial.windows:
        counts.update(window.errors)
    waiting, range_ = trial.readings.get("tcp.time_wait"), trial.readings.get("tcp.ports")
    crowded = waiting is not None and range_ is not None and waiting > range_ / 2
    return counts["ports"] + (counts["connect"] if crowded else 0)


def _late(trial: Trial) -> int:
    latency = merged_latency(trial.windows)
    return sum(count for us, count in latency.items() if us >= common.LATE * 1e6)


def _lost_handshakes(trial: Trial) -> Finding | None:
    late, resent = _late(trial), trial.readings.get("tcp.TCPSynRetrans", 0)
    if late <= common.FAILED_SHARE_TAIL * trial.total("ok") or resent < CONFIRMED * late:
        return None
    ours = "none dropped by this server" if "listener.drops" in trial.readings else "by whom unseen"
    return Finding(
        QUANTISED,
        f"handshakes lost between client and server: {resent:,.0f} sent again, {ours}, {late:,} "
        "replies later "
        f"than {common.LATE:g} s",
        "Check for a firewall, a rate limit or a full connection table between client and server.",
        withholds=common.ON_THE_WAY,
    )


def _cluster(trial: Trial) -> Finding | None:
    latency = merged_service(trial.windows) or merged_latency(trial.windows)
    # A UNIX socket has no timers of the kernel's.
    unix = trial.slot.arm.workload.transport is Transport.UNIX
    counters_known = unix or any(name.startswith("tcp.") for name in trial.readings)
    if common.at_limit(trial):
        return None
    for value, names in TIMERS.items():
        if _round_trips(trial, value):
            continue
        share = _isolated(latency, value, TICKS)
        counted = {name: trial.readings.get(f"tcp.{name}", 0.0) for name in names}
        if share and sum(counted.values()) >= CONFIRMED * share * latency.total():
            grown = ", ".join(f"{count:,.0f} {name}" for name, count in counted.items())
            return _timer(value, share, f" of the kernel's ({grown})", withheld=True)
        if share := _isolated(latency, value, 0.0):
            return _timer(value, share, "", withheld=not counters_known)
    return None


def _round_trips(trial: Trial, value: float) -> bool:
    """Return whether replies take *value* seconds because so long are a few round trips."""
    low, high = value * CLUSTER[0], value * CLUSTER[1] + TICKS
    return any(
        low <= trips * window.rtt <= high
        for window in trial.windows
        if window.rtt is not None
        for trips in range(1, FEW_TRIPS + 1)
    )


def _isolated(latency: Counter[int], value: float, slack: float) -> float:
    """Return the share of replies that cluster at *value* seconds; 0 where they do not."""
    low, high = value * CLUSTER[0], value * CLUSTER[1] + slack
    cluster_count = _count(latency, low, high)
    below, above = NEIGHBOURS if value < 1 else OF_RETRIES
    around = _count(latency, low * below, high * above)
    if cluster_count < max(1, TIMER_SHARE * latency.total()) or cluster_count < ISOLATED * around:
        return 0.0
    starts = (us / 1e6 for us in latency if low * 1e6 <= us <= high * 1e6)
    densest = max(_count(latency, start, start * CLUSTER[1]) for start in starts)
    return cluster_count / latency.total() if densest >= ONE_TICK * cluster_count else 0.0


def _count(latency: Counter[int], low: float, high: float) -> int:
    first, last = low * 1e6, high * 1e6
    return sum(count for us, count in latency.items() if first <= us <= last)


def _timer(value: float, share: float, whose: str, *, withheld: bool) -> Finding:
    return Finding(
        QUANTISED,
        f"{share:.0%} of the replies took about {value * 1e3:,.0f} ms, and next to none a little "
        f"less or more: a timer{whose}",
        "Send a reply in one piece, with TCP_NODELAY; look for a pause in the server."
        if withheld
        else "If the application does not wait that long on purpose, look for a pause in the "
        "server.",
        withholds=common.ON_THE_WAY if withheld else frozenset(),
    )
