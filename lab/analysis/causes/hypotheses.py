"""
The causes that a trial may show, a function each.

A function takes the signs of a trial, and returns what is seen of its cause, with its numbers, and
what speaks against the other causes; None where the cause is not seen, or a reading that it needs
is absent. Thresholds are priors, put to the test by the planted causes of `lab selftest`. To add a
cause, write its function under its `Hypothesis` at the place where it is to be asked for, and plant
it in `studies.selftest.cases`.
"""

from __future__ import annotations

from collections.abc import Sequence

from lab.analysis.causes import phrases
from lab.analysis.causes.hypothesis import Aim, Evidence, Hypothesis, When, usual_aim
from lab.analysis.causes.signs import BEHIND, IDLE_CORE, LOST_SHARE, STALL_LEAST, Signs
from lab.analysis.gates import BUSY, LATE
from lab.analysis.gates.backing import SATURATED
from lab.analysis.gates.effort import GENERATOR_BOUND
from lab.analysis.gates.network import ACCEPT_QUEUE
from lab.analysis.gates.open_loop import LATE_GENERATOR
from lab.analysis.metrics import merged_latency
from lab.config import moves
from lab.config.interface import ASGI
from lab.model.measurement import Window
from lab.model.plan import Arm, Better
from lab.model.wording import counted

LATE_REPLIES = 0.02
"""Share of late replies from which p99 shows whether they are gone; below, throughput has to."""

ROUTER_SHARE = 0.25
"""Of the server's CPU. Behind the router 0.28-0.30 was measured where its removal gives 1.6x: the
workers then also save the connection that it makes to them for every request."""

ALONE = 0.3
"""Cores that all other processes of the server use at the most, when one does the work."""

GIL_SWITCHES = 0.2
"""Voluntary switches per reply. Threads that hand the interpreter lock on show 0.3-1.3, processes
of one thread at full load 0.01-0.04."""

GIL_BUSIEST = 1.1
"""Cores above which the threads of a process do run side by side, so that no lock holds them."""

WAKING = 1.0
"""Voluntary switches per reply, from which the threads of a process may wait for each other more
than they compute."""

CONVOY_SWITCHES = 0.5
"""Voluntary switches per reply. Processes that queue for thunder-lock show 1.0, without it 0.02."""

LOG_LINE = 40
"""Bytes logged a reply; uWSGI's own line has above 100, the shortest useful format half."""

NONE_REUSED = 0.9
"""Connections per reply from which none is used again."""

KERNEL_SHARE = 0.3
"""Of the server's CPU. Workers with one connection per request: at 0.35 keeping them saves a
quarter of the CPU per request, at 0.15 (this project's own application) less than a tenth."""

WAITING = 3.0
"""How many times longer than it computes a worker holds a request, when it mostly waits."""

SLEEPS = 0.5
"""Voluntary switches per reply: who waits within a request gives the CPU up about once in each."""

IN_LINE = 0.5
"""Median latency over connections / throughput. It is 1 where all requests wait in one line for a
worker, and far less where a few of them wait very long."""

ELSEWHERE = 0.7
"""Share of the looks in which the main thread of an idle worker waits for something other than
its sockets. A free event loop shows 0-0.1, and 0.2-0.4 where 40 threads want the interpreter, too;
one that is blocked shows 0.9-1."""

POOL = 36
"""Threads of a worker that wait within a call at a time. AnyIO has 40 for `def` handlers; in a full
pool some are between two requests, so that the mean was 25-40 in 20 trials of 3 looks or more."""

IO_PRESSURE = 0.05
"""Share of the time in which some task waited for a disk; a quiet machine shows below 0.01."""

MEMORY_PRESSURE = 0.01
"""Share of the time in which some task waited for memory; 0 as long as there is enough."""


def _aim_of_accept_queue(arm: Arm, windows: Sequence[Window]) -> Aim:
    """Return p99 where late replies are many enough to show there; throughput else."""
    latency = merged_latency(windows)
    late = sum(count for us, count in latency.items() if us >= LATE * 1e6)
    if arm.load.rate is None and late / max(1, latency.total()) >= LATE_REPLIES:
        return "p99", Better.LOWER
    return usual_aim(arm, windows)


@Hypothesis("accept queue", move=moves.longer_queue, aim=_aim_of_accept_queue)
def accept_queue(s: Signs) -> Evidence:
    """Handshakes were dropped from a full queue, and clients waited for the kernel's retry."""
    if ACCEPT_QUEUE not in s.gates or s.lost <= LOST_SHARE:
        return None
    seen = (
        f"{s.get('listener.drops'):,.0f} handshakes dropped from a full accept queue, "
        f"{s.get('tcp.TCPSynRetrans') or 0:,.0f} sent again; {s.late:,} replies later than "
        f"{LATE:g} s; {s.lost:.0%} of the clients' time was spent waiting for retries"
    )
    return seen, phrases.server(s), phrases.generator(s)


@Hypothesis("generator")
def generator(s: Signs) -> Evidence:
    """The client was at its limit and the server was not."""
    seen = s.gates.get(GENERATOR_BOUND) or s.gates.get(LATE_GENERATOR)
    return None if seen is None else (seen, phrases.server(s), phrases.drops(s))


@Hypothesis("backend", When.FULL_LOAD)
def backend(s: Signs) -> Evidence:
    """A backing service that is measured along, such as a database, had no more to give."""
    if s.backend is None:
        return None
    cpu = f"{(s.per_reply('backend.cpu') or 0.0) * 1e6:,.0f} µs of CPU per reply"
    if _no_core_left(s):
        # The one that uses more of them limits.
        if s.backend < (s.used or 0.0):
            return None
        seen = f"the backend used {s.backend:.2f} and the server {s.used:.2f} of "
        seen += f"{counted(s.cores or 0.0, 'core')}; {cpu} are the backend's"
    else:
        # Without an idle core, who waits for a CPU waits for the one that the server has.
        busiest = s.get("backend.busiest") or 0.0
        if busiest < SATURATED or (s.get("server.idle") or 0.0) < IDLE_CORE:
            return None
        seen = f"the backend ran or waited for a CPU for {busiest:.0%} of the time, {cpu}"
    return seen, phrases.server(s), phrases.generator(s), phrases.drops(s)


def _no_core_left(s: Signs) -> bool:
    """Return whether server and backend together used up the cores that they share."""
    if s.used is None or s.capacity is None or s.backend is None:
        return False
    return s.used + s.backend >= BUSY * (s.capacity + s.backend)


@Hypothesis("router", When.FULL_LOAD, move=moves.without_router)
def router(s: Signs) -> Evidence:
    """The HTTP router of uWSGI takes a large part of the server's CPU, and there is no more."""
    used = s.get("server.router")
    if used is None or not s.used or used / s.used < ROUTER_SHARE:
        return None
    if not s.at_limit and used < BUSY:
        return None
    seen = (
        f"uWSGI's HTTP router used {used:.2f} of the server's {s.used:.2f} cores "
        f"({used / s.used:.0%}); it opens a connection to a worker for every request"
    )
    return seen, phrases.server(s), phrases.generator(s), phrases.drops(s)


@Hypothesis("single worker", When.FULL_LOAD, move=moves.second_process)
def single_worker(s: Signs) -> Evidence:
    """One process of one thread does the work and cannot do more, and a core is idle."""
    busiest, idle = s.get("server.busiest"), s.get("server.idle")
    if busiest is None or idle is None or busiest < BUSY or idle < IDLE_CORE:
        return None
    if not _alone(s, busiest) or s.threads > 1 or s.settings.processes not in {1, None}:
        return None
    seen = f"one process used {busiest:.2f} core with {idle:.2f} idle cores beside it"
    return seen, phrases.generator(s), phrases.switches(s), phrases.drops(s)


def _alone(s: Signs, busiest: float) -> bool:
    """Return whether the busiest process does the server's work, and is not the router."""
    routed = s.get("server.router") or 0.0
    return routed < busiest and (s.used or 0.0) - busiest - routed < ALONE


@Hypothesis("GIL", When.FULL_LOAD, move=moves.processes_for_threads)
def gil(s: Signs) -> Evidence:
    """The threads of one busy process take turns, and a core is idle."""
    busiest, idle, switches = s.get("server.busiest"), s.get("server.idle"), s.switches
    if busiest is None or idle is None or switches is None or s.threads < 2:
        return None
    if not BUSY <= busiest <= GIL_BUSIEST or idle < IDLE_CORE or switches < GIL_SWITCHES:
        return None
    if (s.get("server.router") or 0.0) >= busiest:
        return None
    seen = (
        f"a process of {s.threads} threads used {busiest:.2f} core, no more than one thread "
        f"could, with {idle:.2f} idle cores beside it and {switches:.2g} voluntary switches "
        "per reply"
    )
    return seen, phrases.generator(s), phrases.drops(s)


@Hypothesis("CPU affinity", When.FULL_LOAD, outside=moves.ON_ONE_CPU)
def cpu_affinity(s: Signs) -> Evidence:
    """The threads of one worker run on several CPUs, and wake each other across them."""
    busiest, threads = s.get("server.busiest"), s.get("server.busiest_threads")
    if busiest is None or busiest <= GIL_BUSIEST or not _alone(s, busiest):
        return None
    if threads is None or threads < 2 or s.switches is None or s.switches < WAKING:
        return None
    seen = (
        f"one process of {threads:.0f} threads used {busiest:.2f} cores, with {s.switches:.2g} "
        "voluntary switches per reply"
    )
    return seen, phrases.generator(s), phrases.drops(s)


@Hypothesis("lock convoy", When.FULL_LOAD, move=moves.without_lock)
def lock_convoy(s: Signs) -> Evidence:
    """Processes queue for thunder-lock instead of waiting for connections."""
    number = s.settings.processes
    if not s.settings.accept_lock or (number or 1) < 2 or s.settings.at_once != 1:
        return None
    if s.switches is None or s.switches < CONVOY_SWITCHES or (s.share or 0.0) < BEHIND:
        return None
    if s.settings.routed:  # the router's connections alone make more switches than the lock
        return None
    seen = (
        f"{s.switches:.2g} voluntary switches per reply in {number} processes of one thread "
        "with thunder-lock; without a lock between them there are 0.01-0.04"
    )
    return (
        seen,
        phrases.server(s),
        "so its workers do not sleep in the application",
        phrases.generator(s),
    )


@Hypothesis("logging", When.FULL_LOAD, move=moves.without_request_log)
def blocking_log(s: Signs) -> Evidence:
    """The request log goes into a pipe whose reader is slower than the server."""
    if not s.settings.logs or s.get("server.log_pipe") != 1.0 or s.share is None or s.at_limit:
        return None
    written = s.per_reply("server.writes")
    if s.generator >= BUSY or (written is not None and written < 1):
        return None
    seen = (
        "a line is logged for each request, into a pipe, and the server used only "
        f"{s.share:.0%} of its CPU: it waits for the pipe's reader"
    )
    return seen, phrases.generator(s), phrases.drops(s)


@Hypothesis("reconnecting", When.FULL_LOAD, move=moves.kept_connections)
def reconnecting(s: Signs) -> Evidence:
    """Every request pays for a connection of its own, which is a large part of the work."""
    if s.connects < NONE_REUSED or s.system is None or s.system < KERNEL_SHARE or not s.at_limit:
        return None
    if s.settings.routed:  # the router connects to a worker for each request, come what may
        return None
    seen = f"{s.connects:.2f} connections per reply"
    if s.load.keepalive:
        closed = "the server closed the connection after each reply, though the clients would keep"
        seen = f"{closed} it ({seen})"
    seen += f", and the kernel used {s.system:.0%} of the server's CPU"
    return seen, phrases.server(s), phrases.generator(s), phrases.drops(s)


@Hypothesis("workers asleep", When.FULL_LOAD, move=moves.twice_the_processes)
def workers_asleep(s: Signs) -> Evidence:
    """All workers are occupied, and mostly wait within a request; the CPUs are idle."""
    places = s.settings.places
    if places is None or s.share is None or s.cpu is None:
        return None
    held = places / s.rate
    resent = s.get("tcp.TCPSynRetrans") or 0.0
    if places >= s.load.connections or resent >= 1:
        return None
    if not s.is_idle or held < WAITING * s.cpu or (s.switches or 0.0) < SLEEPS:
        return None
    if s.p50 < IN_LINE * s.load.connections / s.rate:
        return None
    seen = (
        f"{places} requests are served at a time, {s.rate:,.0f} a second: each occupies its "
        f"worker for {held * 1e3:.3g} ms and computes for {s.cpu * 1e3:.2g} ms of it"
    )
    return seen, *phrases.idle(s)


@Hypothesis("event loop blocked", When.FULL_LOAD, outside=moves.TWICE_THE_WORKERS)
def event_loop_blocked(s: Signs) -> Evidence:
    """A worker's event loop waits within a request, and serves no other; the CPUs are idle."""
    elsewhere = _elsewhere(s)
    if elsewhere is None or elsewhere < ELSEWHERE:
        return None
    seen = (
        f"in {elsewhere:.0%} of the looks at a worker that waited, its event loop waited for "
        "something other than its sockets"
    )
    return seen, *phrases.idle(s)


@Hypothesis("thread pool full", When.FULL_LOAD, outside=moves.LARGER_POOL)
def thread_pool_full(s: Signs) -> Evidence:
    """All threads for `def` handlers wait within a request; event loops and CPUs are idle."""
    elsewhere, threads = _elsewhere(s), s.get("workers.waiting_threads")
    if elsewhere is None or elsewhere >= ELSEWHERE or threads is None or threads < POOL:
        return None
    seen = (
        f"{threads:.0f} threads of a worker waited within a call at a time, and by default AnyIO "
        "has 40 for `def` handlers; its event loop was free"
    )
    return seen, *phrases.idle(s)


def _elsewhere(s: Signs) -> float | None:
    """Return how often event loops waited for something other than sockets; None if not idle."""
    return s.get("workers.elsewhere") if s.is_idle and s.interface == ASGI else None


@Hypothesis("respawning", move=moves.without_recycling)
def respawning(s: Signs) -> Evidence:
    """Workers were replaced in the window, and it was felt."""
    replaced = s.get("server.respawned") or 0.0
    idle = s.load.rate is None and s.share is not None and not s.at_limit
    every = s.settings.processes is not None and replaced >= s.settings.processes
    if replaced < 1 or not (idle or every or s.stalled > LOST_SHARE):
        return None
    seen = (
        f"{replaced:.0f} worker processes began in the window; {s.stalls:,} replies took far "
        f"longer than the median, {s.stalled:.0%} of the clients' time"
    )
    return seen, phrases.server(s), phrases.drops(s)


@Hypothesis("stalls")
def stalls(s: Signs) -> Evidence:
    """The server stands still from time to time."""
    resent = s.get("tcp.TCPSynRetrans") or 0.0
    if s.stalled <= LOST_SHARE or s.get("listener.drops") or resent >= 1:
        return None
    seen = (
        f"{s.stalls:,} replies took longer than {STALL_LEAST * 1e3:.0f} ms and far longer than the "
        f"median of {s.p50 * 1e3:.3g} ms: {s.stalled:.0%} of the clients' time"
    )
    return (
        seen,
        phrases.drops(s),
        "no handshake was sent again" if resent == 0 else "",
        phrases.server(s),
    )


@Hypothesis("I/O wait", move=moves.without_request_log)
def io_wait(s: Signs) -> Evidence:
    """Tasks waited for a disk while the server had CPU left."""
    waited = s.get("pressure.io_some") or 0.0
    if waited <= IO_PRESSURE or s.at_limit or s.share is None:
        return None
    seen = f"some task of this machine waited for a disk in {waited:.0%} of the time"
    return seen, phrases.server(s), phrases.generator(s)


@Hypothesis("memory", move=moves.half_the_processes)
def memory(s: Signs) -> Evidence:
    """Tasks waited for memory."""
    waited = s.get("pressure.memory_some") or 0.0
    if waited <= MEMORY_PRESSURE:
        return None
    seen = f"some task of this machine waited for memory in {waited:.1%} of the time"
    return seen, phrases.server(s), phrases.generator(s)


WHOLE, WHOLE_OF_WINDOWS = 0.95, 0.7
"""Share of its cores below which others had a part of them; the same of a server in windows."""


@Hypothesis("server CPU", When.LAST, move=moves.smallest_application)
def server_cpu(s: Signs) -> Evidence:
    """The server computes with all that it has, and nothing odd is seen: the legal limit."""
    if not s.at_limit or s.used is None or s.cpu is None or s.cores is None:
        return None
    seen = f"the server used {s.used:.2f} of {counted(s.cores, 'core')}"
    # Of a slowed server's share a part is lost where its windows open and close.
    whole = WHOLE if s.get("server.share") is None else WHOLE_OF_WINDOWS
    if s.capacity is not None and s.capacity < whole * s.cores:
        seen += f", while {phrases.others(s)} used {s.cores - max(s.capacity, s.used):.2f}"
    seen += f"; {s.cpu * 1e6:,.0f} µs a reply"
    return seen, phrases.generator(s), phrases.drops(s), phrases.switches(s)


@Hypothesis("logging", When.BESIDE, move=moves.without_request_log)
def costly_log(s: Signs) -> Evidence:
    """The request log takes CPU: never what limits first, and worth a toggle."""
    logged = s.per_reply("server.logged")
    if not s.settings.logs or not s.at_limit:
        return None
    if s.get("server.log_pipe") == 1.0:
        sink = "a line into a pipe"
    elif logged is not None and logged >= LOG_LINE:
        sink = f"{logged:.0f} bytes into a file"
    else:
        return None
    return (f"{sink} for each request, by a server at the limit of its CPU",)
