"""Small real servers, honest and lying, on port 0."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from lab.generators.engine import Engine
from lab.generators.open_loop import make_engine
from lab.generators.request import build_request
from lab.model import Expectation, Load

BODY = b"[0, 1, 1, 2, 3, 5, 8]"
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n" + BODY

Handler = Callable[[socket.socket], None]


def read_request(conn: socket.socket) -> bytes:
    """Return one request; empty when the client has closed."""
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        piece = conn.recv(4096)
        if not piece:
            return b""
        data += piece
    return data


class SocketServer:
    """One thread for each connection; `requests` is what it has read, by its own count."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.accepted = 0
        self.requests = 0
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.address: tuple[str, int] = self._listener.getsockname()
        self._conns: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def request(self, conn: socket.socket) -> bytes:
        """Return one request and count it; empty when the client has closed."""
        data = read_request(conn)
        if data:
            with self._lock:
                self.requests += 1
        return data

    def _accept(self) -> None:
        while True:
            try:
                conn, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            thread = threading.Thread(target=self._serve, args=(conn,))
            self._conns.append(conn)
            self._threads.append(thread)
            thread.start()

    def _serve(self, conn: socket.socket) -> None:
        with conn, suppress(OSError):
            self.handler(conn)

    def close(self) -> None:
        """End every connection and thread."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join()
        for conn in self._conns:
            with suppress(OSError):
                conn.shutdown(socket.SHUT_RDWR)
        for thread in self._threads[1:]:
            thread.join()


@pytest.fixture
def serve() -> Iterator[Callable[..., SocketServer]]:
    """Start a server that answers each request with these bytes, and closes if told so."""
    servers: list[SocketServer] = []

    def start(*pieces: bytes, close: bool = False, handler: Handler | None = None) -> SocketServer:
        def answer(conn: socket.socket) -> None:
            conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while server.request(conn):
                for piece in pieces:
                    conn.sendall(piece)
                if close:
                    return

        server = SocketServer(handler or answer)
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def engine() -> Iterator[Callable[..., Engine]]:
    """Make an engine against an address; it is closed at the end."""
    engines: list[Engine] = []

    def make(
        address: tuple[str, int] | str,
        expect: Expectation | None = None,
        *,
        connections: int = 2,
        keepalive: bool = True,
        timeout: float = 5.0,
        rate: float | None = None,
    ) -> Engine:
        request = build_request("/9", "127.0.0.1", keepalive=keepalive)
        load = Load(connections, keepalive, timeout=timeout, rate=rate)
        engines.append(make_engine(address, request, expect or Expectation(body=BODY), load))
        return engines[-1]

    yield make
    for made in engines:
        made.close()
