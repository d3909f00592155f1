"""What handlers ask that wait for another server: how many of their requests are there at once."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from tests.kit.client import Reply, ask
from tests.kit.socket_server import SocketServer

PLAIN, ON_LOOP, BY_UWSGI = (
    f"loadtests.workloads.outbound{part}:app" for part in ("", "._asyncio", "._uwsgi")
)
"""One handler, written in three ways."""

PONG = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nPong!"


class Upstream(SocketServer):
    """A server that answers `Pong!`; while it is held, only when it is released."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.opened.set()
        self.under_way = self.most = 0
        super().__init__(self._answer)

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.address[1]}/"

    def __exit__(self, *error: object) -> None:
        """Answer what is held, and end."""
        self.opened.set()
        super().__exit__(*error)

    def _answer(self, conn: socket.socket) -> None:
        while self.request(conn):
            with self._lock:
                self.under_way += 1
                self.most = max(self.most, self.under_way)
            self.opened.wait(20)
            threading.Event().wait(0.01)  # others may come
            with self._lock:
                self.under_way -= 1
            conn.sendall(PONG)
            return


@contextmanager
def waiting(address: tuple[str, int], number: int) -> Iterator[list[Future[Reply]]]:
    """Send so many requests at once; yield their replies, which are still to come."""
    with ThreadPoolExecutor(number) as clients:
        yield [clients.submit(ask, address) for _ in range(number)]
