"""What nginx does for the instances, beyond what each of the other files is about."""

import http.client
import json
import os
import signal
import socket
import threading
import time

import pytest

from lab.generators.open_loop import make_engine
from lab.generators.request import build_request
from lab.model import Expectation, Load, Workload
from lab.servers.ports import free_port
from lab.system.programs import ROOT
from tests.lab_process import until

from .stacks import production, waiting

JOURNAL = Workload(
    "journal", "/", Expectation(pattern="scheme"), "journal:application", ROOT / "tests/sites"
)


def ask(address, method="GET", headers=None, path="/"):
    """Return status and body of one request."""
    connection = http.client.HTTPConnection(*address, timeout=20)
    try:
        connection.request(method, path, headers=headers or {})
        reply = connection.getresponse()
        return reply.status, reply.read()
    finally:
        connection.close()


def test_a_burst_waits_in_the_instances_queues(tmp_path):
    """400 clients at once, two workers: `listen` has room, so each gets its answer."""
    load = waiting(5)
    with production(tmp_path, load, workers=1) as stack:
        burst = Load(connections=400, keepalive=False, requests=400, timeout=30.0)
        engine = make_engine(
            stack.address, build_request(load.path, "x", keepalive=False), load.expect, burst
        )
        engine.begin_count(400)
        deadline = time.monotonic() + 60
        while not engine.done and time.monotonic() < deadline:
            engine.step(0.1)
        window = engine.close_window()
        engine.close()
    assert (window.ok, dict(window.errors)) == (400, {})


def test_a_client_cannot_say_who_it_is(tmp_path):
    """The scheme and the address that an application sees are nginx's, whatever headers came."""
    lies = {
        "X-Forwarded-Proto": "javascript",
        "X-Forwarded-SSL": "on",
        "X-Forwarded-For": "8.8.8.8",
    }
    with production(tmp_path, JOURNAL) as stack:
        status, body = ask(stack.address, headers=lies)
    assert status == 200
    seen = json.loads(body)
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
        found = []
        client = threading.Thread(target=lambda: found.append(ask(stack.address, method)[0]))
        client.start()
        (victim,) = until(stack.busy, "a worker at work")
        until(lambda: journal.exists() and journal.read_text(), "the note of it")
        os.kill(victim, signal.SIGKILL)
        client.join(30)
    assert found == [status]
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
            assert ask(where, path=f"/metrics/{name}")[0] == status


def figures(stack, request):
    """Return the reply to *request* on port 8081, which is a UNIX socket here."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
        connection.connect(str(stack.folder / "metrics.sock"))
        connection.sendall(request + b"Connection: close\r\nHost: x\r\n\r\n")
        return connection.makefile("rb").read()


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
    sent = (
        b"GET /metrics/a?x HTTP/1.1\r\nX-Forwarded-Proto: \xff\r\nX-Forwarded-SSL: on\r\n"
        b"X-Forwarded-For: 8.8.8.8\r\n"
    )
    reply = figures(journal_stack, sent)
    assert reply.startswith(b"HTTP/1.1 200 ")
    seen = json.loads(reply.partition(b"\r\n\r\n")[2])
    assert seen["wsgi.url_scheme"] == seen["HTTP_X_FORWARDED_PROTO"] == "http"
    assert (seen["HTTP_X_FORWARDED_FOR"], seen["HTTP_X_FORWARDED_SSL"]) == ("", "")


@pytest.mark.parametrize(
    "path", [b"/", b"/9", b"/metrics", b"/metrics/", b"/metrics/a/", b"/x.html"]
)
def test_port_8081_has_its_own_paths_only(journal_stack, path):
    """It serves no files, no welcome page and not the application: 404."""
    assert figures(journal_stack, b"GET %s HTTP/1.1\r\n" % path).startswith(b"HTTP/1.1 404 ")


@pytest.mark.parametrize("method", [b"POST", b"PUT", b"DELETE", b"OPTIONS"])
def test_port_8081_is_for_reading(journal_stack, method):
    """Any method but GET and HEAD is a 405."""
    sent = method + b" /metrics/a HTTP/1.1\r\nContent-Length: 0\r\n"
    assert figures(journal_stack, sent).startswith(b"HTTP/1.1 405 ")


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
