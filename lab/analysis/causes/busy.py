"""
Rules for a server that is busy: with its router, one process, a lock, connections, or its work.

Thresholds are priors, put to the test by the planted causes of `lab selftest`. A rule whose
readings are absent is silent.
"""

from __future__ import annotations

from lab.analysis.causes import words
from lab.analysis.causes.signs import BEHIND, Signs
from lab.analysis.gates import BUSY
from lab.model import Cause
from lab.settings.uwsgi import is_on

ROUTER_SHARE = 0.25
"""Of the server's CPU. Behind the router 0.28-0.30 was measured where its removal gives 1.6x: the
workers then also save the connection that it makes to them for every request."""

IDLE_CORE = 0.5
"""Idle cores that a second process could use; with less it would gain too little to be a cause."""

ALONE = 0.3
"""Cores that all other processes of the server use at the most, when one does the work."""

GIL_SWITCHES = 0.2
"""Voluntary switches a reply. Threads that hand the interpreter lock on show 0.3-1.3, processes of
one thread at full load 0.01-0.04."""

GIL_BUSIEST = 1.1
"""Cores above which the threads of a process do run side by side, so that no lock holds them."""

CONVOY_SWITCHES = 0.5
"""Voluntary switches a reply. Processes that queue for thunder-lock show 1.0, without it 0.02."""

NONE_REUSED = 0.9
"""Connections a reply from which none is used again."""

KERNEL_SHARE = 0.3
"""Of the server's CPU. Workers with a connection for each request: at 0.35 keeping them saves a
quarter of the CPU a request, at 0.15 (this project's own application) less than a tenth."""

LOG_LINE = 40
"""Bytes logged a reply; uWSGI's own line has above 100, the shortest useful format half."""


def router(s: Signs) -> Cause | None:
    """The HTTP router of uWSGI takes a large part of the server's CPU, and there is no more."""
    used = s.get("server.router")
    if used is None or not s.used or used / s.used < ROUTER_SHARE:
        return None
    if not s.at_limit and used < BUSY:
        return None
    return Cause(
        "router",
        f"uWSGI's HTTP router used {used:.2f} of the server's {s.used:.2f} cores "
        f"({used / s.used:.0%}); it opens a connection to a worker for every request",
        words.against(words.server(s), words.generator(s), words.drops(s)),
    )


def single_worker(s: Signs) -> Cause | None:
    """One process of one thread does the work and cannot do more, and a core is idle."""
    busiest, idle = s.get("server.busiest"), s.get("server.idle")
    if busiest is None or idle is None or busiest < BUSY or idle < IDLE_CORE:
        return None
    if not _alone(s, busiest) or s.threads > 1 or s.processes not in {1, None}:
        return None
    return Cause(
        "single worker",
        f"one process used {busiest:.2f} core with {idle:.2f} idle cores beside it",
        words.against(words.generator(s), words.switches(s), words.drops(s)),
    )


def gil(s: Signs) -> Cause | None:
    """The threads of one busy process take turns, and a core is idle."""
    busiest, idle, switches = s.get("server.busiest"), s.get("server.idle"), s.switches
    if busiest is None or idle is None or switches is None or s.threads < 2:
        return None
    if not BUSY <= busiest <= GIL_BUSIEST or idle < IDLE_CORE or switches < GIL_SWITCHES:
        return None
    if (s.get("server.router") or 0.0) >= busiest:
        return None
    return Cause(
        "GIL",
        f"a process of {s.threads} threads used {busiest:.2f} core, no more than one thread "
        f"could, with {idle:.2f} idle cores beside it and {switches:.2g} voluntary switches a "
        "reply",
        words.against(words.generator(s), words.drops(s)),
    )


def lock_convoy(s: Signs) -> Cause | None:
    """Processes queue for thunder-lock instead of waiting for connections."""
    if not is_on(s.options, "thunder-lock") or (s.processes or 1) < 2 or s.at_once != 1:
        return None
    if s.switches is None or s.switches < CONVOY_SWITCHES or (s.share or 0.0) < BEHIND:
        return None
    if s.routed:  # the router's connections alone make more switches than the lock
        return None
    return Cause(
        "lock convoy",
        f"{s.switches:.2g} voluntary switches a reply in {s.processes} processes of one thread "
        "with thunder-lock; without a lock between them there are 0.01-0.04",
        words.against(
            words.server(s), "so its workers do not sleep in the application", words.generator(s)
        ),
    )


def reconnecting(s: Signs) -> Cause | None:
    """Every request pays for a connection of its own, which is a large part of the work."""
    if s.connects < NONE_REUSED or s.system is None or s.system < KERNEL_SHARE or not s.at_limit:
        return None
    if s.routed:  # the router connects to a worker for each request, come what may
        return None
    return Cause(
        "reconnecting",
        f"{s.connects:.2f} connections a reply, and the kernel used {s.system:.0%} of the "
        "server's CPU",
        words.against(words.server(s), words.generator(s), words.drops(s)),
    )


def logging_costs(s: Signs) -> Cause | None:
    """The request log takes CPU: never what limits first, and worth a toggle."""
    logged = s.each("server.logged")
    if not s.logs or not s.at_limit:
        return None
    if s.get("server.log_pipe") == 1.0:
        sink = "a line into a pipe"
    elif logged is not None and logged >= LOG_LINE:
        sink = f"{logged:.0f} bytes into a file"
    else:
        return None
    return Cause("logging", f"{sink} for each request, by a server at the limit of its CPU")


def server_cpu(s: Signs) -> Cause | None:
    """The server computes with all that it has, and nothing odd is seen: the legal limit."""
    if not s.at_limit or s.used is None or s.cpu is None or s.cores is None:
        return None
    limit = f"{s.cores:g} core{'' if s.cores == 1 else 's'}"
    if s.capacity is not None and s.capacity < 0.95 * s.cores:
        limit += f", and others used the rest but {s.capacity - s.used:.2f}"
    return Cause(
        "server CPU",
        f"the server used {s.used:.2f} of {limit}; {s.cpu * 1e6:,.0f} µs a reply",
        words.against(words.generator(s), words.drops(s), words.switches(s)),
    )


def _alone(s: Signs, busiest: float) -> bool:
    """Return whether the busiest process does the server's work, and is not the router."""
    routed = s.get("server.router") or 0.0
    return routed < busiest and (s.used or 0.0) - busiest - routed < ALONE
