"""The load engine against servers that lie, break off, or are not there."""

import _socket
import errno
import socket
from types import SimpleNamespace

import pytest

from lab.bench.load import connections
from lab.bench.load.descriptors import allow_descriptors
from lab.errors import GeneratorError
from lab.model.request import Expectation
from tests.kit.engines import count
from tests.kit.lab_process import until
from tests.kit.replies import BODY, REPLY
from tests.kit.socket_server import reset

HEAD_OF_CHUNKS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("reply", "close", "failure"),
    [
        (REPLY.replace(b"5, 8", b"5, 9"), False, "body"),
        (REPLY.replace(b"21", b"20")[:-1], False, "body"),
        (REPLY.replace(b"200 OK", b"500 Internal Server Error"), False, "status"),
        (REPLY[:-1], True, "truncated"),
        (b"HTTP/1.1 200 OK\r\nContent-", True, "truncated"),
        (HEAD_OF_CHUNKS + b"15\r\n" + BODY + b"\r\n", True, "truncated"),
        (HEAD_OF_CHUNKS + b"14\r\n" + BODY + b"\r\n0\r\n\r\n", False, "malformed"),
        (REPLY + b"HTTP/1.1 200 OK\r\n", False, "malformed"),
        (REPLY + REPLY, False, "malformed"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + BODY[:-1], True, "body"),
        (b"220 mail ready\r\n", False, "malformed"),
    ],
)
def test_wrong_reply(serve, engine, reply, close, failure):
    """A reply that is wrong in status, body or framing is an error of that class."""
    window = count(engine(serve(reply, close=close).address))
    assert (window.ok, window.errors, window.received) == (0, {failure: 4}, 4 * len(reply))
    assert window.latency == {}


@pytest.mark.parametrize(
    ("reply", "close", "sample"),
    [
        (
            b"HTTP/1.1 500 Oh\r\nContent-Length: 12\r\n\r\ntoo many\x1b[m\n",
            False,
            r"status: 500 'too many\x1b[m\n'",
        ),
        (REPLY.replace(b"5, 8", b"5, 9"), False, f"body: 200 '{BODY[:-2].decode()}9]'"),
        (REPLY[:-1], True, f"truncated: 200 '{BODY[:-1].decode()}'"),
        (HEAD_OF_CHUNKS + b"3\r\nabc\r\n", True, "truncated: 200 'abc'"),
        (b"HTTP/1.1 200 OK\r\nCont", True, r"truncated: 'HTTP/1.1 200 OK\r\nCont'"),
        (REPLY + b"HTTP", False, "malformed: bytes after the end of the reply: 'HTTP'"),
        (
            b"220 mail\r\n",
            False,
            r"malformed: not the head of an HTTP/1 reply: '220 mail\r\n'",
        ),
        (b"", True, ""),
    ],
)
def test_the_first_wrong_reply_is_shown(serve, engine, reply, close, sample):
    """Its status and the beginning of its body, on one line, without control characters."""
    assert count(engine(serve(reply, close=close).address)).sample == sample


def test_of_a_long_wrong_reply_the_beginning_is_shown(serve, engine):
    """200 bytes, however it is framed."""
    for head in (b"Content-Length: 400\r\n\r\n", b"\r\n"):
        server = serve(b"HTTP/1.1 503 Oh\r\n" + head + b"a" * 200 + b"b" * 200, close=True)
        assert count(engine(server.address)).sample == f"status: 503 '{'a' * 200}'..."


def test_wrong_reply_after_a_correct_one(serve, engine):
    """A correct reply is no credit for the next one on its connection."""

    def second_is_wrong(conn):
        server.request(conn)
        conn.sendall(REPLY)
        server.request(conn)
        conn.sendall(REPLY.replace(b"5, 8", b"5, 9"))
        server.request(conn)

    server = serve(handler=second_is_wrong)
    window = count(engine(server.address, connections=1))
    assert (window.ok, window.errors) == (2, {"body": 2})


def test_silent_server(serve, engine):
    """A request without a reply is an error when its time is over, and not much later."""
    driven = engine(serve().address, connections=4, timeout=0.2)
    window = count(driven)
    assert window.errors == {"timeout": 4}
    assert 0.2 <= window.wall < 2


def test_reply_that_trickles(serve, engine):
    """The timeout covers the whole reply, however steadily its bytes come."""

    def trickle(conn):
        server.request(conn)
        conn.settimeout(0.02)
        for byte in REPLY * 100:
            conn.sendall(bytes((byte,)))
            try:
                conn.recv(1)
            except TimeoutError:
                continue
            return

    server = serve(handler=trickle)
    window = count(engine(server.address, connections=1, timeout=0.2), 1)
    assert window.errors == {"timeout": 1}


FLOODS = {
    "no length": b"HTTP/1.1 200 OK\r\n\r\n",
    "announced": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999\r\n\r\n",
    "a chunk": HEAD_OF_CHUNKS + b"FFFFFFFFF\r\n",
    "chunks": HEAD_OF_CHUNKS,
    "another status": b"HTTP/1.1 500 Oh\r\n\r\n",
}


@pytest.mark.parametrize("kind", FLOODS)
def test_a_reply_that_floods_is_wrong_early(serve, engine, kind):
    """What is longer than the right body by a read's worth cannot be right, and is not kept."""
    piece = b"8\r\n01234567\r\n" * 10_000 if kind == "chunks" else bytes(1 << 17)
    server = serve(FLOODS[kind], *[piece] * 64)
    window = count(engine(server.address, connections=1), 2)
    assert window.errors == {"status" if kind == "another status" else "body": 2}
    assert window.received < 2 * (1 << 20)


def test_a_long_reply_that_only_a_pattern_knows_is_right(serve, engine):
    """A body may vary in length, if not without a bound; the first one sets it."""
    lengths = iter([100, 50_000, 1_000_000, 20_000_000])

    def answer(conn):
        while server.request(conn):
            length = next(lengths)
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % length)
            conn.sendall(b"x" * length)

    server = serve(handler=answer)
    window = count(engine(server.address, Expectation(pattern="^xx"), connections=1), 4)
    # 16 times 50,000 and 64 KiB are less than 1,000,000.
    assert (window.ok, window.errors) == (2, {"body": 2})


def test_closed_without_a_byte(serve, engine):
    """A new connection that ends in order before any reply is an error, and not tried again."""
    server = serve(close=True)
    window = count(engine(server.address))
    assert (window.errors, window.retried, server.requests) == ({"closed": 4}, 0, 4)


def test_reset_within_the_body(serve, engine):
    """A reset after a part of the reply is an error even on a kept connection."""

    def reset_later(conn):
        server.request(conn)
        conn.sendall(REPLY)
        server.request(conn)
        conn.sendall(REPLY[:-5])
        sent = server.accepted * len(REPLY + REPLY[:-5])
        until(lambda: driven._recorder._received == sent, "the part to be read")
        reset(conn)

    server = serve(handler=reset_later)
    driven = engine(server.address, connections=1)
    window = count(driven)
    assert (window.ok, window.errors, window.retried) == (2, {"reset": 2}, 0)


def test_reset_before_the_reply(serve, engine):
    """A new connection that is reset instead of answered is an error."""

    def reset_now(conn):
        server.request(conn)
        reset(conn)

    server = serve(handler=reset_now)
    assert count(engine(server.address)).errors == {"reset": 4}


def test_refused(engine):
    """With nobody listening each attempt is refused, and slots rest in between."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
    window = count(engine(address, connections=1), 5)
    assert window.errors == {"refused": 5}
    assert window.wall >= 4 * 0.009


def test_no_such_unix_socket(engine, tmp_path):
    """Any other failure to connect has a class of its own."""
    assert count(engine(str(tmp_path / "none"))).errors == {"connect": 4}


def test_no_local_port_is_free(engine, monkeypatch):
    """A machine that has used up its ports is told from a server that is not there."""

    class Exhausted(_socket.socket):
        def connect_ex(self, address):
            return errno.EADDRNOTAVAIL

    monkeypatch.setattr(connections, "_socket", SimpleNamespace(socket=Exhausted))
    assert count(engine(("127.0.0.1", 1))).errors == {"ports": 4}


def test_handshake_without_an_end(engine):
    """A full accept queue shows as a timeout, since the kernel drops the handshake."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        address = listener.getsockname()
        fillers = [socket.socket() for _ in range(3)]
        try:
            for filler in fillers:
                filler.setblocking(False)
                filler.connect_ex(address)
            window = count(engine(address, connections=2, timeout=0.2), 2)
        finally:
            for filler in fillers:
                filler.close()
    assert window.errors == {"timeout": 2}


def test_more_connections_than_open_files():
    """A limit on open files that cannot be raised is told with what to do."""
    with pytest.raises(GeneratorError, match="ulimit"):
        allow_descriptors(1 << 40)
