"""The application that asks another server, and the server that it asks."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lab.bench.servers.ports import free_port, listens
from tests.kit.lab_process import ROOT, until
from tests.workloads.test_applications import call

UPSTREAM = ROOT / "loadtests" / "backing" / "upstream.py"


@contextmanager
def upstream(delay: str = "0") -> Iterator[int]:
    """Run the upstream until the block ends; yield its port."""
    port = free_port()
    command = (sys.executable, "-I", "-S", str(UPSTREAM), str(port), delay)
    with subprocess.Popen(command) as process:
        try:
            until(lambda: listens(port), "its start")
            yield port
        finally:
            process.kill()


def asked(port: int, request: bytes, replies: int = 1) -> tuple[bytes, bool]:
    """Send *request*; return what came, and whether the connection was closed after it."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        client.sendall(request)
        received = b""
        while received.count(b"Pong!") < replies:
            received += client.recv(65536)
        client.settimeout(0.2)
        try:
            return received, client.recv(1) == b""
        except TimeoutError:
            return received, False


@pytest.fixture
def outbound(monkeypatch):
    """Return the application, and what sets where it asks."""
    monkeypatch.setenv("UPSTREAM_URL", "http://127.0.0.1:1/")
    from loadtests.workloads import outbound

    def ask(port: int) -> None:
        url = outbound.UPSTREAM._replace(netloc=f"127.0.0.1:{port}")
        monkeypatch.setattr(outbound, "UPSTREAM", url)

    return outbound.app, ask


def test_it_passes_on_what_the_upstream_answers(outbound):
    """Status, kind and body, with the body's length."""
    app, ask = outbound
    with upstream() as port:
        ask(port)
        headers = {"Content-Type": "text/plain", "Content-Length": "5"}
        assert call(app, "/") == ("200 OK", headers, b"Pong!")


def test_an_upstream_that_is_not_there_is_a_502(outbound):
    """With the reason in a line, so that a wrong reply says why."""
    app, ask = outbound
    ask(free_port())
    status, headers, body = call(app, "/")
    assert status == "502 Bad Gateway"
    assert body == b"the upstream does not answer: [Errno 111] Connection refused\n"
    assert headers["Content-Length"] == str(len(body))


def test_an_upstream_that_is_no_http_server_is_a_502(outbound):
    """What it sends is not passed on."""
    app, ask = outbound
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"SSH-2.0\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        ask(server.getsockname()[1])
        status, _, body = call(app, "/")
        thread.join()
    assert status == "502 Bad Gateway"
    assert body.startswith(b"the upstream does not answer: ")


def test_the_upstream_keeps_a_connection():
    """Requests that come together, or in pieces, are answered one by one."""
    with upstream() as port:
        two = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 2
        received, closed = asked(port, two, replies=2)
        assert received.count(b"HTTP/1.1 200 OK\r\n") == 2
        assert not closed


@pytest.mark.parametrize(
    "request_", [b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", b"GET / HTTP/1.0\r\n\r\n"]
)
def test_the_upstream_closes_where_that_is_asked(request_):
    """By its header, or by the version that knows no other way."""
    with upstream() as port:
        assert asked(port, request_)[1]


def test_the_upstream_lets_all_wait_at_once():
    """50 requests that wait 300 ms each have their replies in 5 s, where one by one takes 15."""
    with upstream("300") as port:
        clients = [socket.create_connection(("127.0.0.1", port), timeout=5) for _ in range(50)]
        for client in clients:
            client.sendall(b"GET / HTTP/1.1\r\n\r\n")
        end = time.monotonic() + 5
        for client in clients:
            client.settimeout(max(0.001, end - time.monotonic()))
            assert client.recv(65536).endswith(b"Pong!")
            client.close()
