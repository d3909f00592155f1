"""The load engine against honest servers."""

import os
import socket
import threading

import pytest

from lab.model.request import Expectation
from tests.kit.engines import count, step_until
from tests.kit.lab_process import ROOT, run
from tests.kit.replies import BODY, REPLY


@pytest.mark.parametrize("keepalive", [True, False])
def test_counted_load_answers_exactly_its_number(serve, engine, keepalive):
    """Of 101 requests on 8 connections the server reads 101, and each has a correct reply."""
    server = serve(REPLY, close=not keepalive)
    window = count(engine(server.address, connections=8, keepalive=keepalive), 101)
    assert (window.ok, window.errors, window.unfinished) == (101, {}, 0)
    assert server.requests == 101
    assert sum(window.replies) == sum(window.latency.values()) == 101
    assert window.received == 101 * len(REPLY)
    assert window.connections == (8 if keepalive else 101)
    assert window.wall > 0


def test_fewer_requests_than_connections(serve, engine):
    """Three requests open three of eight connections."""
    window = count(engine(serve(REPLY).address, connections=8), 3)
    assert (window.connections, window.replies) == (3, (1, 1, 1, 0, 0, 0, 0, 0))


@pytest.mark.parametrize("rate", [None, 2000.0], ids=["closed loop", "open loop"])
def test_windows_cut_from_a_load_hold_each_request_once(serve, engine, rate):
    """What is unfinished in one is carried into the next; the sums are what the server has read."""
    server = serve(REPLY)
    made = engine(server.address, connections=4, rate=rate)
    made.resume()
    made.open_window()
    attempted, ok = made.attempted, 0
    windows = []
    for _ in range(5):
        step_until(made, lambda: made.ok >= 20)
        began = made.attempted
        windows.append(made.cut_window())
        assert windows[-1].errors == {}
        assert windows[-1].ok + windows[-1].unfinished >= began
        assert made.attempted == windows[-1].unfinished
        attempted += windows[-1].planned
        ok += windows[-1].ok
    made.drain()
    step_until(made, lambda: made.done)
    windows.append(made.close_window())
    assert windows[-1].unfinished == 0
    ok += windows[-1].ok
    assert ok == server.requests
    if rate is not None:
        assert attempted + windows[-1].planned == ok


def test_windows_cut_from_a_load_have_no_gap_between_them(serve, engine):
    """Each opens at the instant at which the last one ended, so their lengths add up."""
    made = engine(serve(REPLY).address, connections=4)
    made.resume()
    made.open_window()
    began, ends = made.opened, 0.0
    for _ in range(50):
        step_until(made, lambda: made.ok >= 1)
        ends += made.cut_window().wall
        assert began + ends == pytest.approx(made.opened, abs=1e-9)


def test_every_attempt_has_one_outcome(serve, engine):
    """In a timed window, attempts are correct replies, errors and unfinished requests."""
    turn = iter(range(1_000_000))

    def sometimes_wrong(conn):
        while server.request(conn):
            conn.sendall(REPLY if next(turn) % 10 else REPLY.replace(b"5, 8", b"5, 9"))

    server = serve(handler=sometimes_wrong)
    driven = engine(server.address, connections=8)
    driven.resume()
    step_until(driven, lambda: driven.ok > 20)
    for _ in range(2):
        driven.open_window()
        step_until(driven, lambda: driven.ok > 100)
        window = driven.close_window()
        assert window.errors["body"] > 0
        assert driven.attempted == window.ok + sum(window.errors.values()) + window.unfinished
    assert 1 <= window.unfinished <= 8


def test_attempts_agree_with_the_server(serve, engine):
    """Requests that a pause cuts off count as unfinished, and none is lost."""
    server = serve(REPLY)
    driven = engine(server.address, connections=4)
    driven.open_window()
    driven.resume()
    step_until(driven, lambda: driven.ok > 200)
    driven.pause()
    window = driven.close_window()
    assert window.unfinished == 4
    assert driven.attempted == window.ok + 4
    assert window.ok <= server.requests <= driven.attempted


def test_pause_and_resume_with_fewer(serve, engine):
    """A load resumed with two connections leaves the other slots without a reply."""
    driven = engine(serve(REPLY).address, connections=5)
    driven.resume(connections=2)
    step_until(driven, lambda: all(driven.close_window().replies[:2]))
    assert driven.close_window().replies[2:] == (0, 0, 0)
    driven.pause()
    assert driven.done
    driven.open_window()
    driven.resume()
    step_until(driven, lambda: all(driven.close_window().replies))


def test_drain_lets_requests_finish(serve, engine):
    """After `drain` each request under way still gets its reply, and none follows."""
    server = serve(REPLY)
    driven = engine(server.address, connections=4)
    driven.open_window()
    driven.resume()
    driven.drain()
    step_until(driven, lambda: driven.done)
    window = driven.close_window()
    assert (window.ok, window.unfinished, server.requests) == (4, 0, 4)


def test_latency_holds_the_servers_delay(serve, engine):
    """A reply sent 60 ms after its request is recorded at 60 ms or a little more."""
    window = count(engine(serve(REPLY, after=0.06).address, connections=1), 2)
    assert min(window.latency) >= 59_500
    assert window.latency_sum >= 0.12
    assert window.wall >= 0.12


@pytest.mark.parametrize(
    "pieces",
    [
        [REPLY[i : i + 1] for i in range(len(REPLY))],
        [
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"4\r\n[0, \r\n",
            b"11\r\n1, 1, 2, 3, 5, 8]\r\n0\r\n",
            b"Trailer: x\r\n\r\n",
        ],
        [b"HTTP/1.1 100 Continue\r\n\r\n", REPLY],
    ],
    ids=["byte by byte", "chunked", "after 100"],
)
def test_reply_in_pieces(serve, engine, pieces):
    """A reply may arrive in many packets, and the connection is kept."""
    window = count(engine(serve(*pieces).address), 10)
    assert (window.ok, window.errors, window.connections) == (10, {}, 2)


def test_reply_ended_by_closing(serve, engine):
    """A body that ends with the connection is checked whole and takes a connection each."""
    server = serve(b"HTTP/1.1 200 OK\r\n\r\n", BODY, close=True)
    window = count(engine(server.address), 10)
    assert (window.ok, window.errors, window.connections) == (10, {}, 10)


def test_kept_connection_closed_silently_is_tried_again(serve, engine):
    """A server that closes after every reply without saying so causes no errors."""
    server = serve(REPLY, close=True)
    window = count(engine(server.address), 200)
    assert (window.ok, window.errors) == (200, {})
    assert server.requests == 200
    # Where the end was seen together with the reply, no request was sent in vain.
    assert window.connections == 200
    assert window.retried <= 198


def test_end_of_a_kept_connection_after_the_next_request(serve, engine):
    """A kept connection that ends when the next request is there: sent again, counted so."""

    def one_reply(conn):
        server.request(conn)
        conn.sendall(REPLY)
        server.request(conn)

    server = serve(handler=one_reply)
    window = count(engine(server.address, connections=1), 3)
    assert (window.ok, window.errors, window.retried) == (3, {}, 2)


def test_reply_that_varies_is_held_against_a_pattern(serve, engine):
    """With a pattern each body may differ as long as it matches."""
    turn = iter(range(100))

    def varying(conn):
        while server.request(conn):
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nn=%02d" % next(turn))

    server = serve(handler=varying)
    driven = engine(server.address, Expectation(pattern=r"^n=\d[0-8]$"), connections=1)
    window = count(driven, 20)
    assert (window.ok, window.errors) == (18, {"body": 2})


def test_first_reply_defines_an_open_expectation(serve, engine):
    """Without body and pattern every reply is held against the first."""
    turn = iter(range(100))

    def varying(conn):
        while server.request(conn):
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%d" % (next(turn) % 2))

    server = serve(handler=varying)
    window = count(engine(server.address, Expectation(), connections=1), 10)
    assert (window.ok, window.errors) == (5, {"body": 5})


def test_unix_socket(engine, tmp_path):
    """An address may be the path of a UNIX socket."""
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()

        def answer():
            conn, _ = listener.accept()
            with conn:
                conn.recv(4096)
                conn.sendall(REPLY)

        thread = threading.Thread(target=answer)
        thread.start()
        window = count(engine(path, connections=1), 1)
        thread.join()
    assert (window.ok, window.errors) == (1, {})


def test_watched_descriptor_interrupts(engine):
    """A step says when a watched descriptor is readable."""
    driven = engine(("127.0.0.1", 1))
    reader, writer = os.pipe()
    try:
        driven.watch(reader)
        driven.step(0)
        assert not driven.interrupted
        os.write(writer, b"x")
        driven.step(5)
        assert driven.interrupted
    finally:
        driven.close()
        os.close(reader)
        os.close(writer)


def test_under_gevent(serve):
    """Patched by gevent, the engine runs in one greenlet and leaves the others their turns."""
    server = serve(REPLY)
    script = f"""
from gevent import monkey
monkey.patch_all()
import gevent
from lab.bench.load.engine import Engine
from lab.bench.load.wires import HttpWire
from lab.model.plan import Load
from lab.model.request import Expectation
wire = HttpWire(b"GET / HTTP/1.1\\r\\nHost: h\\r\\n\\r\\n", Expectation(body={BODY!r}))
engine = Engine({server.address!r}, wire, Load(4))
turns = 0
def other():
    global turns
    while True:
        gevent.sleep(0)
        turns += 1
gevent.spawn(other)
watcher = gevent.get_hub().loop.io(engine.fileno(), 1)
engine.begin_count(200)
while not engine.done:
    gevent.get_hub().wait(watcher)
    engine.step(0)
    gevent.sleep(0)
window = engine.close_window()
print(window.ok, dict(window.errors), turns > 10)
"""
    done = run("python", "-c", script, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("200 {} True\n", "")
