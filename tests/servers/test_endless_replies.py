"""A first reply that drips or floods: given up in time, and told as what it is."""

from contextlib import contextmanager, nullcontext, suppress
from http.client import HTTPException

import pytest

from lab.bench.servers import readiness
from lab.bench.servers.fetch import LongReplyError, SlowReplyError, fetch
from lab.bench.servers.readiness import wait_until_ready
from lab.bench.trials import replies
from lab.errors import ServerStartError
from lab.model.protocols import Endpoint
from lab.model.request import LONGEST_BODY, Expectation
from lab.model.workload import Workload
from tests.kit.lab_process import ROOT, run
from tests.kit.scripted import plan
from tests.kit.socket_server import SocketServer

HEAD = b"HTTP/1.1 200 OK\r\n"
WORKLOAD = Workload("x", "/", Expectation(body=b"Pong!"))


@contextmanager
def serving(handler):
    """Serve each connection by *handler*, when it has asked; yield where."""

    def serve(conn):
        server.request(conn)
        handler(conn)

    with SocketServer(serve) as server:
        yield Endpoint(*server.address)


def drip(data):
    """Return what sends a byte each 50 ms, so that no single read has long to wait."""

    def handler(conn):
        conn.settimeout(0.05)
        for byte in data:
            conn.sendall(bytes((byte,)))
            with suppress(TimeoutError):
                if not conn.recv(1):
                    return

    return handler


def flood(head):
    """Return what sends a head and 80 MiB."""

    def handler(conn):
        conn.sendall(head)
        for _ in range(80):
            conn.sendall(bytes(1 << 20))

    return handler


DRIPPING = {
    "headers": HEAD + b"X-Long: " + b"x" * 1000,
    "body": HEAD + b"Content-Length: 1000\r\n\r\n" + b"x" * 1000,
}


@pytest.mark.parametrize("data", DRIPPING.values(), ids=DRIPPING)
def test_a_reply_that_drips_is_given_up_when_its_time_is_over(data):
    """However steadily its bytes come; the error says how far it got."""
    wanted = r"the server began a reply and had not finished it after \d s, \d+ bytes so far"
    with serving(drip(data)) as endpoint, pytest.raises(SlowReplyError, match=wanted):
        fetch(endpoint, "/", 0.5)


@pytest.mark.slow
def test_a_reply_that_comes_slowly_and_in_time_is_read():
    """A read may take its time, and the whole reply another one."""
    reply = HEAD + b"Content-Length: 2\r\n\r\nhi"
    with serving(drip(reply)) as endpoint:
        assert fetch(endpoint, "/", 1.0, 10.0)[2] == b"hi"


FLOODING = {
    "no length": HEAD + b"\r\n",
    "chunked": HEAD + b"Transfer-Encoding: chunked\r\n\r\n6000000\r\n",
    "headers": HEAD + b"X-Long: ",
}


@pytest.mark.parametrize("head", FLOODING.values(), ids=FLOODING)
def test_a_reply_that_floods_is_given_up(head):
    """It would otherwise take all memory; http.client itself refuses a line of 64 KB only."""
    wanted = r"more than 64 MiB|line"
    with serving(flood(head)) as endpoint, pytest.raises(Exception, match=wanted):
        fetch(endpoint, "/", 5.0)


@pytest.mark.parametrize("size", [b"-5", b"ffffffff", b"fffffffffff", b"f" * 18, b"no"])
def test_a_chunk_of_a_size_that_cannot_be_is_no_crash(size):
    """Whatever a chunk claims to be, no buffer of that size is made, and it is no whole reply."""
    head = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"

    def claiming(conn):
        conn.sendall(head + size + b"\r\nhi\r\n0\r\n\r\n")

    with serving(claiming) as endpoint, pytest.raises(HTTPException):
        fetch(endpoint, "/", 5.0)


def test_an_announced_flood_is_refused_at_once():
    """With its own account of itself; none of it is read."""
    head = HEAD + b"Content-Length: 99999999999\r\n\r\n"
    wanted = r"announces a reply of 99,999,999,999 bytes; what has more than 64 MiB is not read"
    with serving(flood(head)) as endpoint, pytest.raises(LongReplyError, match=wanted):
        fetch(endpoint, "/", 5.0)


def test_the_longest_reply_is_read():
    """The bound is beyond any that is meant, and no byte below it."""
    head = HEAD + b"Content-Length: %d\r\n\r\n" % LONGEST_BODY

    def longest(conn):
        conn.sendall(head + bytes(LONGEST_BODY))

    with serving(longest) as endpoint:
        assert len(fetch(endpoint, "/", 10.0, 30.0)[2]) == LONGEST_BODY


class Candidate:
    """A server that has been started, as far as readiness asks."""

    pid = 1 << 30

    def __init__(self, endpoint):
        self.endpoint = endpoint

    def ended(self):
        """Run."""

    def log_tail(self, lines=20):
        """Have no log."""
        return ""


@pytest.mark.slow
def test_a_server_whose_first_reply_drips_is_not_ready():
    """The start ends at its deadline, and its reason is not that the server was silent."""
    wanted = "no correct reply within 1 s: .* the server began a reply and had not finished it"
    with serving(drip(DRIPPING["body"])) as endpoint, pytest.raises(ServerStartError, match=wanted):
        wait_until_ready("x", Candidate(endpoint), WORKLOAD, deadline=1.0)


def test_a_server_whose_first_reply_floods_is_not_ready(monkeypatch):
    """Nor does waiting help it."""
    monkeypatch.setattr(readiness, "PATIENCE", 0.0)
    with (
        serving(flood(FLOODING["no length"])) as endpoint,
        pytest.raises(ServerStartError, match="sends a reply of more than 64 MiB"),
    ):
        wait_until_ready("x", Candidate(endpoint), WORKLOAD, deadline=10.0)


def test_the_reply_that_is_to_be_required_must_not_drip(monkeypatch):
    """An application that was quick once may not hold the lab when it is asked again."""
    monkeypatch.setattr(replies, "CAPTURE_TIMEOUT", 0.5)
    workload = Workload("x", "/", Expectation())
    with serving(drip(DRIPPING["body"])) as endpoint:
        started = type("Started", (), {"start": lambda *_: nullcontext(Candidate(endpoint))})()
        with pytest.raises(ServerStartError, match="no whole reply to /: the server began a reply"):
            replies.capture(workload, plan("a").profiles, started, fetch)


@pytest.mark.slow
def test_a_running_servers_flood_is_told_as_one(tmp_path):
    """Of a server named by --host, whose first reply is required from then on."""
    command = ("locust", "-f", str(ROOT / "loadtests"), "--headless", "-t", "1s", "-H")
    with serving(flood(FLOODING["no length"])) as endpoint:
        done = run(*command, f"http://{endpoint.address}", cwd=tmp_path)
    assert done.returncode == 2
    assert "the server sends a reply of more than 64 MiB" in done.stderr
