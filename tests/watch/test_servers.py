"""Requests that a test holds in real servers: how many are in flight is known exactly."""

from __future__ import annotations

from contextlib import closing

import pytest

from lab.cli.watch.target import find_target
from tests.watch.stand import connected, looks_at, needs_diagnosis, stand

pytestmark = needs_diagnosis

CLIENTS = 10

ADDRESS = "127.0.0.1:{port}"
UWSGI = ("uwsgi", "--module", "held", "--need-app", "--die-on-term", "--enable-threads")

SERVERS = {
    "uwsgi-http-socket": ((*UWSGI, "--master", "--http-socket", ADDRESS, "--processes", "2"), 2),
    "uwsgi-threads": ((*UWSGI, "--http-socket", ADDRESS, "--threads", "3"), 3),
    "gunicorn-sync": (("gunicorn", "-b", ADDRESS, "-w", "2", "held"), 2),
    "gunicorn-gthread": (("gunicorn", "-b", ADDRESS, "--threads", "3", "held"), 3),
    "gunicorn-gevent": (("gunicorn", "-b", ADDRESS, "-k", "gevent", "held"), CLIENTS),
    "gunicorn-asgi": (("gunicorn", "-b", ADDRESS, "-k", "asgi", "held:asgi"), CLIENTS),
    "granian-asgi": (("granian", "--port", "{port}", "--interface", "asgi", "held:asgi"), CLIENTS),
    "granian-wsgi": (
        ("granian", "--port", "{port}", "--interface", "wsgi", "--blocking-threads", "3",
         "held:application"), 3,
    ),
}  # fmt: skip
"""Server -> its command, and how many of ten requests are in the application's code."""

KEEPS = {"gunicorn-gthread", "gunicorn-gevent", "gunicorn-asgi", "granian-asgi", "granian-wsgi"}
"""Servers that keep connections."""


@pytest.mark.parametrize("server", SERVERS)
def test_requests_in_flight_are_those_that_the_test_holds(server, tmp_path):
    """In flight is what clients wait for; in workers is what the application works on."""
    command, in_code = SERVERS[server]
    with (
        stand(tmp_path, *command) as (gate, port, pid),
        closing(connected(port, CLIENTS)) as clients,
    ):
        clients.send("/held", CLIENTS)
        gate.wait_for(in_code)
        threads = find_target(str(port)).settings.threads
        for look in looks_at(f"pid:{pid}"):
            assert (look.in_flight, look.in_workers(threads)) == (CLIENTS, in_code)
            assert look.queued + look.waiting_inside(threads) == CLIENTS - in_code
            assert sum(each.busy + each.unread for each in look.workers.values()) == (
                CLIENTS - look.queued
            )
        gate.pass_all(CLIENTS)
        clients.receive(CLIENTS)
        assert [look.in_flight for look in looks_at(f":{port}")] == [0, 0, 0]
        if server in KEEPS:
            clients.send("/", CLIENTS)
            clients.receive(CLIENTS)
            clients.send("/held", in_code)
            gate.wait_for(in_code)
            for look in looks_at(f":{port}"):
                assert (look.in_flight, look.in_workers(threads)) == (in_code, in_code)
                assert look.connections == CLIENTS
            gate.pass_all(in_code)
            clients.receive(in_code)
            assert [look.in_flight for look in looks_at(f":{port}")] == [0, 0, 0]
