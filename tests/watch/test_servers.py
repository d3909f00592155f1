"""Requests that a test holds in real servers: how many are in flight is known exactly."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from contextlib import ExitStack, closing, contextmanager, suppress

import pytest

from lab.bench.servers.ports import free_port
from lab.cli.watch.target import find_target
from tests.kit.lab_process import BIN, run, until
from tests.watch.stand import Watcher, connected, looks_at, needs_diagnosis, stand

pytestmark = needs_diagnosis

CLIENTS = 10

ADDRESS = "127.0.0.1:{port}"
KEEP = ("--keep-alive", "60")
UWSGI = ("uwsgi", "-Tw", "held", "--need-app", "--die-on-term")

SERVERS = {
    "uwsgi-http-socket": ((*UWSGI, "--master", "--http-socket", ADDRESS, "-p", "2"), 2),
    "uwsgi-threads": ((*UWSGI, "--http-socket", ADDRESS, "--threads", "3"), 3),
    "gunicorn-sync": (("gunicorn", "-b", ADDRESS, "-w", "2", "held"), 2),
    "gunicorn-gthread": (("gunicorn", "-b", ADDRESS, "--threads", "3", *KEEP, "held"), 3),
    "gunicorn-gevent": (("gunicorn", "-b", ADDRESS, "-k", "gevent", *KEEP, "held"), CLIENTS),
    "gunicorn-asgi": (("gunicorn", "-b", ADDRESS, "-k", "asgi", *KEEP, "held:asgi"), CLIENTS),
    "granian-asgi": (("granian", "--port", "{port}", "--interface", "asgi", "held:asgi"), CLIENTS),
    "granian-wsgi": (
        ("granian", "--port", "{port}", "--interface", "wsgi", "--blocking-threads", "3",
         "held:application"), 3,
    ),
    "uvicorn": (
        ("uvicorn", "--port", "{port}", "--timeout-keep-alive", "60", "held:asgi"), CLIENTS,
    ),
}  # fmt: skip
"""Server -> its command, and how many of ten requests are in the application's code."""

KEEPS = {
    "gunicorn-gthread",
    "gunicorn-gevent",
    "gunicorn-asgi",
    "granian-asgi",
    "granian-wsgi",
    "uvicorn",
}
"""Servers that keep connections."""


def owned(look):
    """Return whether it is known which worker has each accepted request."""
    held = sum(worker.busy + worker.unread for worker in look.workers.values())
    return held == look.in_flight - look.queued


PEERS = {"gunicorn-sync", "gunicorn-gevent", "granian-asgi", "granian-wsgi", "uvicorn"}
"""Servers of which the default run has a like one, or that are not installed for it."""


@pytest.mark.parametrize(
    "server",
    [pytest.param(name, marks=[pytest.mark.peers] * (name in PEERS)) for name in SERVERS],
)
def test_requests_in_flight_are_those_that_the_test_holds(server, tmp_path):
    """In flight is what clients wait for; in workers is what the application works on."""
    command, in_code = SERVERS[server]
    if not (BIN / command[0]).exists():
        pytest.skip(f"needs {command[0]} in this environment")
    with (
        stand(tmp_path, *command) as (gate, port, _),
        closing(connected(port, CLIENTS)) as clients,
        closing(Watcher(f":{port}")) as watcher,
    ):
        threads = watcher.target.settings.threads
        assert not watcher.target.settings.unknown
        clients.send("/held", CLIENTS)
        gate.wait_for(in_code)
        # A worker may have started after the watch.
        until(lambda: all(map(owned, watcher.looks())), "the owners of all connections")
        for look in watcher.looks():
            assert (look.in_flight, look.in_workers(threads)) == (CLIENTS, in_code)
            assert look.queued + look.waiting_inside(threads) == CLIENTS - in_code
            assert owned(look)
        gate.pass_all(CLIENTS)
        clients.receive(CLIENTS)
        assert [look.in_flight for look in watcher.looks()] == [0, 0, 0]
        if server in KEEPS:
            clients.send("/", CLIENTS)
            clients.receive(CLIENTS)
            clients.send("/held", in_code)
            gate.wait_for(in_code)
            for look in watcher.looks():
                assert (look.in_flight, look.in_workers(threads)) == (in_code, in_code)
                assert look.connections == CLIENTS
            gate.pass_all(in_code)
            clients.receive(in_code)
            assert [look.in_flight for look in watcher.looks()] == [0, 0, 0]


UNIX = {
    "uwsgi": ((*UWSGI, "--http-socket", "{folder}/s", "--listen", "64", "--processes", "2"), 2),
    "gunicorn-sync": (("gunicorn", "-b", "unix:{folder}/s", "-w", "3", "held"), 3),
}
"""Server that closes its connections -> its command, how many requests are in its code."""


@pytest.mark.parametrize("server", UNIX)
def test_requests_on_a_unix_socket_are_those_that_the_test_holds(server, tmp_path):
    """Accepted ones are in workers, the rest is in the queue."""
    command, in_code = UNIX[server]
    path = tmp_path / "s"
    with (
        stand(tmp_path, *command) as (gate, _, pid),
        closing(connected(path, CLIENTS)) as clients,
    ):
        clients.send("/held", CLIENTS)
        gate.wait_for(in_code)
        target = find_target(str(path))
        assert (target.root, target.settings.closes) == (pid, True)
        for look in looks_at(f"pid:{pid}"):
            assert (look.in_flight, look.read, look.queued) == (
                CLIENTS,
                in_code,
                CLIENTS - in_code,
            )
            assert [worker.busy for worker in look.workers.values()] == [1] * in_code
        gate.pass_all(CLIENTS)
        clients.receive(CLIENTS)
        assert [look.in_flight for look in looks_at(f"unix:{path}")] == [0, 0, 0]


def test_kept_connections_of_a_unix_socket_are_told(tmp_path):
    """There they are more than the requests, and the watch says so."""
    command = ("gunicorn", "-b", "unix:{folder}/s", "--threads", "4", "held")
    with stand(tmp_path, *command), closing(connected(tmp_path / "s", 3)) as clients:
        clients.send("/", 3)
        clients.receive(3)
        done = run("lab", "watch", str(tmp_path / "s"), "--for", "1s", cwd=tmp_path)
    assert "Not known: which connections have a request: the kernel keeps no times" in done.stdout
    assert "Not counted: what a full queue refuses" in done.stdout


NGINX = """
daemon off;
{user}
pid {folder}/nginx.pid;
error_log stderr;
worker_processes 1;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/a;
    proxy_temp_path {folder}/b;
    uwsgi_temp_path {folder}/c;
    fastcgi_temp_path {folder}/d;
    scgi_temp_path {folder}/e;
    upstream held {{ server {upstream}; keepalive 16; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            {passing}
        }}
    }}
}}
"""


HTTP = 'proxy_pass http://held; proxy_http_version 1.1; proxy_set_header Connection "";'
PROTOCOL = "uwsgi_pass held; uwsgi_param PATH_INFO $uri; uwsgi_param REQUEST_METHOD GET;"


@contextmanager
def nginx(folder, upstream, passing):
    """Run nginx in front of a server; yield its port."""
    if (program := shutil.which("nginx")) is None:
        pytest.skip("needs nginx")
    front, user = free_port(), "user root;" if os.geteuid() == 0 else ""
    text = NGINX.format(folder=folder, port=front, user=user, upstream=upstream, passing=passing)
    (folder / "nginx.conf").write_text(text)
    process = subprocess.Popen([program, "-c", folder / "nginx.conf"], start_new_session=True)
    try:
        yield front
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def test_the_port_of_nginx_tells_what_a_unix_socket_behind_it_does_not(tmp_path):
    """Requests in flight at its port, whatever connections it keeps to the server."""
    command = ("gunicorn", "-b", "unix:{folder}/s", "--threads", "4", "held")
    with (
        stand(tmp_path, *command) as (gate, _, _),
        nginx(tmp_path, f"unix:{tmp_path}/s", HTTP) as front,
    ):
        connected(tmp_path / "s", 0)
        with closing(connected(front, CLIENTS)) as clients:
            clients.send("/", CLIENTS)
            clients.receive(CLIENTS)
            clients.send("/held", 4)
            gate.wait_for(4)
            looks = looks_at(f":{front}")
            assert [(look.in_flight, look.connections) for look in looks] == [(4, CLIENTS)] * 3
            gate.pass_all(4)
            clients.receive(4)


def test_requests_in_the_uwsgi_protocol_are_those_that_nginx_passes_on(tmp_path):
    """On TCP, with as many in the code as there are workers, and the rest in the accept queue."""
    port = free_port()
    command = (*UWSGI, "--socket", ADDRESS, "-p2")

    def listens():
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 5):
            return True
        return False

    with ExitStack() as stack:
        gate, _, _ = stack.enter_context(stand(tmp_path, *command, port=port))
        # nginx would answer 502 until then.
        until(listens, "uWSGI's socket")
        front = stack.enter_context(nginx(tmp_path, f"127.0.0.1:{port}", PROTOCOL))
        clients = stack.enter_context(closing(connected(front, CLIENTS)))
        clients.send("/held", CLIENTS)
        gate.wait_for(2)
        assert find_target(f":{port}").settings.threads == 1
        for place, read in ((port, 2), (front, CLIENTS)):
            until(
                lambda p=place, r=read: looks_at(f":{p}", 1)[0].read == r, "requests that are read"
            )
            looks = looks_at(f":{place}")
            assert [look.in_flight for look in looks] == [CLIENTS] * 3
            assert [look.queued for look in looks] == [CLIENTS - read] * 3
        gate.pass_all(CLIENTS)
        clients.receive(CLIENTS)
        assert [look.in_flight for look in looks_at(f":{port}")] == [0] * 3
