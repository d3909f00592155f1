"""Accept queues: what overflowed, and what only looks like it."""

from __future__ import annotations

import os
import socket
from contextlib import contextmanager

import pytest

from lab.bench.probes.listeners import Listener, list_listeners, parse_ss, read_listeners, ss_path
from lab.bench.probes.processes import ProcessState, Snapshot
from lab.bench.probes.sockets import Growth, SocketProbe, drops, router
from lab.bench.probes.tcp import TcpProbe
from lab.bench.servers.ports import free_port
from lab.model.protocols import Subject
from tests.kit.lab_process import BIN, until
from tests.probes.clients import connect, until_answered
from tests.probes.trees import tree

SS = """\
LISTEN 0      1024   127.0.0.1:42505 0.0.0.0:* uid:33 ino:155779 sk:1001 cgroup:/ <->
\t skmem:(r0,rb131072,t0,tb16384,f0,w0,o0,bl0,d506)
LISTEN 5      4              [::]:8080       [::]:* ino:17 sk:5 cgroup:/ v6only:0 <->
\t skmem:(r0,rb131072,t0,tb16384,f0,w0,o0,bl0,d0) bbr cwnd:10
"""

BUSY = "another server here defers its accepts too, which may hide this one's drops"

LISTENER = """
it = socket.create_server(("127.0.0.1", 0), backlog=4)
if {defer}:
    it.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 4)
child(sleep_forever)
it_port = it.getsockname()[1]
it.close()
say(it_port)
sleep_forever()
"""


def test_listeners_are_parsed_from_ss():
    """Both lines of a socket belong together; IPv6 has colons of its own."""
    first, second = parse_ss(SS)
    assert (first.inode, first.port, first.queue, first.limit) == (155779, 42505, 0, 1024)
    assert first.discarded == 506
    assert (second.port, second.queue, second.limit, second.discarded) == (8080, 5, 4, 0)
    assert first.defers is None


@pytest.mark.parametrize(
    "text",
    [
        SS.splitlines()[0],
        SS.replace("ino:17 ", ""),
        "Cannot open netlink socket: Protocol not supported\n",
    ],
)
def test_half_a_listing_is_refused(text):
    """A socket without its drops is not one with none."""
    with pytest.raises(ValueError):
        parse_ss(text)


def test_no_listeners_are_an_empty_list():
    """As opposed to a listing that failed."""
    assert parse_ss("") == []


@pytest.mark.skipif(ss_path() is None, reason="needs ss (iproute2)")
def test_a_socket_says_of_itself_what_ss_says_of_it():
    """Port, queue, limit and drops are the same by both ways."""
    with socket.create_server(("127.0.0.1", 0), backlog=4) as server:
        port = server.getsockname()[1]
        with connect(port, 12, until=lambda clients: clients.established() >= 5):
            listeners = [
                listener for listener in read_listeners([os.getpid()]) if listener.port == port
            ]
            listed = list_listeners({listener.inode for listener in listeners})
    (listener,), (listed,) = listeners, listed
    assert (listener.queue, listener.limit) == (listed.queue, listed.limit) == (5, 4)
    assert listener.discarded > 0
    assert listed.discarded >= listener.discarded  # clients try again
    assert listener.defers is False


@pytest.mark.alone
@pytest.mark.parametrize("defer", [False, True])
def test_handshakes_dropped_from_a_full_queue_are_counted(defer):
    """Two hundred clients and a backlog of 4: as many as the namespace's ListenDrops say."""
    with tree(LISTENER.format(defer=defer)) as root:
        port = int(root.heard())
        subject = Subject(root.pid, port)
        probe, counters = SocketProbe(), TcpProbe()
        stop_counters, stop = counters.start(subject), probe.start(subject)
        least = 1 if defer else 190

        def counted(_clients):
            if defer and stop_counters()["tcp.TCPDeferAcceptDrop"] > 200:
                pytest.skip(BUSY)
            return stop().get("listener.drops", 0) >= least

        with connect(port, 200, send=b"x", until=counted):
            readings = stop()
            bounds = stop_counters()
    assert least <= readings["listener.drops"] <= bounds["tcp.ListenDrops"]
    assert readings["listener.public.drops"] == readings["listener.drops"]
    assert (readings["listener.public.queue"], readings["listener.public.limit"]) == (5, 4)
    assert "listener.inner.drops" not in readings


def test_another_servers_drops_are_not_charged():
    """The counters of the namespace grow, this server's do not."""
    with tree(LISTENER.format(defer=False)) as root, tree(LISTENER.format(defer=False)) as other:
        port, foreign = int(root.heard()), int(other.heard())
        subject = Subject(root.pid, port)
        probe, counters = SocketProbe(), TcpProbe()
        stop_counters, stop = counters.start(subject), probe.start(subject)

        def counted(_clients):
            return stop_counters()["tcp.ListenOverflows"] >= 40

        with connect(foreign, 50, until=counted):
            assert stop()["listener.drops"] == 0


UWSGI = """
root = subprocess.Popen([{uwsgi!r}, {profile!r}, "--listen", "{listen}"], env={env!r},
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
say("started")
sleep_forever()
"""
HELLO = """
def application(environ, start_response):
    start_response("200 OK", [("Content-Length", "1")])
    return [b"x"]
"""
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@contextmanager
def uwsgi(folder, lines, listen):
    """Run uWSGI with these lines until the block ends; yield the tree's root and its port."""
    port = free_port()
    (folder / "hello.py").write_text(HELLO)
    profile = folder / "mine.ini"
    profile.write_text(
        f"[uwsgi]\n{lines.format(port=port)}\nneed-app = true\nwsgi-file = {folder}/hello.py\n"
    )
    environment = {"PATH": os.environ["PATH"]}
    command = {"uwsgi": str(BIN / "uwsgi"), "profile": str(profile), "listen": listen}
    with tree(UWSGI.format(env=environment, **command)) as root:
        root.heard()
        until_answered(port, REQUEST)
        yield root, port


@pytest.mark.alone
@pytest.mark.parametrize(("listen", "dropped"), [(100, True), (1024, False)])
def test_uwsgis_deferred_handshakes_are_no_drops(listen, dropped, tmp_path):
    """500 at once: drops with room for 100, none with room for 1024, on both of its ports."""
    with uwsgi(tmp_path, "http = 127.0.0.1:{port}\nmaster = true", listen) as (root, port):
        subject = Subject(root.pid, port)

        def burst():
            stop_counters, stop = TcpProbe().start(subject), SocketProbe().start(subject)
            with connect(port, 500, send=REQUEST, until=lambda clients: clients.answered() >= 150):
                readings, bounds = stop(), stop_counters()
            # Absent while others' drops could hide ours; none where uWSGI took them in time.
            seen = readings.get("listener.drops")
            return None if seen is None or (dropped and not seen) else (readings, bounds)

        readings, bounds = until(burst, "a burst beside which nobody else dropped connections")
    assert readings["listener.public.limit"] == listen
    assert bounds["tcp.TCPDeferAcceptDrop"] >= 150
    if dropped and bounds["tcp.TCPDeferAcceptDrop"] > 1000:
        pytest.skip(BUSY)
    if dropped:
        assert 1 <= readings["listener.drops"] <= bounds["tcp.ListenDrops"]
    else:
        assert readings["listener.drops"] == 0
        assert readings["listener.public.drops"] == readings["listener.inner.drops"] == 0


def test_a_server_without_a_port_has_no_readings():
    """Absent, not zero: a UNIX socket tells no drops."""
    with tree('say("ready"); sleep_forever()') as root:
        root.heard()
        subject = Subject(root.pid, 1)
        probe = SocketProbe()
        assert probe.start(subject)() == {}


@pytest.mark.parametrize(
    ("growths", "deferred", "dropped", "expected"),
    [
        # gunicorn's listener beside a busy uWSGI: nothing is subtracted
        (
            [Growth(True, False, 40)],
            9000,
            40,
            {"listener.drops": 40.0, "listener.public.drops": 40.0},
        ),
        # an overflow at the handshake's end counts twice at the listener, once in the namespace
        (
            [Growth(True, True, 625)],
            5,
            595,
            {"listener.drops": 595.0, "listener.public.drops": 595.0},
        ),
        # another program's drops
        ([Growth(True, True, 500)], 500, 70, {"listener.drops": 0.0, "listener.public.drops": 0.0}),
        # another program's deferred handshakes never make ours negative
        ([Growth(True, True, 30)], 500, 0, {"listener.drops": 0.0, "listener.public.drops": 0.0}),
        # and where they may hide all of ours, nothing is said
        ([Growth(True, True, 30)], 500, 30, {}),
        # a router whose inner listener did not discard anything at all
        (
            [Growth(True, True, 90), Growth(False, True, 0)],
            60,
            30,
            {"listener.drops": 30.0, "listener.public.drops": 30.0, "listener.inner.drops": 0.0},
        ),
        # which of the two it was cannot be told
        ([Growth(True, True, 800), Growth(False, True, 700)], 1200, 300, {"listener.drops": 300.0}),
    ],
)
def test_drops_are_neither_invented_nor_charged_twice(growths, deferred, dropped, expected):
    """The rule, on figures whose truth is known."""
    counters = {"TCPDeferAcceptDrop": deferred, "ListenDrops": dropped}
    assert drops(growths, counters) == expected


def test_without_the_kernels_counters_nothing_is_concluded():
    """Absent, not zero."""
    assert drops([Growth(True, True, 5)], {"ListenDrops": 5}) == {}


def listener(port, *holders):
    """Return an idle listener on *port* that these processes have open."""
    return Listener(port, port, 0, 100, 0, None, frozenset(holders))


def spent(at, *seconds):
    """Return a snapshot of processes 1, 2, ... that have used so much CPU."""
    used = enumerate(seconds, 1)
    return Snapshot(at, {n: ProcessState(n, 0, n, "x", False, s, 0.0, 0.0, 0.0) for n, s in used})


@pytest.mark.parametrize(
    ("listeners", "expected"),
    [
        # uWSGI's http with and without a master; process 1 is the master or the first worker
        ([listener(8000, 1, 3), listener(9001, 1, 2)], 0.6),
        # a proxy in front of a server of its own
        ([listener(8000, 3), listener(9001, 1, 2)], 0.6),
        # workers that answer clients themselves
        ([listener(8000, 1, 2, 3)], None),
        # ... of a master that also gives statistics: process 1 is idle
        ([listener(8000, 1, 2, 3), listener(9191, 1)], None),
        # every process may take what is passed on
        ([listener(8000, 1, 2, 3), listener(9001, 1, 2, 3)], None),
    ],
    ids=["router", "proxy", "no inner", "statistics", "one for all"],
)
def test_a_router_is_told_by_the_sockets_it_holds(listeners, expected):
    """It has the clients' port and not the workers'; over 2 s it used 1.2 s."""
    before, now = spent(10.0, 0.0, 1.0, 5.0), spent(12.0, 0.0, 1.8, 6.2)
    assert router(listeners, 8000, before, now) == pytest.approx(expected)


def test_the_router_of_uwsgi_is_seen_under_load(tmp_path):
    """With `http` it is there, and with `http-socket` the same requests go past nobody."""
    shares = []
    for option in ("http", "http-socket"):
        with uwsgi(tmp_path, f"{option} = 127.0.0.1:{{port}}", 1000) as (root, port):
            subject = Subject(root.pid, port)
            probe = SocketProbe()
            stop = probe.start(subject)
            for _ in range(5):
                with connect(
                    port, 300, send=REQUEST, until=lambda clients: clients.answered() == 300
                ):
                    pass
            shares.append(stop().get("server.router"))
    routed, direct = shares
    assert 0 < routed <= 1.1
    assert direct is None
