"""When a kept connection ends under a request: an error, or a request that may be sent again."""

import select
import socket
import threading

import pytest

from lab.bench.load import connections
from lab.bench.load.connections import Connections
from lab.bench.load.recorder import Recorder
from lab.bench.load.wires import HttpWire
from lab.model.request import Expectation, Request
from tests.kit.engines import count, step_until
from tests.kit.replies import REPLY
from tests.kit.socket_server import reset


def _answer(server, conn, requests):
    """Answer so many requests of a connection."""
    for _ in range(requests):
        server.request(conn)
        conn.sendall(REPLY)


def _ask_at_rate(engine, clock, finished, *, ended=False):
    """
    Let a request become due whenever the one before it has its outcome; return the window.

    With *ended* the server must have ended the connection by then, too.
    """
    engine.open_window()
    engine.resume()
    while True:
        step_until(engine, lambda: not engine.close_window().unfinished)
        if finished():
            return engine.close_window()
        step_until(engine, lambda: not (ended and engine._connections.idle))
        clock.now += 0.1001  # not a rounding error short of the instant


@pytest.mark.parametrize(
    ("end", "failure"), [(socket.socket.close, "closed"), (reset, "reset")], ids=["FIN", "RST"]
)
def test_a_request_that_the_server_drops_is_an_error(serve, engine, end, failure):
    """Of 300 requests on a connection the server answers 299, reads the last and says nothing."""

    def drop_the_last(conn):
        _answer(server, conn, 299)
        server.request(conn)
        end(conn)

    server = serve(handler=drop_the_last)
    window = count(engine(server.address, connections=2), 1200)
    assert window.errors.keys() == {failure}
    assert 3 <= window.errors[failure] <= 4
    assert window.retried == 0


@pytest.mark.parametrize("end", [socket.socket.close, reset], ids=["FIN", "RST"])
def test_an_end_after_one_reply_is_sent_again(serve, engine, end):
    """So ends each connection of a server that keeps none and does not say so."""

    def one_reply(conn):
        _answer(server, conn, 1)
        server.request(conn)
        end(conn)

    server = serve(handler=one_reply)
    window = count(engine(server.address, connections=1), 5)
    assert (window.ok, window.errors, window.retried) == (5, {}, 4)


def test_a_window_does_not_make_a_connection_new(serve, engine):
    """What a connection has carried counts from its opening, not from the window's."""
    let_go = threading.Event()

    def drop_the_fourth(conn):
        _answer(server, conn, 3)
        server.request(conn)
        let_go.wait(5)

    server = serve(handler=drop_the_fourth)
    driven = engine(server.address, connections=1)
    driven.resume()
    step_until(driven, lambda: driven.ok == 3)
    driven.open_window()
    let_go.set()
    step_until(driven, lambda: driven.close_window().errors)
    driven.drain()
    window = driven.close_window()
    assert (window.errors, window.retried) == ({"closed": 1}, 0)


def test_a_request_that_came_after_the_end_is_sent_again(serve):
    """The server had closed in order by then: nobody could answer it."""
    ending = threading.Event()

    def two_replies(conn):
        _answer(server, conn, 2)
        ending.wait(5)

    server = serve(handler=two_replies)
    recorder = Recorder()
    wire = HttpWire(Request("/9").encode("h", keepalive=True), Expectation())
    made = Connections(server.address, wire, 1, 5.0, recorder)
    (slot,) = made.slots
    poll = select.poll()
    try:
        made.open(slot)
        poll.register(slot.fd, select.POLLIN)
        for _ in range(2):
            assert poll.poll(5000)
            assert slot.recv(4096) == REPLY
            slot.replies += 1
            if slot.replies < 2:
                slot.send(slot.request)
        made.keep(slot)
        ending.set()
        assert poll.poll(5000)  # its end, which an engine that is busy has not seen yet
        made.send(slot)
        made.lose(slot, None if slot.recv(4096) == b"" else OSError())
        assert (recorder.retried, recorder.errors, recorder.connections) == (1, {}, 2)
        assert slot.carried == 0
    finally:
        made.close_all()
        made.epoll.close()


@pytest.mark.parametrize(
    ("idle", "expected"),
    [(0.02, ({}, 1)), (5.0, ({"reset": 1}, 0))],
    ids=["idle for longer", "not so long"],
)
def test_a_reset_is_sent_again_only_after_the_connection_was_idle(
    serve, engine, clock, monkeypatch, *, idle, expected
):
    """As the end of a keep-alive time that meets a request; a tenth of a second between them."""
    monkeypatch.setattr(connections, "IDLE", idle)
    first = iter([True])

    def reset_the_third(conn):
        if not next(first, False):
            _answer(server, conn, 1000)
        _answer(server, conn, 2)
        server.request(conn)
        reset(conn)

    server = serve(handler=reset_the_third)
    driven = engine(server.address, connections=1, rate=10)
    window = _ask_at_rate(driven, clock, lambda: driven.ok == 4)
    assert (window.errors, window.retried) == expected


def test_an_idle_connection_that_drops_a_request_it_has_read_is_an_error(
    serve, engine, clock, monkeypatch
):
    """However long it was idle: an end in order, after the request was read, is no keep-alive's."""
    monkeypatch.setattr(connections, "IDLE", 0.02)

    def drop_the_third(conn):
        _answer(server, conn, 2)
        server.request(conn)

    server = serve(handler=drop_the_third)
    driven = engine(server.address, connections=1, rate=10)
    window = _ask_at_rate(driven, clock, lambda: driven.close_window().errors)
    assert (window.errors, window.retried) == ({"closed": 1}, 0)


def test_a_keep_alive_time_that_ends_between_two_requests_is_no_error(serve, engine, clock):
    """A server that closes what was idle for 20 ms, at a request each 100 ms."""

    def impatient(conn):
        _answer(server, conn, 1)
        conn.settimeout(0.02)
        _answer(server, conn, 1000)

    server = serve(handler=impatient)
    driven = engine(server.address, connections=1, rate=10)
    window = _ask_at_rate(driven, clock, lambda: driven.ok == 4, ended=True)
    assert (window.errors, window.connections) == ({}, 4)
