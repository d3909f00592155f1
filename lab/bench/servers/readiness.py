"""
A server is ready when it gives the right reply, and the reply is its own.

uWSGI listens before its application is loaded, a broken application answers 500 faster than a
sound one answers anything, and a port may be served by somebody else: only the expected body, from
a socket that a process of the tree owns, proves that what will be measured is what was asked for.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from lab.bench.servers.fetch import LongReplyError, SlowReplyError, exchange, fetch
from lab.bench.servers.ports import listeners
from lab.errors import OtherReplyError, ServerStartError
from lab.model.echo import difference, message
from lab.model.protocols import Endpoint, RunningServer
from lab.model.request import Expectation, Request
from lab.model.workload import Workload

SHOWN = 120
"""Bytes of a reply that a message has room for."""

DEADLINE = 20.0
"""Seconds; a Django project of some size needs a few on a slow machine."""

PATIENCE = 2.0
"""Seconds for which a wrong reply may become right."""

GATEWAY = frozenset({502, 503, 504})
"""Statuses that may last until the deadline: what is behind the gateway has not come up yet."""

INTERVAL = 0.02
"""Seconds between attempts; uWSGI with a small application is up in 300 ms."""

_DJANGO = re.compile(rb"<h1>Bad Request \(400\)</h1>|ALLOWED_HOSTS")
# What Django says of a request whose Host it refuses: django.views.defaults.bad_request, and where
# DEBUG is on the page of the exception.


RESTS, LOOK, COMING = 0.5, 0.15, 30.0
"""Cores that a server which has come up uses less than, the seconds of one look, and the seconds
that its workers may take. gunicorn starts them up to 0.1 s apart."""


def wait_until_at_rest(pid: int) -> None:
    """
    Return once a server's processes have come up, or some time has passed.

    Where each worker loads the application by itself, the first answers while others still load.

    Args:
        pid: The root of their tree.
    """
    (before, _), until = _tree(pid), time.monotonic() + COMING
    while time.monotonic() < until:
        time.sleep(LOOK)
        now, at_work = _tree(pid)
        spent = sum(used - before.get(process_id, 0.0) for process_id, used in now.items())
        if now.keys() <= before.keys() and spent < RESTS * LOOK and not at_work:
            return
        before = now


def _tree(pid: int) -> tuple[dict[int, float], bool]:
    """
    Return process -> seconds of CPU, of a tree, and whether one of them is at work.

    Where others use the CPUs, who loads gets little of them, and is at work all the same.
    """
    import psutil  # noqa: PLC0415 - the extra `run` has it, and who only reads does without

    used: dict[int, float] = {}
    at_work = False
    with suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        for child in (root, *root.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                times = child.cpu_times()
                used[child.pid] = times.user + times.system
                at_work |= child.status() in {psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP}
    return used, at_work


def satisfies(expect: Expectation, status: int, body: bytes) -> bool:
    """Return whether a reply is correct; without body or pattern, its status decides."""
    if status != expect.status or (expect.body is not None and body != expect.body):
        return False
    return expect.pattern is None or re.search(expect.pattern.encode(), body) is not None


def wait_until_ready(
    profile: str, server: RunningServer, workload: Workload, deadline: float = DEADLINE
) -> None:
    """
    Return as soon as *server* gives the right reply.

    Args:
        profile: Its name, for messages.
        server: What has been started, and has not proved itself yet.
        workload: Request and expected reply.
        deadline: Seconds.

    Raises:
        OtherReplyError: It kept answering something else.
        ServerStartError: It ended, or was silent to the end.
    """
    where = server.endpoint.address
    began = time.monotonic()
    wrong_since: float | None = None
    while True:
        if (how := server.ended()) is not None:
            raise ServerStartError(profile, how, server.log_tail())
        spent = time.monotonic() - began
        left = max(0.1, deadline - spent)
        # Longer and longer: a server that ended is noticed soon, a slow one gets its time.
        seen = _attempt(server, workload, min(max(1.0, spent), left), left)
        if seen is None:
            return
        spent = time.monotonic() - began
        if not seen.final:
            wrong_since = None
        elif wrong_since is None:
            wrong_since = spent
        elif spent - wrong_since > PATIENCE:
            problem = f"on {where} {seen.text}"
            raise seen.error(profile, problem, server.log_tail(), explained=seen.answers)
        if spent > deadline:
            problem = f"no correct reply within {deadline:.0f} s: on {where} {seen.text}"
            raise seen.error(profile, problem, server.log_tail(), explained=seen.answers)
        time.sleep(INTERVAL)


@dataclass(frozen=True, slots=True)
class _Seen:
    """Why a server is not ready."""

    text: str
    final: bool = False
    """Whether waiting longer than `PATIENCE` is in vain."""
    answers: bool = False
    """Whether the application does answer, so that *text* says all."""

    @property
    def error(self) -> type[ServerStartError]:
        """What this is if it lasts."""
        return OtherReplyError if self.answers else ServerStartError


def _attempt(
    server: RunningServer, workload: Workload, silence: float, whole: float
) -> _Seen | None:
    ask = _ask_http if workload.wire.manner.http else _ask_echo
    try:
        wrong = ask(server.endpoint, workload, silence, whole)
    except SlowReplyError as error:
        return _Seen(str(error))
    except LongReplyError as error:
        return _Seen(str(error), final=True)
    except TimeoutError:
        return _Seen("it accepts the connection and does not answer")
    except (ConnectionRefusedError, FileNotFoundError):
        return _Seen("nothing listens")
    except (OSError, HTTPException) as error:
        # uWSGI closes without a word when a bare WSGI application raises.
        return _Seen(f"there is no whole reply: {error or type(error).__name__}", final=True)
    if wrong is not None or server.endpoint.socket:  # which lies in a folder of the trial's own
        return wrong
    if (owner := _foreign_owner(server.pid, server.endpoint.port)) is not None:
        return _Seen(f"the right reply comes from another server: {owner}", final=True)
    return None


def _ask_http(endpoint: Endpoint, workload: Workload, silence: float, whole: float) -> _Seen | None:
    request = workload.asks[0]
    status, _, body = fetch(endpoint, request, silence, whole, workload.host)
    if satisfies(request.expect, status, body):
        return None
    passing = status in GATEWAY and status != request.expect.status
    wrong = f"it answers {describe(request, workload.host, status, body)}"
    return _Seen(wrong, final=not passing, answers=status < 500)


def _ask_echo(endpoint: Endpoint, workload: Workload, silence: float, whole: float) -> _Seen | None:
    # That its connection is closed again also spares a server of asyncio a slow first trial. It
    # reads into 256 KiB, for which malloc maps fresh pages, and unmaps them, at every message (two
    # page faults each, 3 to 5 times the CPU) until it has freed such a piece whole; and it does so
    # at the end of its first connection.
    sent = message(0, workload.size, workload.lines)
    back = exchange(endpoint, sent, silence, whole)
    if back == sent:
        return None
    wrong = f"it does not send back what came: {difference(sent, back)}"
    return _Seen(wrong, final=True, answers=True)


def _excerpt(body: bytes, begin: int = 0) -> str:
    """Return what of a body fits into a message, from a byte on."""
    end = begin + SHOWN
    text = repr(body[begin:end].decode("utf-8", "replace"))
    return f"{'...' if begin else ''}{text}{'...' if len(body) > end else ''}"


def _differing(body: bytes, expected: bytes) -> str:
    """Say what came and what was expected, from a little before the first byte that differs."""
    pairs = enumerate(zip(body, expected, strict=False))
    same = next((at for at, (a, b) in pairs if a != b), min(len(body), len(expected)))
    begin = max(0, same - SHOWN // 3) if same > SHOWN // 2 else 0
    received, wanted = (_excerpt(content, begin) for content in (body, expected))
    where = f", the same up to byte {same}" if begin else ""
    return f"{received}; expected is {wanted}{where}"


def describe(request: Request, host: str, status: int, body: bytes) -> str:
    """Say what came instead of the right reply, and what to do."""
    expect = request.expect
    if status == 400 and _DJANGO.search(body):
        refused = host.partition(":")[0]
        why = f"ALLOWED_HOSTS does not hold {refused}; --host www.example.org"
        return f"{request} with 400 Bad Request: {why}"
    text = f"{request} with {status} {_excerpt(body)}"
    if status != expect.status:
        hint = f": give a path that it serves (--path), or --status {status}"
        return f"{text}; expected is status {expect.status}{hint * (status == 404)}"
    if expect.body is not None and body != expect.body:
        return f"{request} with {status} {_differing(body, expect.body)}"
    return (
        f"{text}; --check {expect.pattern!r} is found nowhere in its body: change the pattern, or "
        "ask for another --path"
    )


def _foreign_owner(tree: int, port: int) -> str | None:
    """Return who else listens on *port*; None if all listeners are sockets of *tree*."""
    import psutil  # noqa: PLC0415 - what only reads profiles is installed without it

    try:
        ours = psutil.Process(tree).children(recursive=True)
    except psutil.NoSuchProcess:
        ours = []
    # All of them: with SO_REUSEPORT a stale server may share the port and answer every other time.
    foreign = listeners(port).difference(*(_sockets(process.pid) for process in ours))
    if not foreign:
        return None
    for process in psutil.process_iter():
        if foreign & _sockets(process.pid):
            return f"process {process.pid}"
    return "a process that is not ours to see"


def _sockets(pid: int) -> frozenset[str]:
    sockets: set[str] = set()
    with suppress(OSError):  # it has ended meanwhile, or is somebody else's
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed meanwhile
                sockets.add(str(descriptor.readlink()))
    return frozenset(sockets)
