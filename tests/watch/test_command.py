"""`lab watch` as an operator runs it: by port, process and unit, in each form, without rights."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from prometheus_client.parser import text_string_to_metric_families

from lab.bench.probes import watching
from lab.bench.probes.sock_diag import SocketDiagnosis
from lab.bench.probes.watching import ServerEndedError, Watching
from lab.bench.probes.workers import Workers
from lab.cli.watch import busy
from lab.cli.watch import target as target_module
from lab.cli.watch.target import find_target, unit_processes
from lab.errors import UsageError
from tests.kit.cases import cases
from tests.kit.lab_process import BIN, environment, run, started, until
from tests.kit.namespaces import entered, made_host, why_none
from tests.watch.stand import Watcher, connected, looks_at, needs_diagnosis, stand

pytestmark = needs_diagnosis

ADDRESS = "127.0.0.1:{port}"
GUNICORN = ("gunicorn", "-b", ADDRESS, "-w", "2", "--threads", "4", "held")
HELD = 5


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    """Return port, first process and gate's port of a gunicorn that holds five requests."""
    with (
        stand(tmp_path_factory.mktemp("held"), *GUNICORN) as (gate, port, pid),
        closing(connected(port, HELD)) as clients,
    ):
        clients.send("/held", HELD)
        # One worker may have accepted all five, and has four threads.
        gate.wait_for(HELD - 1)
        yield port, pid, gate.port


def test_the_text_has_seconds_and_an_end(held, tmp_path):
    """And the number for `lab tune`, with what the watch itself cost."""
    port, pid, gate = held
    done = run("lab", "watch", str(port), "--for", "3s", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"Port {port}: gunicorn, process {pid}." in done.stdout
    # The fifth may move from the queue to a worker between two looks.
    second = rf"^\d\d:\d\d:\d\d +{HELD}\.0 +[45]\.\d of 8 +[01]\.\d "
    assert re.search(second, done.stdout, re.MULTILINE), done.stdout
    assert re.search(rf"^in flight +{HELD}\.0 +{HELD} +{HELD}$", done.stdout, re.MULTILINE)
    assert f"--busy {HELD}" in done.stdout
    assert "Dropped from the accept queue: no connection." in done.stdout
    assert re.search(r"This watch cost \d\.\d% of a core", done.stdout)
    assert "Not known: how many" not in done.stdout
    if os.geteuid() == 0:
        # Each request holds a thread in recv(2) from the gate of the test.
        waits = re.findall(rf"(\d\.\d) recv from 127\.0\.0\.1:{gate}\b", done.stdout)
        assert sum(map(float, waits)) == pytest.approx(HELD, abs=1)


def test_a_worker_that_starts_while_the_watch_learns_is_counted(tmp_path):
    """An idle one has no connection by which it would be seen."""
    command = ("gunicorn", "-b", ADDRESS, "-w", "1", "--threads", "4", "held")
    with (
        stand(tmp_path, *command) as (_, port, pid),
        closing(connected(port, 1)),
        SocketDiagnosis() as diagnosis,
    ):
        target = find_target(str(port))

        def sleep(seconds):
            if len(psutil.Process(pid).children()) < 2:
                os.kill(pid, signal.SIGTTIN)
                until(lambda: len(psutil.Process(pid).children()) == 2, "another worker")
            time.sleep(seconds)

        server = Watching(target, diagnosis, sleep=sleep)
        next(server.looks(None))
        assert len(server.workers.shown(())) == 2


def test_each_line_is_a_json_object(held, tmp_path):
    """The last one has all."""
    port, pid, _ = held
    done = run("lab", "watch", f"pid:{pid}", "--for", "1s", "--format", "json", cwd=tmp_path)
    *seconds, whole = map(json.loads, done.stdout.splitlines())
    assert [line["whole"] for line in seconds] == [False] * len(seconds)
    assert whole["whole"]
    assert whole["in_flight"] == {"mean": HELD, "p95": HELD, "most": HELD}
    assert whole["capacity"] == 8
    assert (whole["listens"], whole["process"]) == (f"port {port}", pid)
    assert whole["server"] == "gunicorn"
    assert whole["busy"] == HELD
    assert sum(worker["in_flight"] for worker in whole["workers"]) == HELD
    assert len(whole["workers"]) == 2
    assert whole["guessed"] == 0
    assert {*whole["verdict"][0]} == {"kind", "sentence", "page"}


def test_prometheus_can_read_it(held, tmp_path):
    """As node_exporter's textfile collector gets it."""
    port, *_ = held
    done = run("lab", "watch", f":{port}", "--for", "1s", "--format", "prometheus", cwd=tmp_path)
    values = {
        family.name: [sample.value for sample in family.samples]
        for family in text_string_to_metric_families(done.stdout)
    }
    assert values["pyserver_requests_in_flight"] == [HELD]
    assert values["pyserver_capacity"] == [8]
    assert sum(values["pyserver_requests_in_worker"]) == HELD


def test_a_tune_takes_what_is_in_flight(held, monkeypatch, capsys, tmp_path):
    """From a minute of watching; not together with a number that is given."""
    monkeypatch.setattr(busy, "SECONDS", 3)
    assert busy.watched_busy(f":{held[0]}") == HELD
    assert f"{HELD} requests in flight at p95" in capsys.readouterr().err
    command = ("gunicorn held", "--dry-run", "--watch", str(held[0]), "--busy", "3")
    done = run("lab", "tune", *command, cwd=tmp_path)
    assert done.returncode == 2
    assert "--watch sets the requests in flight: leave out --busy" in done.stderr


def test_ctrl_c_is_the_end_of_a_watch_without_one(held, tmp_path):
    """It prints what it has, and is no failure."""
    with started("lab", "watch", str(held[0]), cwd=tmp_path) as process:
        output = tmp_path / "output"
        until(lambda: re.search(r"^\d\d:", output.read_text(), re.MULTILINE), "a second")
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert "--busy 5" in output.read_text()


def test_it_reads_and_nothing_else(held, tmp_path):
    """No signal, no ptrace, no connection, no file that is written."""
    log = tmp_path / "calls"
    calls = (
        "kill,tkill,tgkill,ptrace,connect,bind,listen,pidfd_open,pidfd_getfd,setns,rename,unlink"
    )
    command = ["strace", "-f", "-o", log, "-e", f"trace={calls},open,openat,mkdir,socket"]
    watch = [str(BIN / "lab"), "watch", str(held[0]), "--for", "1s"]
    env = environment() | {"PYTHONDONTWRITEBYTECODE": "1"}
    try:
        subprocess.run([*command, *watch], cwd=tmp_path, env=env, check=True, timeout=120)
    except FileNotFoundError:
        pytest.skip("needs strace")
    lines = [line.split(maxsplit=1)[1] for line in log.read_text().splitlines()]
    made = [line for line in lines if not line.startswith(("+++", "---"))]
    opened = [line for line in made if line.startswith("open")]
    assert not [line for line in opened if re.search("O_WRONLY|O_RDWR|O_CREAT", line)]
    others = [line for line in made if not line.startswith("open")]
    assert {line.partition("(")[2].partition(",")[0] for line in others} == {"AF_NETLINK"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_any_user_sees_the_requests_and_not_whose_they_are(held, tmp_path):
    """What is missing, and how to have it, is a line."""
    port, pid, _ = held
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", BIN / "python"]
    code = "import sys; sys.argv[0] = 'lab'; from lab.cli import main; main()"
    env = environment() | {"HOME": "/tmp", "PYTHONPATH": str(BIN.parents[1])}

    def watch(*words):
        return subprocess.run(
            [*command, "-c", code, "watch", *words],
            cwd="/", env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip

    done = watch(str(port), "--for", "1s")
    if "Permission denied" in done.stderr:
        pytest.skip("another user cannot read this folder")
    assert done.returncode == 0, done.stderr
    assert re.search(rf"^in flight +{HELD}\.0 ", done.stdout, re.MULTILINE)
    assert "Not known: not as this user: which worker has a request; run `lab" in done.stdout
    done = watch(f"pid:{pid}", "--for", "1s")
    assert done.returncode == 2
    assert done.stderr.startswith(f"lab: pid:{pid}: not as this user: which ports the process has")


def test_a_worker_that_is_replaced_is_followed(tmp_path):
    """The new one is seen, with its requests, and counted as started."""
    command = ("gunicorn", "-b", ADDRESS, "-w", "2", "held")
    with stand(tmp_path, *command) as (gate, port, _), closing(connected(port, 2)) as clients:
        clients.send("/held", 2)
        gate.wait_for(2)
        with SocketDiagnosis() as diagnosis:
            watch = Watching(find_target(str(port)), diagnosis)
            looks = watch.looks(None)
            first = next(looks)
            assert len(first.workers) == 2
            os.kill(max(first.workers), signal.SIGKILL)
            with closing(connected(port, 1)) as other:
                other.send("/held", 1)
                gate.wait_for(3)
                until(lambda: next(looks).in_flight == 2 and watch.workers.started == 1, "both")
                last = next(looks)
    assert len(last.workers) == 2
    assert min(first.workers) in last.workers
    assert max(first.workers) not in last.workers


def test_a_server_that_ends_is_told(tmp_path, monkeypatch):
    """Not as a server without requests."""
    monkeypatch.setattr(watching, "LEARNING", 0)
    with SocketDiagnosis() as diagnosis:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            looks = Watching(find_target(f":{port}"), diagnosis).looks(None)
            assert next(looks).in_flight == 0
        with pytest.raises(ServerEndedError, match=f"port {port}: the server listens no more"):
            next(looks)


def test_the_cost_decides_how_often_it_looks(monkeypatch):
    """A look of 10 ms of CPU is followed by a second without one; a cheap one by the usual time."""
    times, slept = iter([0.0, 0.0, 0.01, 0.0101, 0.0101]), []
    monkeypatch.setattr(watching.time, "thread_time", lambda: next(times))
    monkeypatch.setattr(watching, "LEARNING", 0)
    with socket.create_server(("127.0.0.1", 0)) as server, SocketDiagnosis() as diagnosis:
        target = find_target(f":{server.getsockname()[1]}")
        looks = Watching(target, diagnosis, slept.append).looks(None)
        for _ in range(4):
            next(looks)
    assert slept == pytest.approx([0.2, 1.0, 0.2])


def test_a_costly_look_does_not_lengthen_the_watch(monkeypatch):
    """A pause ends with the watch."""
    monkeypatch.setattr(watching, "LEARNING", 0)
    monkeypatch.setattr(watching, "BUDGET", 1e-9)
    slept = []
    with socket.create_server(("127.0.0.1", 0)) as server, SocketDiagnosis() as diagnosis:
        target = find_target(f":{server.getsockname()[1]}")
        assert list(Watching(target, diagnosis, slept.append).looks(0.5))
    assert max(slept) <= 0.5


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("pid:999999999", "there is no process"),
        ("/nosuch.sock", "nothing listens on this UNIX socket here"),
        (":1", "nothing listens on TCP port 1"),
        ("nosuch", "no process of a unit nosuch.service runs"),
        ("nosuch.scope", "no process of a unit nosuch.scope runs"),
    ],
)
def test_what_is_no_server_is_told(name, says, tmp_path):
    """With what to write."""
    done = run("lab", "watch", name, "--for", "1s", cwd=tmp_path)
    assert done.returncode == 2
    assert re.search(says, done.stderr), done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_process_without_a_port_is_told():
    """It may be the wrong one."""
    with subprocess.Popen(["sleep", "600"]) as process:
        try:
            with pytest.raises(UsageError, match=f"{process.pid}: it listens nowhere"):
                find_target(f"pid:{process.pid}")
        finally:
            process.kill()


def test_a_number_may_be_a_port_and_a_process(monkeypatch):
    """Then it must be said which."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        real = target_module.PROC
        monkeypatch.setattr(target_module, "PROC", Path("/"))
        monkeypatch.setattr(Path, "is_dir", lambda _path: True)
        with pytest.raises(UsageError, match=f"write :{port} for the port, pid:{port} for"):
            find_target(str(port))
        monkeypatch.setattr(target_module, "PROC", real)


OTHER = """
import socket, sys, time
listener = socket.create_server(("127.0.0.2", int(sys.argv[1])))
print("listens", flush=True)
time.sleep(600)
"""


def test_two_servers_of_a_port_are_named():
    """At two addresses of the machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        command = ["python3", "-c", OTHER, str(port)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
            try:
                other.stdout.readline()
                says = f"port {port} has several servers.*pid:{other.pid}"
                with pytest.raises(UsageError, match=says):
                    find_target(str(port))
                assert len(find_target(f"pid:{other.pid}").listeners) == 1
            finally:
                other.kill()


GROUPS = {
    "11": "0::/system.slice/shop.service\n",
    "12": "1:name=systemd:/system.slice/shop.service/worker\n0::/\n",
    "13": "0::/system.slice/shop.service.d\n",
    "14": "0::/system.slice/system-shop.slice/shop@eu-1.service\n",
    "15": "0::/user.slice/user-1000.slice/user@1000.service/app.slice/shop.eu.service\n",
    "16": "0::/system.slice/docker-0123abcd.scope\n",
    "17": "0::/system.slice/a:b.service\n",
    "self": "",
}
"""Process -> its control groups, of version 1 or 2."""


@cases(
    "unit, pids",
    [
        ("shop", [11, 12]), ("shop.service", [11, 12]), ("shop@eu-1", [14]), ("shop.eu", [15]),
        ("system-shop.slice", [14]), ("docker-0123abcd.scope", [16]), ("a:b", [17]),
    ],
)  # fmt: skip
def test_a_unit_is_known_by_its_control_group(unit, pids, tmp_path, monkeypatch):
    """By its whole name, which has .service where no type of unit ends it."""
    for pid, text in GROUPS.items():
        (tmp_path / pid).mkdir(exist_ok=True)
        (tmp_path / pid / "cgroup").write_text(text)
    monkeypatch.setattr(target_module, "PROC", tmp_path)
    assert sorted(unit_processes(unit)) == pids


def test_a_number_that_another_process_has_now_is_another_worker():
    """A process is known by its number and its start."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        workers = Workers(os.getpid(), frozenset({os.fstat(server.fileno()).st_ino}))
        workers.search()
        assert workers.cpu(os.getpid()) is not None
        first = workers.states[os.getpid()]
        workers.states[os.getpid()] = replace(first, started=first.started - 1)
        assert workers.cpu(os.getpid()) is None
        workers.search()
        assert (workers.started, workers.states[os.getpid()].key) == (1, first.key)


@pytest.mark.skipif(why_none() is not None, reason=f"{why_none()}")
def test_a_server_in_another_network_namespace_is_watched_from_here(tmp_path):
    """As in a container: by its process."""
    with made_host("") as host:
        code = (
            "import socket, sys, time; s = socket.create_server(('127.0.0.1', 0));"
            "c = [socket.create_connection(s.getsockname()) for _ in range(3)];"
            "[each.sendall(b'x') for each in c[:2]]; a = [s.accept()[0] for _ in c];"
            "[each.recv(1) for each in a[:2]]; print('ready', flush=True); time.sleep(600)"
        )
        command = [*host.inside, "python3", "-c", code]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout.readline() == "ready\n"
                looks = looks_at(f"pid:{server.pid}")
                assert [(look.connections, look.in_flight) for look in looks] == [(3, 2)] * 3
                assert threading.active_count() < 50
            finally:
                server.kill()
        # This process is still where it was.
        with socket.create_server(("127.0.0.1", 0)) as here:
            assert find_target(f":{here.getsockname()[1]}").root == os.getpid()


@pytest.mark.skipif(why_none() is not None, reason=f"{why_none()}")
def test_a_server_in_a_container_is_watched_by_its_number_on_the_host(tmp_path):
    """In other namespaces of network, processes and mounts, with its workers and their threads."""
    container = (shutil.which("unshare"), "--pid", "--fork", "--kill-child", "--mount-proc")
    with ExitStack() as stack:
        # Nothing may listen here on the port that the server has there.
        reserved = stack.enter_context(socket.socket())
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        host = stack.enter_context(made_host(""))
        with entered(host):
            command = (*container, "{bin}/gunicorn", *GUNICORN[1:])
            gate, _, pid = stack.enter_context(stand(tmp_path, *command, port=port))
            clients = stack.enter_context(closing(connected(port, HELD)))
            clients.send("/held", 3)
            gate.wait_for(3)
        with pytest.raises(UsageError, match="of a server in a container name its process"):
            find_target(f":{port}")
        with closing(Watcher(f"pid:{pid}")) as watcher:
            for look in watcher.looks():
                assert (look.in_flight, look.connections) == (3, HELD)
                assert sum(worker.busy for worker in look.workers.values()) == 3
            assert watcher.target.settings.unknown == "its files are in a container"
            waits = watcher.watching.waits
            waits.sample(watcher.watching.workers.shown(()))
            assert waits.awaited(3) == f"127.0.0.1:{gate.port}"
            assert watcher.watching.dropped() == 0
