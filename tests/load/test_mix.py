"""Several requests in one load: in which order, what is expected of each, what came of each."""

from __future__ import annotations

import threading
from collections import Counter

import pytest

from lab.bench.load.mix import LENGTH, order
from lab.bench.load.open_loop import make_engine
from lab.bench.load.process import EngineGenerator
from lab.bench.load.setup import Setup, decode_setup
from lab.bench.load.wires import wire_of
from lab.model.plan import Load
from lab.model.protocols import Endpoint
from lab.model.request import Expectation, Headers, Request
from lab.model.workload import Workload
from tests.kit.engines import count, step_until

LARGE = b"x" * 300_000


def asks(*requests, seed=7):
    """Return a workload of requests."""
    return Workload("mix", "/", Expectation(), requests=requests, seed=seed)


def get(path, weight=1, body=None, **more):
    """Return a GET whose right reply is its own path, unless another is."""
    expect = Expectation(body=path.encode() if body is None else body)
    return Request(path, weight=weight, expect=expect, **more)


class Mirror:
    """Answers each request with its target, and remembers what was asked."""

    def __init__(self, serve, closing=()):
        self.heads: list[bytes] = []
        self.bodies: list[bytes] = []
        self.closing = closing
        self._lock = threading.Lock()
        self.server = serve(handler=self.answer)

    def answer(self, conn):
        """Answer the requests of a connection."""
        data = b""
        while True:
            while b"\r\n\r\n" not in data:
                piece = conn.recv(65536)
                if not piece:
                    return
                data += piece
            head, _, data = data.partition(b"\r\n\r\n")
            length = next(
                (int(line[16:]) for line in head.split(b"\r\n") if line[:15] == b"Content-Length:"),
                0,
            )
            while len(data) < length:
                data += conn.recv(65536)
            with self._lock:
                self.heads.append(head)
                self.bodies.append(data[:length])
            data = data[length:]
            method, target, _ = head.split(b"\r\n")[0].split()
            close = b"Connection: close\r\n" if target in self.closing else b""
            reply = b"HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n" % (close, len(target))
            conn.sendall(reply + (b"" if method == b"HEAD" else target))
            if close:
                return

    @property
    def targets(self):
        """What was asked, in the order in which it came."""
        return [head.split()[1].decode() for head in self.heads]


@pytest.fixture
def mix():
    """Make an engine for a workload; it is closed at the end."""
    made = []

    def make(server, workload, connections=2, keepalive=True, **more):
        load = Load(connections, keepalive, timeout=5.0, **more)
        made.append(make_engine(server.address, wire_of(workload, keepalive=keepalive), load))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


@pytest.mark.parametrize("weights", [[8, 1], [1] * 1009, [1000, 1, 1], [3, 2, 5, 7]])
def test_the_order_has_each_request_as_often_as_its_weight_says(weights):
    """To the nearest whole number, and at least once."""
    counts = Counter(order(weights, 7))
    assert counts.total() == LENGTH
    for index, weight in enumerate(weights):
        exact = LENGTH * weight / sum(weights)
        assert counts[index] == 1 or abs(counts[index] - exact) <= 1


def test_the_order_is_drawn_by_the_seed():
    """The same for the same one, and not sorted."""
    assert order([8, 1], 7) == order([8, 1], 7) != order([8, 1], 8)
    assert order([8, 1], 7) != sorted(order([8, 1], 7))


def test_requests_are_made_in_their_order_by_weight(serve, mix):
    """Over one connection the order is to be seen; a second engine makes the same."""
    workload = asks(get("/a", 3), get("/b"))
    seen = []
    for _ in range(2):
        mirror = Mirror(serve)
        assert count(mix(mirror.server, workload, connections=1), 400).ok == 400
        seen.append(mirror.targets)
    assert seen[0] == seen[1] == [("/a", "/b")[index] for index in order([3, 1], 7)[:400]]


@pytest.mark.parametrize("keepalive", [True, False])
@pytest.mark.parametrize("closing", [(), (b"/b",)])
def test_each_reply_is_held_against_its_own_expectation(serve, mix, keepalive, closing):
    """And counted by itself, whatever becomes of the connection after it."""
    mirror = Mirror(serve, closing)
    workload = asks(get("/a", 3), get("/b"), get("/c", body=b"another"))
    window = count(mix(mirror.server, workload, connections=4, keepalive=keepalive), 1009)
    targets = Counter(mirror.targets)
    assert window.ok == targets["/a"] + targets["/b"]
    assert window.errors == {"body": targets["/c"]}
    tallies = [(sum(answers.latency.values()), answers.errors) for answers in window.requests]
    assert tallies == [(targets["/a"], {}), (targets["/b"], {}), (0, {"body": targets["/c"]})]
    assert window.sample == "body: /c: 200 '/c'"
    assert abs(targets["/a"] - 605) <= 2


def test_methods_headers_and_bodies_are_sent(serve, mix):
    """A body of many kilobytes, which goes in pieces; and HEAD, whose reply has no body."""
    mirror = Mirror(serve)
    secret = Headers.of([("Cookie", "id=1")], str)
    post = Request("/post", "POST", secret, LARGE, expect=Expectation(body=b"/post"))
    head = Request("/head", "HEAD", expect=Expectation(body=b""))
    window = count(mix(mirror.server, asks(post, head)), 60)
    assert (window.ok, window.errors) == (60, {})
    assert set(mirror.bodies) == {LARGE, b""}
    posted = next(sent_head for sent_head in mirror.heads if sent_head.startswith(b"POST /post "))
    assert b"\r\nCookie: id=1\r\nContent-Length: 300000" in posted
    assert all(b"\r\nHost: localhost\r\n" in sent_head for sent_head in mirror.heads)


def test_a_large_body_alone_is_a_load_as_well(serve, mix):
    """One request has no order."""
    mirror = Mirror(serve)
    post = Request("/post", "POST", body=LARGE, expect=Expectation(body=b"/post"))
    window = count(mix(mirror.server, asks(post)), 40)
    assert (window.ok, window.errors, window.requests) == (40, {}, ())


def test_an_open_loop_makes_a_mix(serve, mix):
    """Each request counts from when it was due."""
    mirror = Mirror(serve)
    engine = mix(mirror.server, asks(get("/a", 3), get("/b")), rate=2000.0)
    engine.open_window()
    engine.resume()
    step_until(engine, lambda: engine.ok >= 300)
    window = engine.close_window()
    assert window.errors == {}
    counts = [sum(answers.latency.values()) for answers in window.requests]
    assert sum(counts) == window.ok
    assert counts[0] > 2 * counts[1] > 0


def test_several_processes_make_the_mix_together(serve):
    """Each counts for itself, and the secrets reach them."""
    mirror = Mirror(serve)
    secret = Headers.of([("Cookie", "id=1")], str)
    workload = asks(get("/a", 3), get("/b", headers=secret))
    load = Load(4, requests=200)
    endpoint = Endpoint(*mirror.server.address)
    with EngineGenerator(2).session(endpoint, workload, load, None) as session:
        windows = session.measure(0)
    assert [window.ok for window in windows] == [100, 100]
    counts = Counter()
    for window in windows:
        counts.update(
            {n: sum(answers.latency.values()) for n, answers in enumerate(window.requests)}
        )
    targets = Counter(mirror.targets)
    assert counts == {0: targets["/a"], 1: targets["/b"]}
    assert all(b"Cookie: id=1" in head for head in mirror.heads if head.startswith(b"GET /b "))


def test_what_a_process_is_told_has_what_must_be_sent():
    """And nothing but that: elsewhere a secret is no field."""
    secret = Headers.of([("Authorization", "Basic x"), ("A", "b")], str)
    setup = Setup(Endpoint("127.0.0.1", 1), asks(get("/a", headers=secret), get("/b")), Load())
    headers = decode_setup(setup.encode()).workload.requests[0].headers
    assert headers.shown == (("Authorization", "Basic x"), ("A", "b"))
