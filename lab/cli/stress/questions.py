"""
What a server does with single requests and signals, and what it consists of: no load, no counting.

To add a question, write the function that answers it here, under `asks` with its words. Its place
in this file is its place in the table.
"""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace

from lab.bench.load.reply import MalformedReplyError, Reply
from lab.bench.machine import temporary
from lab.bench.probes.memory import parse_pss
from lab.bench.probes.processes import PROC
from lab.bench.servers.fetch import connected
from lab.bench.servers.runner import ServerRunner
from lab.cli.stress.faults import STOP
from lab.cli.stress.target import Target
from lab.cli.stress.watch import Watch, watched
from lab.model.plan import Arm
from lab.model.request import Request
from lab.model.wording import counted
from lab.model.workload import Workload

TIMEOUT = 10.0
"""Seconds for a reply, but for one that is known to take long."""

SILENCE = 1.0
"""Seconds without a byte after which nothing more is expected of a reply."""

IDLE = 6.0
"""Seconds for which an idle connection is watched: some servers close it after 2, 4 or 5."""

AT_ONCE = 0.3
"""Seconds within which a server that keeps no connection has closed it."""

SETTLED, SETTLING = 1.0, 10.0
"""Seconds without a new worker after which all have come; seconds for that."""

FILLED, FILLING = 4.0, 15.0
"""Seconds without a further request in the application after which there is room for no more, as
`cheaper` adds a worker after 3 s; seconds for that, before the hook lets the first one go."""

PIECE = 1 << 16
"""Bytes that are read at once."""

SLOWEST = 60.0
"""Seconds for which a request that takes long is waited for."""

AT_ONCE_MOST = 256
"""Requests that are sent at once to see how many of them the application has at once."""

CONNECTING = 0.1
"""Seconds for a connection: with a full accept queue none comes, and no more are needed."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """The answer to one question, as it was seen."""

    text: str
    difference: str | None = None
    """What two servers differ by, if this is another one; None where nothing follows from it."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A running server, and what it is asked."""

    target: Target
    workload: Workload
    slow: str | None
    """A path whose reply takes long; None where none is known."""
    watch: Watch | None = None
    """What is told from within; None of a server that runs as it is."""

    @property
    def request(self) -> Request:
        """The first of the requests."""
        return self.workload.asks[0]

    def sent(self, request: Request, more: bytes = b"") -> bytes:
        """
        Return *request* as it is sent, with *more* lines of headers.

        Raises:
            ValueError: It is too long for the protocol.
        """
        head, end, body = request.encode(self.workload.host).partition(b"\r\n\r\n")
        encode = self.target.server.endpoint.wire.manner.encode
        return encode(head + more + end + body)

    def ask(self, sent: bytes, timeout: float = TIMEOUT) -> str:
        """Return the status of the reply to what is sent, or what came in its place."""
        reply = Reply()
        try:
            with connected(self.target.server.endpoint, timeout) as sock:
                with suppress(OSError):  # it may have answered, and closed, before it had all
                    sock.sendall(sent)
                while not (whole := reply.feed(piece := sock.recv(PIECE))) and piece:
                    pass
        except TimeoutError:
            return f"no whole reply within {timeout:g} s"
        except (OSError, MalformedReplyError):
            return "closed without a reply"
        return str(reply.status) if whole or reply.end() else "closed without a reply"


Question = Callable[[Scene], Sighting | None]

QUESTIONS: dict[str, Question] = {}
"""In words -> what answers it, with None where that is not possible."""

WATCHED: set[str] = set()
"""Those whose server is watched from within. It is another one, so that the rest is as it is."""


def asks(text: str, *, watched: bool = False) -> Callable[[Question], Question]:
    """Decorate the function that answers a question, and add it to `QUESTIONS`."""

    def add(question: Question) -> Question:
        QUESTIONS[text] = question
        if watched:
            WATCHED.add(text)
        return question

    return add


def look_at(
    arm: Arm, cores: Sequence[int] | None, slow: str | None, application: str | None = None
) -> Mapping[str, Sighting]:
    """
    Return the answers of fresh servers to each question that they can be asked.

    Args:
        arm: The server's profile, and what it is asked.
        cores: CPUs that it may use; None for all.
        slow: A path whose reply takes long; None where none is known.
        application: MODULE:CALLABLE to watch from within; None where it is not known.

    Raises:
        LabError: One could not be started, or stopped.
    """
    answers = _answers(arm, cores, slow, None)
    if application is not None:
        answers |= _answers(arm, cores, slow, application)
    return {text: answer for text, answer in answers.items() if answer is not None}


def _answers(
    arm: Arm, cores: Sequence[int] | None, slow: str | None, application: str | None
) -> dict[str, Sighting | None]:
    """Return the answers of one server, which is watched if its application is given."""
    with temporary.folder() as folder:
        watch = None
        if application is not None:
            arm, watch = watched(arm, application, folder)
        with ServerRunner().start(arm.profile, arm.workload, folder, cores) as server:
            scene = Scene(Target(server, folder), arm.workload, slow, watch)
            questions = (text for text in QUESTIONS if (text in WATCHED) == (watch is not None))
            return {text: QUESTIONS[text](scene) for text in questions}


def _settled(
    target: Target, look: Callable[[], object], still: float = SETTLED, limit: float = SETTLING
) -> bool:
    """Wait until what is looked at stays as it is for some seconds; return whether it does."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        before = look()
        if not target.until(lambda: look() != before, still):  # noqa: B023 - called here only
            return True
    return False


@asks("worker processes")
def workers(scene: Scene) -> Sighting:
    """Count the processes that serve, when no more come."""
    _settled(scene.target, scene.target.workers)
    number = str(len(scene.target.workers()))
    return Sighting(number, number)


UNSEEN = (
    "not seen: Python starts with -I, -E or -S, or --app MODULE:CALLABLE must say what it serves"
)
"""What is said where the hook has noted nothing."""


@asks("imports of the application", watched=True)
def imports(scene: Scene) -> Sighting | None:
    """Count how often it is imported, and whether by who serves or before the fork."""
    if scene.watch is None:
        return None
    target, watch = scene.target, scene.watch
    _settled(target, lambda: (target.workers(), watch.imports()))
    importing, workers = watch.imports(), target.workers()
    if not importing:
        return Sighting(UNSEEN)
    number = len(importing)
    if number == 1:
        before = "" if importing[0] in workers else ", before its workers are forked"
        return Sighting(f"1{before}", "1")
    is_per_worker = sorted(importing) == sorted(workers)
    where = "one in each worker" if is_per_worker else f"in {len(set(importing))} processes"
    return Sighting(f"{number}, {where}", str(number))


@asks("requests in your code at once, so connections to a database at most", watched=True)
def at_once(scene: Scene) -> Sighting | None:
    """Hold each request at the application's door until no more come, and count them."""
    if scene.watch is None:
        return None
    watch, sent, count = scene.watch, scene.sent(scene.request), 0
    with watch.held(), ExitStack() as stack:
        while count < AT_ONCE_MOST:
            try:
                sock = stack.enter_context(connected(scene.target.server.endpoint, CONNECTING))
                sock.sendall(sent)
            except OSError:  # the accept queue is full
                break
            count += 1
        whole = _settled(scene.target, watch.inside, FILLED, FILLING)
        inside = watch.inside()
    if not inside:
        return Sighting(UNSEEN)
    processes = len({pid for pid, _ in inside})
    on = f"on {counted(processes, 'worker')}"
    if len(inside) >= count or not whole:
        return Sighting(f"{len(inside)} and more, {on}", "more")
    return Sighting(f"{len(inside)}, {on}", str(len(inside)))


@asks("memory of a worker (PSS), without load")
def memory(scene: Scene) -> Sighting | None:
    """Read what each worker takes, of which shared pages are a part only."""
    sizes = []
    for pid in scene.target.workers():
        with suppress(OSError, ValueError):  # it has ended, or is another user's
            sizes.append(parse_pss((PROC / str(pid) / "smaps_rollup").read_text()) / 1e6)
    if not sizes:
        return None
    least, most = f"{min(sizes):.1f}", f"{max(sizes):.1f}"
    return Sighting(f"{least} MB" if least == most else f"{least} to {most} MB")


def _header(size: int) -> Question:
    """Return what sends a header of so many KiB, its line's end included."""

    def question(scene: Scene) -> Sighting:
        value = b"x" * (size * 1024 - len(b"X-Long: \r\n"))
        try:
            sent = scene.sent(scene.request, b"\r\nX-Long: " + value)
        except ValueError:
            return Sighting("cannot be sent: it is too long for the protocol", "")
        status = scene.ask(sent)
        return Sighting(status, status)

    return question


for _size in (8, 16, 64):
    asks(f"a header of {_size} KiB")(_header(_size))


@asks("HEAD")
def head(scene: Scene) -> Sighting:
    """Count the bytes that follow on the head of a reply to HEAD, where there may be none."""
    received = b""
    with suppress(OSError), connected(scene.target.server.endpoint, TIMEOUT) as sock:
        sock.sendall(scene.sent(replace(scene.request, method="HEAD", body=b"")))
        while piece := sock.recv(PIECE):
            received += piece
            sock.settimeout(SILENCE)
    head, end, body = received.partition(b"\r\n\r\n")
    if not end:
        return Sighting("closed without a reply", "")
    status = head.split(maxsplit=2)[1].decode("ascii", "replace")
    text = f"{status}, {len(body):,} bytes of body"
    return Sighting(text, text)


@asks("a connection after the reply")
def kept(scene: Scene) -> Sighting | None:
    """Watch a connection on which a reply has come, and nothing more is asked."""
    if not scene.target.server.endpoint.wire.manner.keeps:
        return Sighting("one for each request, by the uwsgi protocol", "closed")
    try:
        with connected(scene.target.server.endpoint, TIMEOUT) as sock:
            sock.sendall(scene.sent(scene.request))
            reply = Reply(bodiless=scene.request.bodiless)
            while not reply.feed(piece := sock.recv(PIECE)):
                if not piece:
                    return Sighting("closed, which ends the reply", "closed")
            return _watched(sock)
    except (OSError, MalformedReplyError):
        return None


def _watched(sock: socket.socket) -> Sighting:
    """Return how long an idle connection is kept."""
    began = time.monotonic()
    sock.settimeout(IDLE)
    try:
        sock.recv(1)
    except TimeoutError:
        return Sighting(f"kept for {IDLE:g} s and more", "kept")
    seconds = time.monotonic() - began
    if seconds < AT_ONCE:
        return Sighting("closed", "closed")
    return Sighting(f"kept, closed after {seconds:.1f} s", "kept")


@asks("the request that takes long")
def slow(scene: Scene) -> Sighting | None:
    """Ask for what takes long, and see whether the server ends it."""
    if scene.slow is None:
        return None
    began = time.monotonic()
    request = replace(scene.request, path=scene.slow, method="GET", body=b"")
    came = scene.ask(scene.sent(request), SLOWEST)
    return Sighting(f"{came} after {time.monotonic() - began:.1f} s", came)


@asks("SIGTERM")
def term(scene: Scene) -> Sighting:
    """Send SIGTERM to the server, as systemd, Docker and Kubernetes do; nothing follows on it."""
    target = scene.target
    # A worker of uWSGI that is just forked has the master's handlers, and does not end.
    _settled(target, target.workers)
    ended, renewed = target.has_ended(0), target.renewal(0)

    def serves() -> bool:
        # One that ends may be without workers for a moment, as if it served by itself.
        right = str(scene.request.expect.status)
        return renewed() and scene.ask(scene.sent(scene.request), SILENCE) == right

    began = time.monotonic()
    target.server.signal(0, signal.SIGTERM)
    reloaded = target.until(lambda: ended() or serves(), STOP) and not ended()
    if reloaded:
        return Sighting("starts new workers, and serves on", "reloads")
    if ended():
        return Sighting(f"ends after {time.monotonic() - began:.1f} s", "ends")
    return Sighting(f"runs after {STOP:g} s", "stays")
