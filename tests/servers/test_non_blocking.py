"""uWSGI's non-blocking modes: what waits beside what, what a signal drops, what does not start."""

import asyncio
import signal
import socket
import subprocess
import sys

import pytest

from lab.config.uwsgi import stop_signal
from lab.model.request import Expectation
from lab.model.workload import Workload
from loadtests.workloads import numbers
from tests.kit.client import ask
from tests.kit.lab_process import BIN, ROOT, compare, trials, until
from tests.kit.running import read_installed, running
from tests.kit.socket_server import SocketServer
from tests.kit.upstream import BY_UWSGI, ON_LOOP, PLAIN, PONG, Upstream, waiting

WAITING = {
    "threads-64": (PLAIN, 12),
    "processes-8": (PLAIN, 8),
    "gevent": (PLAIN, 12),
    "blocking-threads": (PLAIN, 2),
    "asyncio": (ON_LOOP, 2),
}
"""
Profile -> the handler that can wait there, and how many of its requests wait at once.

Of asyncio-100 and of uWSGI's async mode tests/studies/articles/test_waiting.py finds that out.
"""

BLOCKING = {"blocking": 1, "one-thread": 1, "asyncio-100": 1}
"""Profile -> its workers; the plain handler holds one of them."""


@pytest.fixture
def upstream(monkeypatch):
    """Return an upstream; UPSTREAM_URL is its address."""
    with Upstream() as server:
        monkeypatch.setenv("UPSTREAM_URL", server.url)
        yield server


def serving(name, app, **expected):
    """Run a profile with an application, in one process where the profile does not say how many."""
    expect = Expectation(**(expected or {"body": b"Pong!"}))
    return running(read_installed(name), Workload("waiting", "/", expect, app), workers=1)


@pytest.mark.parametrize("name", WAITING)
def test_requests_wait_beside_one_another(upstream, name):
    """As many as the profile says are under way upstream at the same time, and all are answered."""
    app, number = WAITING[name]
    with serving(name, app) as server:
        upstream.opened.clear()
        with waiting(server.address, number) as replies:
            until(lambda: upstream.under_way == number, f"{number} requests upstream")
            upstream.opened.set()
            assert [future.result().body for future in replies] == [b"Pong!"] * number


@pytest.mark.parametrize("name", BLOCKING)
def test_a_handler_that_blocks_is_alone(upstream, name):
    """One worker has one request under way, in a non-blocking mode, too."""
    with serving(name, PLAIN) as server, waiting(server.address, 6) as replies:
        assert [future.result().body for future in replies] == [b"Pong!"] * 6
    assert upstream.most <= BLOCKING[name]


@pytest.mark.parametrize(
    ("name", "app"), [("asyncio-100", ON_LOOP), ("uwsgi-async-aware", BY_UWSGI)]
)
def test_an_upstream_that_is_not_there_is_a_bad_gateway(monkeypatch, name, app):
    """The reply says so, and the server goes on: the first such reply proves that it is ready."""
    with socket.create_server(("127.0.0.1", 0)) as unused:
        monkeypatch.setenv("UPSTREAM_URL", f"http://127.0.0.1:{unused.getsockname()[1]}/")
    with serving(name, app, status=502, pattern="does not answer") as server:
        assert ask(server.address).status == 502


@pytest.mark.parametrize(
    ("name", "app"), [("asyncio-100", ON_LOOP), ("uwsgi-async-aware", BY_UWSGI)]
)
def test_half_a_reply_is_a_bad_gateway(monkeypatch, name, app):
    """An upstream that closes too early has not answered."""

    def half(conn):
        server.request(conn)
        conn.sendall(PONG[:-2])

    with SocketServer(half) as server:
        monkeypatch.setenv("UPSTREAM_URL", f"http://127.0.0.1:{server.address[1]}/")
        with serving(name, app, status=502, pattern="does not answer"):
            pass


@pytest.mark.parametrize(
    ("name", "app", "served"),
    [
        ("threads-64", PLAIN, True),
        ("gevent", PLAIN, True),
        ("asyncio-100", ON_LOOP, False),
        ("uwsgi-async-aware", BY_UWSGI, False),
    ],
)
def test_what_sigterm_does_to_a_request_under_way(upstream, name, app, served):
    """With greenlets of its own uWSGI drops it; gevent and threads finish it first."""
    with serving(name, app) as server:
        upstream.opened.clear()
        with socket.create_connection(server.address) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            until(lambda: upstream.under_way == 1, "the request upstream")
            server.tree()[0].send_signal(signal.SIGTERM)
            if served:
                until(lambda: "gracefully" in server.log().lower(), "a worker that has heard of it")
                upstream.opened.set()
            client.settimeout(10)
            reply = b"".join(iter(lambda: client.recv(4096), b""))
    assert (b"Pong!" in reply) is served


def test_a_core_too_few_is_a_loop_that_does_not_sleep(upstream):
    """A connection that finds no core is met again and again, which uWSGI's log says."""
    with serving("asyncio", ON_LOOP) as server:
        upstream.opened.clear()
        with waiting(server.address, 3) as replies:
            until(lambda: "async queue is full" in server.log(), "a full queue")
            upstream.opened.set()
            assert [future.result().body for future in replies] == [b"Pong!"] * 3


@pytest.mark.parametrize(
    "name",
    [*WAITING, "blocking", "asyncio-100", "uwsgi-sync-2", "uwsgi-async", "uwsgi-async-aware"],
)
def test_sigterm_ends_the_profile(name):
    """And does not reload it; that all its processes end is shown for every profile."""
    assert stop_signal(read_installed(name).options) is signal.SIGTERM


@pytest.mark.skipif(sys.version_info < (3, 12), reason="this Python makes a loop where uWSGI asks")
def test_without_a_loop_of_its_own_asyncio_ends_at_the_start():
    """uWSGI asks for one from C; the profiles make it (profiles/event_loop.py), and run."""
    read_installed("asyncio")
    command = [
        BIN / "uwsgi",
        "--http-socket",
        "127.0.0.1:0",
        "--module",
        "loadtests.workloads.hello:app",
    ]
    done = subprocess.run(
        [*command, "--asyncio", "2", "--greenlet"],
        cwd=ROOT, capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "in get_event_loop" in done.stderr


def test_both_handlers_do_the_same_work(capsys, monkeypatch):
    """One prints the file before its reply, the other after it."""
    monkeypatch.setattr(numbers, "DELAY", 0.0)

    async def both():
        printed = []
        for handler in (numbers.before, numbers.after):
            assert b"".join(handler({}, lambda *_: None)) == b"Hello World"
            printed.append(capsys.readouterr().out)
        for _ in range(2):  # what is due now is done after what is ready
            await asyncio.sleep(0)
        return [*printed, capsys.readouterr().out]

    before, reply, after = asyncio.run(both())
    assert (before.count("\n"), before.splitlines()[9], reply) == (10, "9:ten", "")
    assert after == before


@pytest.mark.slow
def test_under_the_articles_load_the_work_is_not_the_same(tmp_path):
    """The last request is answered before the first deferred work is due, which is said."""
    done = compare(
        "lab", "run", "blocking", "asyncio", "--workload", "numbers", "--load", "article",
        "--blocks", "2", "--no-confirm", cwd=tmp_path,
    )  # fmt: skip
    assert "Not the same work" in done.stdout
    trial = trials(tmp_path)[-1]
    assert sum(window["ok"] for window in trial["windows"]) == 10_000


@pytest.mark.slow
def test_the_deferred_work_is_done():
    """Ten lines for each reply stand in the server's log, five seconds after it."""
    expect = Expectation(body=b"Hello World")
    workload = Workload("numbers", "/", expect, "loadtests.workloads.numbers:after")
    with running(read_installed("asyncio"), workload) as server:
        assert "content-length" not in ask(server.address).headers
        # Python writes what it has printed in blocks of 8 KiB.
        for _ in range(150):
            ask(server.address)
        until(lambda: server.log().count(":ten\n") > 100, "the deferred work")
