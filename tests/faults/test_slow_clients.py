"""Clients that are slow to send, or to read: everyone else is served."""

import http.client
import socket
import threading
from contextlib import contextmanager

import psutil
import pytest

from lab.bench.workloads import fibonacci_body
from lab.model.request import Expectation
from lab.model.workload import Workload
from tests.kit.lab_process import SITES, until
from tests.kit.running import running

from .prober import Clients, ask
from .stacks import FIB, connections, production

PACE = 0.2
"""Seconds between two bytes of a slow client."""

LATEST = 3.5
"""Seconds in which every other client has its reply; uWSGI alone would hold a worker for 4."""

IDLE = 5.0
"""Seconds in which a worker has ended the reply that its client has already; slow ones last 10."""

LONG = Workload("long", "/", Expectation(body=b"short"), "long_reply:application", SITES)

HEADERS = b"GET /9000 HTTP/1.1\r\nHost: x\r\nX-Slow: "
BODY = b"POST /9000 HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"


class Slow:
    """
    Connections that begin a request and go on with one byte every 0.2 seconds; a context manager.

    Args:
        address: Host and port.
        count: How many.
        begin: What each sends at once; then come letters.
    """

    def __init__(self, address, count, begin):
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._address, self._count, self._begin = address, count, begin
        self.connections = []
        self.rounds = 0
        """How many more bytes each has sent."""

    def __enter__(self):
        for _ in range(self._count):
            connection = socket.create_connection(self._address, timeout=10)
            connection.sendall(self._begin)
            connection.setblocking(False)
            self.connections.append(connection)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        for connection in self.connections:
            connection.close()

    def _run(self):
        while not self._stop.wait(PACE):
            for connection in self.connections:
                connection.send(b"a")
            self.rounds += 1

    def unanswered(self):
        """Return how many are still connected, and have got nothing."""
        count = 0
        for connection in self.connections:
            try:
                connection.recv(1, socket.MSG_PEEK)
            except BlockingIOError:
                count += 1
        return count


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    """Run the production stack for all of these."""
    with production(tmp_path_factory.mktemp("production")) as running:
        yield running


def serves_others(stack, load=FIB, meanwhile=lambda: True):
    """Ask from other connections, until *meanwhile*; every reply is right and in time."""
    with Clients(stack.address, load.path, load.expect.body, threads=4) as others:
        others.wait_for(100)
        until(meanwhile, "what the slow ones do")
    assert others.failed == []
    assert len(others.outcomes) >= 100
    assert others.longest < LATEST


@pytest.mark.parametrize("begin", [HEADERS, BODY], ids=["headers", "body"])
@pytest.mark.parametrize("count", [2, 50, 500])
def test_slow_senders(stack, count, begin):
    """So many clients send their headers, or their body, slowly: no other client notices."""
    with Slow(stack.address, count, begin) as slow:
        serves_others(stack, meanwhile=lambda: slow.rounds >= 2)
        assert slow.unanswered() == count
        until(lambda: not stack.busy(), "idle workers", IDLE)


def test_two_slow_senders_stop_two_workers():
    """Why nginx is there: without it, two clients with slow headers hold both workers."""
    with running("tuned", FIB, workers=2) as tuned:
        address = tuned.address
        workers = [psutil.Process(pid) for pid in tuned.spawned()]
        with Slow(address, 2, HEADERS), socket.create_connection(address) as victim:
            held = {worker.pid for worker in workers}
            until(lambda: {c.pid for c in connections(workers, address[1])} == held, "held workers")
            victim.sendall(b"GET /9000 HTTP/1.0\r\n\r\n")
            victim.settimeout(5 * PACE)
            with pytest.raises(TimeoutError):
                victim.recv(1)
        assert ask(address, FIB.path, FIB.expect.body).failure == ""


@contextmanager
def slow_readers(address, count, path):
    """Ask for a long reply so often, and read nothing of it."""
    opened = []
    try:
        for _ in range(count):
            connection = socket.socket()
            opened.append(connection)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            connection.connect(address)
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        yield opened
    finally:
        for connection in opened:
            connection.close()


def test_slow_readers(stack):
    """Fifty clients do not read the longest reply: the others are served, and it is whole."""
    body = fibonacci_body(10**100 - 1)
    with slow_readers(stack.address, 50, "/" + "9" * 100) as readers:
        serves_others(stack)
        until(lambda: not stack.busy(), "idle workers", IDLE)
        for connection in readers:
            connection.settimeout(10)
            received = b""
            while not received.endswith(body):
                piece = connection.recv(65536)
                assert piece, "the reply is cut off"
                received += piece
            assert received.startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.mark.slow
def test_slow_readers_of_what_no_buffer_holds(tmp_path):
    """The same for replies of 8 MB, which no socket's buffer takes: nginx keeps them in files."""
    with (
        production(tmp_path, LONG, workers=1) as stack,
        slow_readers(stack.address, 8, "/long") as readers,
    ):
        serves_others(stack, LONG)
        until(lambda: not stack.busy(), "idle workers", IDLE)
        for connection in readers:
            reply = http.client.HTTPResponse(connection)
            reply.begin()
            assert reply.read() == b"0123456789abcdef" * 2**19
