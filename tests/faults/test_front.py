"""What nginx does for the instances, beyond what each of the other files is about."""

import json
import os
import signal
import socket
import threading
import time
from pathlib import Path

import pytest

from lab.bench.load.open_loop import make_engine
from lab.bench.load.wires import HttpWire
from lab.bench.servers.ports import free_port
from lab.model.plan import Load
from lab.model.request import Expectation, Request
from lab.model.workload import Workload
from tests.kit.client import ask
from tests.kit.engines import count
from tests.kit.lab_process import SITES, until

from .stacks import production, waiting

JOURNAL = Workload("journal", "/", Expectation(pattern="scheme"), "journal:application", SITES)


LIES = {"X-Forwarded-Proto": "javascript", "X-Forwarded-SSL": "on", "X-Forwarded-For": "8.8.8.8"}
"""Headers by which a client says who it is."""


def test_a_burst_waits_in_the_instances_queues(tmp_path):
    """400 clients at once, two workers: `listen` has room, so each gets its answer."""
    load = waiting(5)
    with production(tmp_path, load, workers=1) as stack:
        burst = Load(connections=400, keepalive=False, requests=400, timeout=30.0)
        wire = HttpWire(Request(load.path).encode("x", keepalive=False), load.expect)
        engine = make_engine(stack.address, wire, burst)
        window = count(engine, 400, timeout=60.0)
        engine.close()
    assert (window.ok, dict(window.errors)) == (400, {})


def test_a_client_cannot_say_who_it_is(tmp_path):
    """The scheme and the address that an application sees are nginx's, whatever headers came."""
    with production(tmp_path, JOURNAL) as stack:
        reply = ask(stack.address, headers=LIES)
    assert reply.status == 200
    seen = json.loads(reply.body)
    del seen["umask"]
    assert seen == {
        "wsgi.url_scheme": "http",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_X_FORWARDED_FOR": "127.0.0.1",
        "HTTP_X_FORWARDED_PROTO": "http",
        "HTTP_X_FORWARDED_SSL": "",
    }


@pytest.mark.parametrize(("method", "times", "status"), [("POST", 1, 502), ("PUT", 2, 200)])
def test_what_is_not_repeatable_is_not_repeated(tmp_path, monkeypatch, method, times, status):
    """A POST whose worker is killed is a 502, done once; a PUT is done again, as HTTP has it."""
    journal = tmp_path / "journal"
    monkeypatch.setenv("JOURNAL", str(journal))
    with production(tmp_path, JOURNAL) as stack:
        statuses = []
        client = threading.Thread(target=lambda: statuses.append(ask(stack.address, method).status))
        client.start()
        (victim,) = until(stack.busy, "a worker at work")
        until(lambda: journal.exists() and journal.read_text(), "the note of it")
        os.kill(victim, signal.SIGKILL)
        Path(f"{journal}.go").touch()
        client.join(30)
    assert statuses == [status]
    assert journal.read_text() == f"{method}\n" * times


@pytest.mark.parametrize(("allowed", "status"), [("127.0.0.0/8", 200), ("10.0.0.0/8", 403)])
def test_figures_are_not_for_the_public(tmp_path, allowed, status):
    """Port 8081 answers this machine and private networks, and no other address."""
    where = "127.0.0.1", free_port()
    moved = (
        ("listen 8081", "listen {}:{}".format(*where)),
        ("allow 127.0.0.0/8", f"allow {allowed}"),
    )
    with production(tmp_path, replace=moved):
        for name in ("a", "b", "nginx"):
            assert ask(where, path=f"/metrics/{name}").status == status


def figures(stack, *arguments, **more):
    """Return the reply to a request on port 8081, which is a UNIX socket here."""
    return ask(stack.folder / "metrics.sock", *arguments, **more)


@pytest.fixture(scope="module")
def journal_stack(tmp_path_factory):
    """Run the stack with an application that answers any path with what it sees of its client."""
    folder = tmp_path_factory.mktemp("stack")
    # Where nginx looks for files unless told otherwise, and packages have put a welcome page.
    (folder / "html").mkdir()
    for name in ("index.html", "x.html"):
        (folder / "html" / name).write_text("Welcome to nginx!")
    with production(folder, JOURNAL) as stack:
        yield stack


def test_nothing_of_a_client_goes_on_from_port_8081(journal_stack):
    """Whoever asks for figures reaches the instance with no header, method or query of its own."""
    reply = figures(journal_stack, "GET", "/metrics/a?x", LIES | {"X-Forwarded-Proto": "\xff"})
    assert reply.status == 200
    seen = json.loads(reply.body)
    assert seen["wsgi.url_scheme"] == seen["HTTP_X_FORWARDED_PROTO"] == "http"
    assert (seen["HTTP_X_FORWARDED_FOR"], seen["HTTP_X_FORWARDED_SSL"]) == ("", "")


@pytest.mark.parametrize("path", ["/", "/9", "/metrics", "/metrics/", "/metrics/a/", "/x.html"])
def test_port_8081_has_its_own_paths_only(journal_stack, path):
    """It serves no files, no welcome page and not the application: 404."""
    assert figures(journal_stack, "GET", path).status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_port_8081_is_for_reading(journal_stack, method):
    """Any method but GET and HEAD is a 405."""
    assert figures(journal_stack, method, "/metrics/a", body=b"").status == 405


def slow_body(address):
    """Begin a request whose body never ends, and return its connection."""
    connection = socket.create_connection(address, timeout=20)
    connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
    return connection


def test_a_slow_client_does_not_hold_up_the_stop(tmp_path):
    """After SIGQUIT nginx waits for worker_shutdown_timeout, here a second, and ends with 0."""
    shorter = (("worker_shutdown_timeout 35s;", "worker_shutdown_timeout 1s;"),)
    with production(tmp_path, replace=shorter) as stack, slow_body(stack.address) as client:
        ended = threading.Event()
        stack.nginx.send_signal(signal.SIGQUIT)

        def drip():
            while not ended.wait(0.2):
                try:
                    client.send(b"a")
                except OSError:
                    return

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            until(lambda: not (tmp_path / "nginx.pid").exists(), "the end of nginx", 10.0)
        finally:
            ended.set()
            thread.join()


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent",
    [b"GET /9 HTTP/1.1\r\nHost:", b"", b"POST /9 HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"],
)
def test_a_client_that_falls_silent_is_closed(tmp_path, sent):
    """After 10 seconds without the rest of its headers or of its body."""
    with production(tmp_path) as stack, socket.create_connection(stack.address, 20) as client:
        began = time.monotonic()
        client.sendall(sent)
        while client.recv(4096):
            pass
    assert 9 < time.monotonic() - began < 15
