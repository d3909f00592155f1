"""Clients that all connect at once and then hold still, without waiting for a clock."""

from __future__ import annotations

import errno
import select
import socket
import time
from contextlib import contextmanager

from tests.kit import lab_process


class Clients:
    """Non-blocking sockets to one port."""

    def __init__(self, port, count):
        self.sockets = {}
        self.poll = select.epoll()
        self.writable = set()
        self.replied = set()
        for _ in range(count):
            client = socket.socket()
            client.setblocking(False)
            assert client.connect_ex(("127.0.0.1", port)) in (0, errno.EINPROGRESS)
            self.sockets[client.fileno()] = client
            self.poll.register(client, select.EPOLLOUT | select.EPOLLIN | select.EPOLLET)

    def turn(self, send):
        """Send the request on each new connection; take note of replies."""
        for descriptor, event in self.poll.poll(0.02):
            client = self.sockets[descriptor]
            if event & select.EPOLLOUT and descriptor not in self.writable:
                self.writable.add(descriptor)
                if send:
                    client.send(send)
            if event & select.EPOLLIN:
                try:
                    if client.recv(65536):
                        self.replied.add(descriptor)
                except (BlockingIOError, ConnectionResetError):
                    continue

    def established(self):
        """Return how many believe to be connected."""
        return len(self.writable)

    def answered(self):
        """Return how many have a reply."""
        return len(self.replied)

    def close(self):
        """Close all."""
        self.poll.close()
        for client in self.sockets.values():
            client.close()


@contextmanager
def connect(port, count, *, until, send=b"", timeout=20.0):
    """Connect *count* clients to *port* and go on until the condition holds."""
    clients = Clients(port, count)
    try:
        deadline = time.monotonic() + timeout
        while not until(clients):
            assert time.monotonic() < deadline, f"{clients.answered()} of {count} were answered"
            clients.turn(send)
        yield clients
    finally:
        clients.close()


def until_answered(port, request):
    """Ask again and again until there is a reply."""

    def answer():
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=20.0) as client:
                client.sendall(request)
                return client.recv(1)
        except OSError:
            return None

    lab_process.until(answer, f"a reply of port {port}")
