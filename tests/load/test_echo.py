"""The engine's echo over TCP and UNIX sockets, from servers that are honest, slow, or lie."""

import _socket
import socket
import threading
from types import SimpleNamespace

import pytest

from lab.bench.load import connections
from lab.bench.load.process import EngineGenerator
from lab.bench.load.wires import EchoWire, check_clients
from lab.errors import UsageError
from lab.model.plan import Load
from lab.model.protocols import Endpoint
from lab.model.request import Expectation
from lab.model.workload import Transport, Wire, Workload
from tests.kit.engines import count, right_at_a_rate, step_until
from tests.kit.lab_process import until
from tests.kit.socket_server import exactly

SIZE = 1024
BIG = 102_400


def answering(reply, size=SIZE):
    """Return a handler that answers each message with what *reply* makes of it."""

    def handle(conn):
        while len(data := exactly(conn, size)) == size:
            conn.sendall(reply(data))

    return handle


def echo(conn):
    """Send back what comes, as it comes."""
    while data := conn.recv(65536):
        conn.sendall(data)


def flipped(data):
    """Return *data* with another byte in its middle."""
    middle = len(data) // 2
    return data[:middle] + bytes((data[middle] ^ 1,)) + data[middle + 1 :]


@pytest.mark.parametrize("wire", [EchoWire(1), EchoWire(SIZE), EchoWire(BIG), EchoWire(SIZE, 5)])
@pytest.mark.parametrize("keepalive", [True, False])
def test_an_honest_server_makes_no_error(serve, engine, at, wire, keepalive):
    """Whatever the size, in however many pieces it comes back, over kept connections and new."""
    server = serve(handler=echo, **at)
    window = count(engine(server.address, wire=wire, connections=3, keepalive=keepalive), 30)
    assert (window.ok, window.errors, window.sample) == (30, {}, "")
    assert window.received == 30 * wire.length
    assert window.connections == (3 if keepalive else 30)
    assert sum(window.latency.values()) == 30


def test_at_a_rate_an_honest_server_makes_no_error(serve, engine, at):
    """The open loop speaks it, too."""
    server = serve(handler=echo, **at)
    driven = engine(server.address, wire=EchoWire(SIZE), connections=3, rate=500.0)
    window = right_at_a_rate(driven, 20)
    assert window.errors == {}
    assert sum(window.service.values()) == window.ok


@pytest.mark.parametrize(
    ("reply", "failure", "seen"),
    [
        (flipped, "body", "byte 512 of 1,024"),
        (lambda data: b"0 " + data[2:], "body", "byte 0 of 1,024: '0 "),
        (lambda data: data[:10] + bytes(SIZE - 10), "body", r"byte 10 of 1,024: '\x00\x00"),
        (lambda data: data + b"x", "malformed", "1 byte more than the 1,024 that were sent: 'x'"),
        (lambda data: data * 2, "malformed", "1,024 bytes more than the 1,024"),
    ],
    ids=["one byte", "number", "short, then wrong", "long", "twice"],
)
def test_a_lie_is_found(serve, engine, at, *, reply, failure, seen):
    """A wrong byte is another body, what comes too much is malformed, and the first is shown."""
    window = count(engine(serve(handler=answering(reply), **at).address, wire=EchoWire(SIZE)))
    assert (window.ok, window.errors) == (0, {failure: 4})
    assert window.sample.startswith(f"{failure}: ")
    assert seen in window.sample


def test_bytes_of_another_connection_are_found(serve, engine, at):
    """Two connections send different bytes from the first one on, so a mix-up is another body."""
    arrived = {}
    both = threading.Barrier(2)

    def swap(conn):
        arrived[threading.get_ident()] = exactly(conn, SIZE)
        both.wait(5)
        (other,) = (data for who, data in arrived.items() if who != threading.get_ident())
        conn.sendall(other)
        conn.recv(1)

    window = count(engine(serve(handler=swap, **at).address, wire=EchoWire(SIZE)), 2)
    assert (window.ok, window.errors) == (0, {"body": 2})


def test_bytes_of_another_connection_in_a_late_line_are_found(serve, engine):
    """Every line has its connection's own text, not only the first."""
    wire = EchoWire(16, lines=4)
    foreign = wire.request(99)

    def replaced(data):
        return data[:32] + foreign[32:48] + data[48:]

    server = serve(handler=answering(replaced, wire.length))
    assert count(engine(server.address, wire=wire)).errors == {"body": 4}


@pytest.mark.parametrize("some", [b"", b"part"], ids=["silent", "short"])
def test_what_does_not_come_in_time_is_a_timeout(serve, engine, at, some):
    """Be it all of the echo, or the rest of it."""

    def stop(conn):
        conn.sendall(exactly(conn, SIZE)[: len(some)])
        conn.recv(1)

    server = serve(handler=stop, **at)
    window = count(engine(server.address, wire=EchoWire(SIZE), timeout=0.1))
    assert window.errors == {"timeout": 4}


@pytest.mark.parametrize(
    ("some", "failure", "seen"),
    [(0, "closed", ""), (700, "truncated", "truncated: 700 of 1,024 bytes came back")],
)
def test_a_server_that_closes_is_an_error(serve, engine, at, *, some, failure, seen):
    """Before the first byte it is closed, and afterwards truncated."""

    def close(conn):
        conn.sendall(exactly(conn, SIZE)[:some])

    window = count(engine(serve(handler=close, **at).address, wire=EchoWire(SIZE)))
    assert (window.errors, window.sample) == ({failure: 4}, seen)


def test_a_late_surplus_is_found_with_the_next_message(serve, engine, at):
    """What comes after an echo was taken for whole is not the beginning of the next."""
    driven = None

    def add(conn):
        conn.sendall(exactly(conn, SIZE))
        until(lambda: driven.ok, "the first echo")
        exactly(conn, SIZE)
        conn.sendall(b"surplus")
        conn.recv(1)

    server = serve(handler=add, **at)
    driven = engine(server.address, wire=EchoWire(SIZE), connections=1)
    window = count(driven, 2)
    assert (window.ok, window.errors) == (1, {"body": 1})


def test_a_full_queue_of_a_unix_socket_is_refused(engine, tmp_path):
    """Nothing waits for a place there: connecting fails at once."""
    path = str(tmp_path / "full.sock")
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as filler:
        listener.bind(path)
        listener.listen(0)
        filler.connect(path)
        window = count(engine(path, wire=EchoWire(SIZE)))
    assert window.errors == {"refused": 4}


@pytest.fixture
def small_buffers(monkeypatch):
    """Give each of the engine's sockets a send buffer that takes no message of BIG bytes whole."""

    class Small(_socket.socket):
        def __init__(self, *args):
            super().__init__(*args)
            self.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)

    monkeypatch.setattr(connections, "_socket", SimpleNamespace(socket=Small))


@pytest.mark.parametrize("keepalive", [True, False])
@pytest.mark.parametrize("rate", [None, 200.0])
def test_what_a_socket_does_not_take_is_sent_later(
    serve, engine, at, small_buffers, *, keepalive, rate
):
    """Each such message is counted once, comes back whole, and is no error."""
    server = serve(handler=echo, **at)
    driven = engine(server.address, wire=EchoWire(BIG), keepalive=keepalive, rate=rate)
    driven.open_window()
    driven.resume()
    step_until(driven, lambda: driven.ok >= 12)
    window = driven.close_window()
    assert window.errors == {}
    assert window.partial >= 12


def test_a_server_that_reads_slowly_is_waited_for(serve, engine, at, small_buffers):
    """A message is sent as fast as the server takes it, and the engine does not spin meanwhile."""
    let_go = threading.Event()

    def slow(conn):
        data = conn.recv(1000)
        let_go.wait(5)
        conn.sendall(data + exactly(conn, BIG - len(data)))

    server = serve(handler=slow, **at)
    driven = engine(server.address, wire=EchoWire(BIG), connections=1)
    driven.begin_count(1)
    step_until(driven, lambda: driven.close_window().partial)
    while driven.step(0.02):
        pass  # until nothing happens any more
    let_go.set()
    step_until(driven, lambda: driven.done)
    window = driven.close_window()
    assert (window.ok, window.errors, window.partial) == (1, {}, 1)


def test_an_echo_of_what_was_not_sent_yet_is_malformed(serve, engine, tmp_path, small_buffers):
    """A server that gives back an earlier message has not read this one."""
    over = threading.Event()

    def repeat(conn):
        first = exactly(conn, BIG)
        conn.sendall(first)
        conn.recv(100)
        conn.sendall(first)
        over.wait(5)

    server = serve(handler=repeat, path=tmp_path / "echo.sock")
    window = count(engine(server.address, wire=EchoWire(BIG), connections=1), 2)
    over.set()
    assert (window.ok, window.errors) == (1, {"malformed": 1})
    assert window.sample == "malformed: a whole reply to a part of the request"


def test_a_message_whose_server_goes_is_an_error(serve, engine, at, small_buffers):
    """Also while a part of it waits to be sent."""

    def go(conn):
        conn.recv(100)

    window = count(engine(serve(handler=go, **at).address, wire=EchoWire(BIG)))
    assert sum(window.errors.values()) == 4
    assert set(window.errors) <= {"reset", "closed"}


def echoed(size, **rest):
    """Return the workload of an echo."""
    return Workload("echo", "/", Expectation(), wire=Wire.ECHO, size=size, **rest)


@pytest.mark.costly
@pytest.mark.parametrize("load", [Load(4), Load(4, rate=300.0), Load(4, requests=50)])
def test_the_engines_processes_speak_it(serve, at, load):
    """Wire, size and address reach each child, and no two of their connections say the same."""
    messages = set()

    def note(conn):
        while len(data := exactly(conn, SIZE)) == SIZE:
            messages.add(data)
            conn.sendall(data)

    server = serve(handler=note, **at)
    where = Endpoint("127.0.0.1", 0, socket=server.address) if at else Endpoint(*server.address)
    with EngineGenerator(2).session(where, echoed(SIZE), load, None) as session:
        session.warm_up(0.05, 10)
        windows = session.measure(0.2)
    assert [dict(window.errors) for window in windows] == [{}, {}]
    assert sum(window.ok for window in windows) > 0
    assert len(messages) == 4


@pytest.mark.parametrize("client", ["ab", "fasthttp"])
def test_a_client_that_speaks_http_only_is_refused(client):
    """Echo, and whatever is asked over a UNIX socket; in a line, before anything starts."""
    with pytest.raises(UsageError, match=f"{client} speaks http over tcp; echo is echo over tcp"):
        check_clients([client], echoed(SIZE))
    local = Workload("fib", "/9", Expectation(), transport=Transport.UNIX)
    with pytest.raises(UsageError, match="fib is http over unix, for the lab's engine"):
        check_clients([client], local)
    check_clients([client], Workload("fib", "/9", Expectation()))
    check_clients(["engine"], echoed(SIZE))
