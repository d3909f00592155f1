"""What rules say of granian, tried on it."""

import os
import signal
import socket
import subprocess
import threading
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from lab.bench.servers.ports import free_port
from tests.kit.client import served
from tests.kit.lab_process import BIN, until
from tests.kit.linting import codes
from tests.migrate.servers import workers

WSGI = """
import threading
import time

inside, most = 0, 0
lock = threading.Lock()

def application(environ, start_response):
    global inside, most
    with lock:
        inside += 1
        most = max(most, inside)
    time.sleep(float(environ["QUERY_STRING"] or 0))
    with lock:
        inside -= 1
    start_response("200 OK", [("Content-Length", "2"), ("Most", str(most))])
    return [b"ok"]
"""

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n%s\r\n"


@contextmanager
def granian(folder, *options, target="shop:application"):
    """Run it with these options, on a port of its own; give the port and the process."""
    (folder / "shop.py").write_text(WSGI)
    port = free_port()
    command = [BIN / "granian", "--interface", "wsgi", "--port", str(port), *options, target]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, stdout=log, stderr=log, start_new_session=True
        )
    try:
        yield port, process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize(
    ("options", "ended"), [([], 1), (["--respawn-failed-workers"], None)], ids=["alone", "respawn"]
)
def test_it_ends_with_its_first_dead_worker(options, ended, tmp_path):
    """GR007: one of two workers is killed, and granian stops serving unless it respawns them."""
    with granian(tmp_path, "--workers", "2", *options) as (port, process):
        # A worker that is told to stop while it starts ignores that, and granian waits for it.
        log = tmp_path / "log"
        until(lambda: log.read_text().count("Started worker-") == 2, "two workers")
        assert served(port)
        first = workers(process)[0]
        first.kill()
        if ended is None:
            until(lambda: first not in workers(process), "another worker")
            until(lambda: served(port), "a reply of the others")
            assert process.poll() is None
        else:
            assert process.wait(60) == ended


@pytest.mark.parametrize(
    ("option", "limited"), [("--runtime-threads", False), ("--blocking-threads", True)]
)
def test_how_many_requests_the_application_gets_at_once(option, limited, tmp_path):
    """GR011: of eight at a time all, whatever --runtime-threads says."""
    assert ("GR011" in codes(f"granian --interface wsgi {option} 2 a:b", "GR")) is not limited
    with granian(tmp_path, option, "2") as (port, _):
        until(lambda: served(port), "a reply")
        clients = [threading.Thread(target=served, args=(port, "/?0.5")) for _ in range(8)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        assert (int(served(port).headers["most"]) <= 2) is limited


@pytest.mark.parametrize(
    ("options", "answered"),
    [(["--backpressure", "2"], False), (["--backpressure", "2", "--no-http1-keep-alive"], True)],
    ids=["kept", "closed"],
)
def test_idle_connections_take_all_places(options, answered, tmp_path):
    """GR012: two clients that have their replies and stay, and nobody else is answered."""
    command = f"granian --interface wsgi {' '.join(options)} a:b"
    assert ("GR012" in codes(command, "GR")) is not answered
    with granian(tmp_path, *options) as (port, _):
        until(lambda: served(port), "a reply")
        with _asked(port) as first, _asked(port) as second, _asked(port, read=False) as third:
            third.settimeout(3)
            if answered:
                assert third.recv(99).startswith(b"HTTP/1.1 200")
            else:
                with pytest.raises(TimeoutError):
                    third.recv(99)
                first.close()
                second.close()
                third.settimeout(20)
                assert third.recv(99).startswith(b"HTTP/1.1 200")


def _asked(port, *, read=True):
    """Return a connection on which a request was sent, and its reply read."""
    client = socket.create_connection(("127.0.0.1", port), timeout=20)
    client.sendall(REQUEST % b"")
    if read:
        assert client.recv(999).startswith(b"HTTP/1.1 200")
    return client


def test_a_script_is_no_target(tmp_path):
    """GR013: granian looks for a module of that name, and ends."""
    script = tmp_path / "bin" / "shop-api"
    script.parent.mkdir()
    script.write_text(WSGI)
    target = f"{script}:application"
    assert "GR013" in codes(f"granian --interface wsgi {target}", "GR")
    with granian(tmp_path, target=target) as (_, process):
        assert process.wait(60) == 1
        assert "Could not import 'shop-api'" in (tmp_path / "log").read_text()


def test_a_module_below_bin_is_a_target(tmp_path):
    """GR013 is silent: the file's name ends with .py, which the target leaves out."""
    module = tmp_path / "bin" / "shop-api.py"
    module.parent.mkdir()
    module.write_text(WSGI)
    target = f"{module.with_suffix('')}:application"
    assert "GR013" not in codes(f"granian --interface wsgi {target}", "GR")
    with granian(tmp_path, target=target) as (port, _):
        until(lambda: served(port), "a reply")


def test_a_target_without_a_name_is_app(tmp_path):
    """GR013 is a remark then: what is called otherwise is not found."""
    with granian(tmp_path, target="shop") as (_, process):
        assert process.wait(60) == 1
        assert "module 'shop' has no attribute 'app'" in (tmp_path / "log").read_text()


@pytest.mark.slow
def test_waiting_connections_are_reset_with_their_worker(tmp_path):
    """GR010: unless the kernel moves them to another one."""
    moves = Path("/proc/sys/net/ipv4/tcp_migrate_req")
    kept = moves.exists() and moves.read_text().strip() == "1"
    options = ("--blocking-threads", "1", "--backpressure", "1", "--workers-lifetime", "60")
    with granian(tmp_path, *options) as (port, process):
        until(lambda: served(port), "a reply")
        first = workers(process)[0]
        outcomes, done = Counter(), threading.Event()
        clients = [threading.Thread(target=_ask, args=(port, outcomes, done)) for _ in range(24)]
        for client in clients:
            client.start()
        try:
            until(lambda: not first.is_running(), "another worker", 120)
            served_then = outcomes["ok"]
            until(lambda: outcomes["ok"] > served_then + 24, "its replies")
        finally:
            done.set()
            for client in clients:
                client.join()
        assert (outcomes["reset"] == 0) is kept


def _ask(port, outcomes, done):
    """Ask on new connections until it is *done*; count the replies, and what has none."""
    while not done.is_set():
        with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
            with suppress(ConnectionResetError):
                client.sendall(REQUEST.replace(b"/ ", b"/?0.05 ", 1) % b"Connection: close\r\n")
                if client.recv(99):
                    outcomes["ok"] += 1
                    continue
            outcomes["reset"] += not done.is_set()
