"""How much of the time a backing service needed, and what a gate and a cause make of it."""

from __future__ import annotations

import os
import threading

import psutil
import pytest

from lab.analysis.diagnose import causes
from lab.analysis.gates import TIME_BASED, judge
from lab.analysis.observations import observed
from lab.bench.probes.backing import BackingProbe
from lab.bench.probes.pressure import _ours
from lab.bench.profiles.backing import read
from lab.bench.servers.backing import running
from lab.bench.servers.fetch import fetch
from lab.model.backing import BackingRole
from lab.model.protocols import Endpoint, Subject
from tests.kit import builders as make
from tests.kit.lab_process import until
from tests.probes.trees import tree

BURNING = """
import http.server, sys, time

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        end = time.thread_time() + 0.02
        while time.thread_time() < end:
            pass
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass

http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def test_cpu_is_told_by_role_and_the_busiest_process_by_share():
    """Two trees: one burns CPU in two processes, the other sleeps; the dead count as well."""
    burning = """
    say("ready"); input()
    os.waitpid(child(burn, 0.2), 0)
    burner = child(burn, 0.4)
    os.waitpid(burner, os.WNOHANG)
    time.sleep(0.1)
    say("done"); sleep_forever()
    """
    with tree(burning) as busy, tree('child(sleep_forever); say("ready"); sleep_forever()') as idle:
        busy.heard(), idle.heard()
        until(lambda: _is_asleep(idle.pid), "two processes that sleep")  # none waits for a CPU
        services = ((busy.pid, BackingRole.BACKEND), (idle.pid, BackingRole.UPSTREAM))
        stop = BackingProbe().start(Subject(1, 1, (), services))
        busy.go()
        busy.heard()
        readings = stop()
    assert 0.19 <= readings["backend.cpu"] <= 0.7
    assert 0.0 < readings["backend.busiest"] <= 1.0
    assert readings["upstream.cpu"] == 0.0
    assert readings["upstream.busiest"] < 0.1


def _is_asleep(pid: int) -> bool:
    """Return whether a process and its child sleep."""
    processes = [psutil.Process(pid), *psutil.Process(pid).children()]
    statuses = [process.status() for process in processes]
    return statuses == [psutil.STATUS_SLEEPING] * 2


def test_without_a_service_nothing_is_told():
    """A reading that was not taken is absent."""
    assert BackingProbe().start(Subject(os.getpid(), 1))() == {}


def test_a_service_of_ours_is_no_stranger():
    """Its CPU is the experiment's own."""
    assert _ours(Subject(2, 1, (3,), ((4, BackingRole.UPSTREAM),))) == (2, 3, 4)


def test_an_upstream_that_is_at_its_limit_withholds_throughput(tmp_path):
    """20 ms of CPU for each of four clients that do not pause: no time is left."""
    (tmp_path / "burning.py").write_text(BURNING)
    (tmp_path / "burning.toml").write_text(
        'summary = "Burns"\nrole = "upstream"\nready = "http"\n'
        'run = [["{python}", "-I", "{here}/burning.py", "{port}"]]\n'
        'environment = { BURNING_PORT = "{port}" }\n'
    )
    with running([read(tmp_path / "burning.toml")], None) as (service,):
        endpoint = Endpoint("127.0.0.1", int(os.environ["BURNING_PORT"]))

        def ask() -> None:
            for _ in range(6):
                fetch(endpoint, "/", 10.0)

        clients = [threading.Thread(target=ask) for _ in range(4)]
        stop = BackingProbe().start(Subject(1, 1, (), ((service.pid, service.service.role),)))
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        readings = stop()
    (finding,) = judge(make.trial(readings=make.READINGS | readings))
    assert (finding.gate.name, finding.withholds) == ("upstream", TIME_BASED)
    assert readings["upstream.cpu"] >= 0.4


@pytest.mark.parametrize(("share", "gates"), [(0.69, []), (0.7, ["upstream"])])
def test_an_upstream_may_be_busy_for_seven_tenths(share, gates):
    """From there on who asks it waits for longer than it works."""
    readings = make.READINGS | {"upstream.busiest": share}
    assert [finding.gate.name for finding in judge(make.trial(readings=readings))] == gates


@pytest.mark.parametrize(
    ("share", "idle", "names"), [(0.69, 0.5, []), (0.7, 0.5, ["backend"]), (0.7, 0.49, [])]
)
def test_a_backend_at_its_limit_is_a_cause(share, idle, names):
    """It is part of what is measured: no gate, and what limits where a core is idle beside it."""
    lazy = {"server.cpu_user": 0.3, "server.cpu_system": 0.1, "server.busiest": 0.2}
    lazy |= {"server.cores": 2.0, "server.idle": idle}
    readings = make.READINGS | lazy | {"backend.busiest": share, "backend.cpu": 2.0}
    seen = observed(make.trial(readings=readings))
    assert seen.findings == ()
    assert [cause.name for cause in causes(seen)] == names


@pytest.mark.parametrize(
    ("server", "backend", "name"), [(0.5, 1.5, "backend"), (1.5, 0.5, "server CPU")]
)
def test_of_a_core_that_both_use_up_the_larger_part_limits(server, backend, name):
    """Each waits for the CPU that the other has: how long the backend waits says nothing."""
    used = {"server.cpu_user": server, "server.cpu_system": 0.0, "server.busiest": server / 2.1}
    shared = {"server.idle": 0.05, "backend.cpu": backend, "backend.busiest": 1.0}
    (cause, *_) = causes(observed(make.trial(readings=make.READINGS | used | shared)))
    assert cause.name == name


def test_a_server_that_waits_for_its_busy_backend_is_not_idle():
    """Somebody is at work, on the same cores."""
    idle = {"server.cpu_user": 0.1, "server.cpu_system": 0.0, "server.busiest": 0.1}
    lazy = make.window(cpu=0.1, wait=0.0)
    (finding,) = judge(make.trial(lazy, readings=make.READINGS | idle))
    assert finding.gate.name == "idle server"
    assert judge(make.trial(lazy, readings=make.READINGS | idle | {"backend.cpu": 1.5})) == ()
