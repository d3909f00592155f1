"""Small real servers, each as honest as the test that writes it wants it to be."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Self

Handler = Callable[[socket.socket], None]


class SocketServer:
    """
    One thread for each connection, which *handler* serves; a context manager.

    `requests` is the number of requests that `request` has read. It answers on a UNIX socket at
    *path* if one is given.
    """

    def __init__(self, handler: Handler, port: int = 0, path: Path | None = None) -> None:
        self.handler = handler
        self.accepted = 0
        self.requests = 0
        self._lock = threading.Lock()
        if path is None:
            self._listener = socket.create_server(("127.0.0.1", port), backlog=512)
        else:
            self._listener = socket.socket(socket.AF_UNIX)
            self._listener.bind(str(path))
            self._listener.listen(512)
        self.address: Any = self._listener.getsockname()
        """Host and port, or the path."""
        self._conns: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]

    def request(self, conn: socket.socket) -> bytes:
        """Return one request and count it; empty when the client has closed."""
        data = b""
        while not data.endswith(b"\r\n\r\n"):
            piece = conn.recv(4096)
            if not piece:
                return b""
            data += piece
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

    def __enter__(self) -> Self:
        """Begin to accept: whoever came before waits, so a handler may name its own server."""
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        """End every connection and thread."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join()
        for conn in self._conns:
            with suppress(OSError):
                conn.shutdown(socket.SHUT_RDWR)
        for thread in self._threads[1:]:
            thread.join()


def replying(
    *pieces: bytes, close: bool = False, after: float = 0.0, port: int = 0
) -> SocketServer:
    """
    Start a server that answers each request with *pieces*.

    Args:
        pieces: Of one reply.
        close: Whether it closes after that.
        after: Seconds for which each request waits.
        port: 0 for any.
    """

    def answer(conn: socket.socket) -> None:
        conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while server.request(conn):
            if after:
                threading.Event().wait(after)
            for piece in pieces:
                conn.sendall(piece)
            if close:
                return

    server = SocketServer(answer, port)
    return server


@contextmanager
def socket_servers() -> Iterator[Callable[..., SocketServer]]:
    """Yield what starts servers by a *handler*, or by what `replying` takes; all end at the end."""
    with ExitStack() as started:

        def start(*pieces: bytes, handler: Handler | None = None, **options: Any) -> SocketServer:
            server = SocketServer(handler, **options) if handler else replying(*pieces, **options)
            return started.enter_context(server)

        yield start


def exactly(conn: socket.socket, size: int) -> bytes:
    """Return the next *size* bytes; what there is of them when the client closes."""
    data = b""
    while len(data) < size and (piece := conn.recv(size - len(data))):
        data += piece
    return data


def reset(conn: socket.socket) -> None:
    """End a connection with a reset."""
    conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    conn.close()
