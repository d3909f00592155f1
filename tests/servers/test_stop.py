"""Stopping: requests finish, and nothing is ever left, however the lab ends."""

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from lab.bench.servers import process
from lab.bench.servers.fetch import fetch
from lab.bench.servers.ports import free_port, listens
from lab.bench.servers.process import Order, Process
from lab.errors import ServerStartError
from lab.model.protocols import Endpoint
from tests.kit.lab_process import ROOT, alive, until

from .conftest import site

HOLDER = """
import pathlib, sys, time
if sys.argv[3] == "gevent":
    from gevent import monkey
    monkey.patch_all()
import psutil
from lab.bench import profiles
from lab.bench.servers.runner import ServerRunner
from lab.bench.workloads import workload
profile = profiles.read(sys.argv[1])
with ServerRunner().start(profile, workload("fib"), pathlib.Path(sys.argv[2]), None) as server:
    below = psutil.Process(server.pid).children(recursive=True)
    print(server.endpoint.port, server.pid, *(each.pid for each in below), flush=True)
    if sys.argv[3] != "gevent":
        time.sleep(60)
print("stopped", flush=True)
"""


def hold(name, folder, mode):
    """Start a process that holds the guard of profile *name*."""
    return subprocess.Popen(
        (sys.executable, "-c", HOLDER, name, str(folder), mode),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.costly
@pytest.mark.parametrize("name", ["processes-threads", "tuned", "gunicorn-sync"])
def test_killed_lab(tmp_path, name):
    """A lab that is killed with SIGKILL leaves no process and no port within two seconds."""
    with hold(name, tmp_path, "wait") as lab:
        port, *pids = map(int, lab.stdout.readline().split())
        tree = [psutil.Process(pid) for pid in pids]
        assert listens(port)
        lab.kill()
        until(lambda: not alive(tree) and not listens(port), "the end of the server", 2.0)
    assert len(tree) >= 3


def test_gevent(tmp_path):
    """Starting and stopping also work where gevent has patched the standard library."""
    with hold("baseline", tmp_path, "gevent") as lab:
        _, *tree = map(int, lab.stdout.readline().split())
        assert lab.stdout.readline() == "stopped\n"
    assert [pid for pid in tree if psutil.pid_exists(pid)] == []


def test_exception_inside(start):
    """An interruption while the server runs stops it and goes on its way."""
    with pytest.raises(KeyboardInterrupt), start("baseline") as server:
        raise KeyboardInterrupt
    assert not psutil.pid_exists(server.pid)


def test_sigterm_finishes_requests(start, tmp_path):
    """SIGTERM to `tuned` lets the requests under way finish, and it exits with 0."""
    under_way = [tmp_path / "one", tmp_path / "two"]
    with (
        ThreadPoolExecutor(2) as pool,
        start("tuned", site("slow:application", "/", body=b"done")) as server,
    ):
        replies = [pool.submit(fetch, server.endpoint, f"/?{mark}", 5.0) for mark in under_way]
        until(lambda: all(mark.exists() for mark in under_way), "two requests under way")
        assert server.stop() == 0
        assert [reply.result()[2] for reply in replies] == [b"done", b"done"]


def order(folder, *commands):
    """Return an order for commands that are no servers."""
    return Order(
        profile="test",
        commands=commands,
        environment=os.environ,
        folder=folder,
        cwd=folder,
        cores=None,
    )


def test_deaf_server_is_killed(tmp_path, monkeypatch):
    """A server that ignores SIGTERM is killed at the deadline."""
    monkeypatch.setattr(process, "STOP_DEADLINE", 0.2)
    command = ("sh", "-c", "trap '' TERM; touch ready; while :; do sleep 1; done")
    server = Process(order(tmp_path, command), Endpoint("127.0.0.1", free_port()))
    until((tmp_path / "ready").exists, "its start")
    assert server.stop() is None
    assert not psutil.pid_exists(server.pid)


def test_daemon_is_killed(tmp_path):
    """A grandchild that left its session and lost its parent is killed all the same."""
    command = ("sh", "-c", "setsid sh -c 'echo $$ > daemon.tmp; mv daemon.tmp daemon; sleep 60' &")
    server = Process(order(tmp_path, command), Endpoint("127.0.0.1", free_port()))
    until((tmp_path / "daemon").exists, "the daemon")
    until(server.ended, "the end of the command")
    daemon = psutil.Process(int((tmp_path / "daemon").read_text()))
    assert alive([daemon])
    assert server.stop() == 0
    assert not alive([daemon])


def test_cpu_of_orphans_stays_readable(tmp_path):
    """CPU time of an orphan that has ended is in the guard's own children's time."""
    burn = "import time\nwhile time.process_time() < 0.3: pass\nopen('burnt', 'w').close()"
    command = ("sh", "-c", f'(setsid {sys.executable} -S -c "{burn}" &); exec sleep 60')
    server = Process(order(tmp_path, command), Endpoint("127.0.0.1", free_port()))
    try:
        until((tmp_path / "burnt").exists, "the orphan's work")
        guard = psutil.Process(server.pid)
        until(lambda: sum(guard.cpu_times()[2:4]) >= 0.25, "its CPU time in the guard's")
    finally:
        server.stop()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_guard_ignores_signals(tmp_path, number):
    """A signal to the guard itself, as from a terminal, neither ends it nor its commands."""
    server = Process(order(tmp_path, ("sleep", "60")), Endpoint("127.0.0.1", free_port()))
    try:
        os.kill(server.pid, number)
        assert server.ended() is None
        assert psutil.Process(server.pid).children()[0].name() == "sleep"
    finally:
        assert server.stop() == -signal.SIGTERM


def test_commands_inherit_nothing(tmp_path):
    """A command has standard input, output and error, default signals, and nothing else."""
    leak = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(leak, True)
    look = """
import os, pathlib
open_ = [fd for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")]
ignored = [row for row in open("/proc/self/status") if row.startswith("SigIgn")]
pathlib.Path("found").write_text(" ".join(sorted(open_) + ignored[0].split()))
pathlib.Path("ok").touch()
"""
    command = (sys.executable, "-S", "-c", look)
    server = Process(order(tmp_path, command), Endpoint("127.0.0.1", free_port()))
    try:
        until((tmp_path / "ok").exists, "what it found")
    finally:
        os.close(leak)
        server.stop()
    descriptors, _, ignored = (tmp_path / "found").read_text().partition(" SigIgn: ")
    assert descriptors == "0 1 2"
    # The guard's own; what else is ignored came from whoever started the tests.
    guarded = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)
    assert not [
        signal_number for signal_number in guarded if int(ignored, 16) >> (signal_number - 1) & 1
    ]


def test_a_command_that_ended_can_be_started_again(tmp_path):
    """With the same words; the others go on, nothing counts as ended, and the stop takes all."""
    noting = ("sh", "-c", "echo $$ >> begun; exec sleep 60")
    server = Process(order(tmp_path, ("sleep", "60"), noting), Endpoint("127.0.0.1", free_port()))
    try:
        until((tmp_path / "begun").exists, "its start")
        (first, _), (old, _) = server.commands
        server.signal(1, signal.SIGKILL)
        assert server.wait(1, 10.0)
        server.start_again(1)
        assert server.ended() is None
        (same, _), (new, words) = server.commands
        assert (same, words) == (first, noting)
        begun = [str(old), str(new)]
        until(lambda: (tmp_path / "begun").read_text().split() == begun, "its second start")
    finally:
        server.stop()
    assert [pid for pid in (first, old, new) if psutil.pid_exists(pid)] == []


@pytest.mark.slow
def test_a_command_that_cannot_be_started_again_is_said(tmp_path):
    """Its file has gone meanwhile."""
    (tmp_path / "own").symlink_to("/bin/true")
    server = Process(order(tmp_path, (str(tmp_path / "own"),)), Endpoint("127.0.0.1", free_port()))
    try:
        assert server.wait(0, 10.0)
        (tmp_path / "own").unlink()
        with pytest.raises(ServerStartError, match=r"cannot be started: .*No such file"):
            server.start_again(0)
    finally:
        server.stop()


def test_log_tail(tmp_path):
    """The log has what every command wrote to output and error, of which the tail is returned."""
    command = ("sh", "-c", "seq 100; echo last >&2")
    server = Process(order(tmp_path, command), Endpoint("127.0.0.1", free_port()))
    until(server.ended, "its end")
    assert server.log_tail(3) == "99\n100\nlast"
    server.stop()


def test_no_threads(start):
    """Nothing runs in a thread of the lab while a server is up."""
    before = threading.active_count()
    with start("baseline"):
        assert threading.active_count() == before
