"""The engine with a rate: requests at planned instants, whatever the server does."""

import select
import threading
from time import perf_counter

import pytest

from lab.bench.load import open_loop
from lab.bench.load.alarm import Alarm
from lab.bench.load.engine import LATE_SEND
from lab.bench.load.wires import HttpWire
from lab.errors import GeneratorError
from lab.model.plan import Load
from lab.model.request import Expectation
from tests.kit.engines import step_until
from tests.kit.lab_process import ROOT, run
from tests.kit.replies import BODY, REPLY


def _window(engine, finished):
    engine.open_window()
    step_until(engine, finished)
    window = engine.close_window()
    assert engine.attempted == window.ok + sum(window.errors.values()) + window.unfinished
    return window


def _sum(histogram):
    return sum(low * count for low, count in histogram.items())


def _quantile(histogram, q):
    rank, seen = q * sum(histogram.values()), 0
    for low, count in sorted(histogram.items()):
        seen += count
        if seen >= rank:
            return low / 1e6
    raise AssertionError("no replies")


def test_as_many_requests_as_rate_times_window(serve, engine):
    """Planned is the rate times the window; an idle server answers them all."""
    driven = engine(serve(REPLY).address, connections=8, rate=400)
    driven.resume()
    for _ in range(2):
        opening = perf_counter()
        driven.open_window()
        opened = perf_counter()
        step_until(driven, lambda: driven.ok >= 100)
        closing = perf_counter()
        window = driven.close_window()
        closed = perf_counter()
        # Exact, however long this process had to wait for a core between two of these lines.
        assert 400 * (closing - opened) - 1 <= window.planned <= 400 * (closed - opening) + 1
        assert driven.attempted == window.ok + sum(window.errors.values()) + window.unfinished
        assert sum(window.service.values()) == sum(window.latency.values()) == window.ok


def test_connections_take_turns(serve, engine):
    """Every connection is opened, kept, and used again and again, even at a low rate."""
    driven = engine(serve(REPLY).address, connections=8, rate=200)
    driven.open_window()
    driven.resume()
    step_until(driven, lambda: driven.ok >= 40)
    window = driven.close_window()
    assert window.connections == 8
    assert min(window.replies) >= 2  # of 5 on average


def test_without_keep_alive_a_connection_each(serve, engine):
    """One request on each connection, as in the closed loop."""
    server = serve(REPLY, close=True)
    driven = engine(server.address, connections=4, keepalive=False, rate=200)
    driven.open_window()
    driven.resume()
    step_until(driven, lambda: driven.ok >= 10)
    driven.drain()
    step_until(driven, lambda: driven.done)
    window = driven.close_window()
    assert window.connections == window.ok == window.planned == server.requests


def test_the_grid_is_planned_once(serve, engine):
    """A second `resume` changes nothing; after a pause a new grid begins."""
    driven = engine(serve(REPLY).address, connections=2, rate=0.1)
    driven.open_window()
    driven.resume()
    driven.resume()
    step_until(driven, lambda: driven.ok == 1)
    assert driven.close_window().planned == 1
    driven.pause()
    driven.resume()
    step_until(driven, lambda: driven.ok == 2)
    assert driven.close_window().planned == 2


def test_a_server_too_slow_for_the_rate_leaves_a_queue(serve, engine):
    """What is not sent waits and is no error; latency counts from the planned instant."""
    driven = engine(serve(REPLY, after=0.05).address, connections=2, rate=200)
    driven.resume()
    first, second = (_window(driven, lambda: driven.ok >= 10) for _ in range(2))
    assert second.errors == {}
    assert second.queued > first.queued > 0
    assert second.unfinished - second.queued <= 2
    # A fifth of what is due is answered, so who is asked for in the second window waited by then.
    assert _quantile(second.service, 0.5) + 0.15 < _quantile(second.latency, 0.5)


def test_latency_is_never_below_service_time(serve, engine):
    """The first counts from an earlier instant than the second, for each request."""
    driven = engine(serve(REPLY, after=0.005).address, connections=2, rate=300)
    driven.resume()
    window = _window(driven, lambda: driven.ok >= 50)
    assert _sum(window.latency) >= _sum(window.service) >= 4_900 * window.ok


def test_queue_is_bounded_by_the_timeout(serve, engine):
    """A request that waited in the queue for longer than the timeout is an error of that class."""
    driven = engine(serve().address, connections=1, timeout=0.1, rate=100)
    driven.open_window()
    driven.resume()
    step_until(driven, lambda: driven.close_window().errors.get("timeout", 0) >= 10)
    window = driven.close_window()
    assert window.errors.keys() == {"timeout"}
    assert window.queued <= 11
    assert driven.attempted == window.errors["timeout"] + window.unfinished


def test_nobody_listening(engine):
    """Refused requests are errors, and those that wait for a slot to rest are queued."""
    driven = engine(("127.0.0.1", 1), connections=1, rate=1000)
    driven.resume()
    window = _window(driven, lambda: (now := driven.close_window()).errors and now.queued)
    assert window.errors.keys() == {"refused"}


def test_a_pause_leaves_requests_unfinished(serve, engine):
    """Those under way and those in the queue."""
    driven = engine(serve().address, connections=2, rate=500)
    driven.open_window()
    driven.resume()
    step_until(driven, lambda: driven.close_window().queued >= 3)
    driven.pause()
    window = driven.close_window()
    assert (window.unfinished, window.queued) == (driven.attempted, 0)
    assert driven.done


@pytest.mark.parametrize(
    "last_words", [b"", b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"]
)
def test_a_kept_connection_that_ends_while_idle_is_no_error(serve, engine, clock, last_words):
    """It is noticed before the next request, which takes a new one."""
    read = threading.Semaphore(0)

    def one_reply(conn):
        server.request(conn)
        conn.sendall(REPLY)
        read.acquire(timeout=10)
        conn.sendall(last_words)

    server = serve(handler=one_reply)
    driven = engine(server.address, connections=1, rate=5)
    driven.open_window()
    driven.resume()
    for number in (1, 2, 3):
        clock.now += 0.2001 * (number > 1)
        step_until(driven, lambda number=number: driven.ok == number)
        read.release()
        step_until(driven, lambda: not driven._connections.idle)
    window = driven.close_window()
    assert (window.errors, window.retried, window.connections) == ({}, 0, 3)


@pytest.mark.parametrize(("stall", "period"), [(0.1, 0.4), (0.5, 2.0)])
def test_a_stalling_server_is_seen(serve, engine, clock, stall, period):
    """
    Stalled for a quarter of the time, the slowest tenth waited for 60 % of a stall or more.

    A closed loop asks nothing of a server that stalls, and its p90 does not show it.
    """
    answering = threading.Event()

    def stalling(conn):
        while server.request(conn):
            answering.wait(10)
            conn.sendall(REPLY)

    server = serve(handler=stalling)
    in_truth = {}
    for rate, connections in ((None, 2), (160, 128)):
        driven = engine(server.address, connections=connections, rate=rate)
        driven.open_window()
        driven.resume()
        clock.now += 1e-4  # rounding may put an instant that is on the grid before or after it
        for tick in range(round(3 * period * 160)):
            clock.now += 1 / 160
            driven.step(0)
            if tick / 160 % period < stall:
                answering.clear()
                continue
            answering.set()
            goal = driven.attempted if rate else driven.ok + connections
            step_until(driven, lambda driven=driven, goal=goal: driven.ok >= goal)
        in_truth[rate] = _quantile(driven.close_window().latency, 0.9)
        driven.pause()
    assert in_truth[160] == pytest.approx(0.6 * stall, rel=0.2)
    assert in_truth[None] < 0.2 * stall


def test_an_engine_in_time_sends_nothing_late(serve, engine, clock):
    """With a step at each planned instant no send is late."""
    driven = engine(serve(REPLY).address, connections=64, rate=100)
    driven.open_window()
    driven.resume()
    for _ in range(20):
        clock.now += 0.010001  # not a rounding error short of the instant
        driven.step(0)
    window = driven.close_window()
    assert (window.planned, window.queued, window.late) == (21, 0, 0)


def test_a_blocked_engine_sends_late(serve, engine, clock):
    """After 52 ms without a step, of five requests those due for over 5 ms were sent late."""
    driven = engine(serve(REPLY).address, connections=64, rate=100)
    driven.open_window()
    driven.resume()
    assert LATE_SEND == 0.005
    clock.now += 0.052
    driven.step(0)
    window = driven.close_window()
    assert (window.planned, window.late) == (6, 4)


def test_waiting_for_a_busy_slot_is_not_late(serve, engine, clock):
    """A request that waited because no slot was free is the server's lateness."""
    driven = engine(serve(REPLY).address, connections=1, rate=100)
    driven.open_window()
    driven.resume()
    clock.now += 0.052
    step_until(driven, lambda: driven.ok == 6)
    assert driven.close_window().late == 0


@pytest.mark.parametrize("load", [Load(rate=0), Load(rate=float("inf")), Load(requests=5, rate=9)])
def test_a_load_that_is_no_open_loop_is_refused(load):
    """A rate is above 0, and a number of requests has none."""
    with pytest.raises(GeneratorError, match="rate above 0"):
        open_loop.make_engine(("127.0.0.1", 1), HttpWire(b"", Expectation()), load)


def test_the_alarm_goes_off_at_its_instant_and_not_before():
    """Also when the instant has passed."""
    alarm = Alarm()
    epoll = select.epoll()
    try:
        epoll.register(alarm.fd, select.EPOLLIN | select.EPOLLET)
        assert epoll.poll(0) == []
        for ahead in (0.0123, -1):
            instant = perf_counter() + ahead
            alarm.set(instant)
            assert epoll.poll(5) == [(alarm.fd, select.EPOLLIN)]
            assert perf_counter() >= instant
            assert epoll.poll(0) == []
    finally:
        epoll.close()
        alarm.close()


def test_arrivals_wake_gevent(serve):
    """Who waits on `fileno` alone sends every request, and its loop has time for others."""
    script = f"""
from gevent import monkey
monkey.patch_all()
import gevent
from lab.bench.load.open_loop import make_engine
from lab.bench.load.wires import HttpWire
from lab.model.plan import Load
from lab.model.request import Expectation
wire = HttpWire(b"GET / HTTP/1.1\\r\\nHost: h\\r\\n\\r\\n", Expectation(body={BODY!r}))
engine = make_engine({serve(REPLY).address!r}, wire, Load(4, rate=200))
watcher = gevent.get_hub().loop.io(engine.fileno(), 1)
engine.open_window()
engine.resume()
while engine.ok < 20:
    if engine.step(0) == 0:
        gevent.get_hub().wait(watcher)
window = engine.close_window()
print(window.ok >= 20, dict(window.errors))
"""
    done = run("python", "-c", script, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("True {}\n", "")
