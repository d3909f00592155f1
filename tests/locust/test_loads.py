"""Loads that `locust -f loadtests/` offers: at a rate, and from Locust's own fast client."""

from __future__ import annotations

import json

import pytest

from lab.bench.load.codec import decode_window
from tests.kit.lab_process import ROOT, SMALL, compare, header, run, trials
from tests.kit.replies import REPLY
from tests.kit.socket_server import socket_servers
from tests.locust.web_ui import LOCUST

HEADLESS = (*LOCUST, "--headless", "-u", "8")


def windows(folder):
    """Return the windows of the only run, those of one trial side by side."""
    return [[decode_window(window) for window in trial["windows"]] for trial in trials(folder)]


@pytest.mark.slow
@pytest.mark.parametrize("processes", [(), ("--processes", "2")])
def test_a_rate_is_that_of_all_workers_together(tmp_path, processes):
    """Each worker plans the share of its users, and every request is answered."""
    compare(*HEADLESS, *processes, "--profiles", "tuned", "--rate", "200", *SMALL, cwd=tmp_path)
    trial_windows = windows(tmp_path)
    assert trial_windows
    for trial in trial_windows:
        assert sum(window.planned / window.wall for window in trial) == pytest.approx(200, rel=0.05)
        for window in trial:
            assert window.errors == {}
            assert sum(window.service.values()) == window.ok > 0


@pytest.mark.slow
@pytest.mark.parametrize("load", [(), ("--connection", "close"), ("--load", "walkthrough")])
def test_a_comparison_with_locusts_own_client(tmp_path, load):
    """It writes the windows that the engine writes: CPU, replies of each user, connections."""
    wishes = ("--client", "fasthttp", "--profiles", "tuned", *load)
    compare(*HEADLESS, *wishes, *SMALL, cwd=tmp_path)
    assert header(tmp_path)["generator"] == "locust fasthttp"
    for (window,) in windows(tmp_path):
        assert window.errors == {}
        assert len(window.replies) == 8
        assert all(window.replies)
        assert sum(window.latency.values()) == sum(window.replies) == window.ok
        assert 0 < window.cpu <= window.wall
        assert window.latency_sum > 0
        if load:  # a connection each, but for those under way at the window's edges
            assert window.connections == pytest.approx(window.ok, abs=8)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        (("--load", "walkthrough"), "this --load counts its requests"),
        (("--client", "fasthttp"), "leave out --client fasthttp"),
    ],
)
def test_a_rate_that_cannot_be_kept_to_is_refused(tmp_path, wishes, words):
    """Before any server is started, in a line that says what to do."""
    done = run(*HEADLESS, "--rate", "50", *wishes, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


JUDGE = """
import locust, gevent, json
from lab.bench.load.setup import Setup
from lab.locust.clients import FastHttpClients
from lab.model.protocols import Endpoint
from lab.model.plan import Load
from tests.kit.replies import WORKLOAD
seen = {{}}
for name, address in {addresses}.items():
    failed = []
    clients = FastHttpClients(
        Setup(Endpoint(*address), WORKLOAD, Load(2, timeout=0.2)), failed.append)
    clients.begin_count(5)
    while not clients.done:
        gevent.sleep(0.005)
    window = clients.close_window()
    clients.close()
    seen[name] = [window.ok, dict(window.errors), window.unfinished, len(failed)]
print(json.dumps(seen))
"""
# In a process of its own: to import Locust patches the sockets of the one that does.


@pytest.mark.costly
def test_the_clients_judge_like_the_engine():
    """Failures have the engine's classes, but a reply that breaks off counts as malformed."""
    with socket_servers() as serve:
        servers = {
            "ok": serve(REPLY),
            "body": serve(REPLY.replace(b"5, 8", b"5, 9")),
            "status": serve(REPLY.replace(b"200 OK", b"500 Internal Server Error")),
            "malformed": serve(b"220 mail ready\r\n", close=True),
            "closed": serve(close=True),
            "timeout": serve(),
            "broken off": serve(REPLY[:-1], close=True),
        }
        addresses = {name: server.address for name, server in servers.items()}
        addresses["refused"] = ("127.0.0.1", 1)
        done = run("python", "-c", JUDGE.format(addresses=addresses), cwd=ROOT)
    expected = {name: [0, {name: 5}, 0, 0] for name in addresses}
    expected |= {"ok": [5, {}, 0, 0], "broken off": [0, {"malformed": 5}, 0, 0]}
    assert done.stdout, done.stderr
    assert json.loads(done.stdout) == expected
