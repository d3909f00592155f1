"""Load from other hosts, over a network that is made for the test and vanishes with it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest

from lab.analysis.gates import judge
from lab.bench.store.folder import read_run
from tests.kit.lab_process import BIN, ROOT, header, run, started, trials, until
from tests.kit.namespaces import why_none
from tests.scale.hosts import far_apart, hosts

LOCUST = (str(BIN / "locust"), "-f", str(ROOT / "loadtests"))
NOTING = ("--profiles", "disable-logging", "--app", "noting:application", "--chdir",
          str(Path(__file__).parent))  # fmt: skip
"""What is in the server's log then is what its application writes."""


@contextmanager
def measured(folder, server, loads, *wishes):
    """Start a comparison of tuned on *server*, and a worker on each of *loads*; yield all."""
    master = (
        *server.inside, *LOCUST, "--headless", "-u", "8", "--master", "--master-bind-host",
        server.address, "--expect-workers", str(len(loads)), "--bind", server.address,
        "--profiles", "tuned", "--blocks", "1", "--warmup", "0.2", *wishes,
    )  # fmt: skip
    with ExitStack() as stack:
        process, workers = stack.enter_context(started(*master, cwd=folder)), []
        for number, host in enumerate(loads):
            worker_folder = folder / f"worker{number}"
            worker_folder.mkdir()
            worker = (*host.inside, *LOCUST, "--worker", "--master-host", server.address)
            workers.append(stack.enter_context(started(*worker, cwd=worker_folder)))
        yield process, workers


def said(folder):
    """Return what the master has printed."""
    return (folder / "output").read_text()


def report(folder):
    """Return the report of the only run, made of its folder again."""
    return run("lab", "report", "--markdown", cwd=folder).stdout


def received(host):
    """Return the TCP segments that a host has received."""
    return counted(host, "InSegs")


def counted(host, name):
    """Return one of a host's counters of TCP."""
    names, values = (
        line.split()[1:] for line in host.read("snmp").splitlines() if line.startswith("Tcp:")
    )
    return int(dict(zip(names, values, strict=True))[name])


def test_hosts_reach_each_other_and_vanish():
    """Two hosts at a switch; nothing of them is left, no process and no interface."""
    before = Path("/proc/net/dev").read_text().count(":")
    with hosts(2) as (switch, (one, other)):
        pids = [host.pid for host in (switch, one, other)]
        ping = [*other.inside, "bash", "-c", f"exec 3<>/dev/tcp/{one.address}/9"]
        done = subprocess.run(ping, capture_output=True, text=True, check=False)
        assert "Connection refused" in done.stderr  # it was there to refuse
    assert not any(map(psutil.pid_exists, pids))
    assert Path("/proc/net/dev").read_text().count(":") == before


def test_hosts_vanish_with_whoever_was_killed():
    """Their holders end even where nobody could end them."""
    if reason := why_none():
        pytest.skip(reason)
    code = (
        "from tests.scale.hosts import hosts\n"
        "with hosts(1) as (switch, (one,)):\n"
        "    print(switch.pid, one.pid, flush=True)\n"
        "    input()\n"
    )
    words = [str(BIN / "python"), "-c", code]
    with subprocess.Popen(
        words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        pids = list(map(int, process.stdout.readline().split()))
        assert len(pids) == 2
        process.send_signal(signal.SIGKILL)
    until(lambda: not any(map(psutil.pid_exists, pids)), "the end of the holders", 5.0)


@pytest.mark.slow
def test_two_hosts_measure_one_server(tmp_path):
    """What both were answered is what the server has noted; the run says who and where they are."""
    with (
        hosts(3) as (_, (server, *loads)),
        measured(tmp_path, server, loads, "--window", "2", *NOTING) as (master, workers),
    ):
        assert master.wait(90) in (0, 3), said(tmp_path)
        for worker in workers:
            worker.wait(20)
    assert f"can be reached from the network, at {server.address}" in said(tmp_path)
    run_header = header(tmp_path)
    assert len(run_header["hosts"]) == 2
    for facts in run_header["hosts"].values():
        assert facts["cpu"]["cores"] == os.cpu_count()
        assert facts["network"] == {"mtu": 1500}
        assert facts["distributions"].keys() >= {"locust", "gevent"}
    for trial in trials(tmp_path):
        windows, readings = trial["windows"], trial["readings"]
        assert {window["host"] for window in windows} == run_header["hosts"].keys()
        assert sum(len(window["replies"]) for window in windows) == 8
        for window in windows:
            assert window["errors"] == {}
            assert 0 < window["rtt"] < 0.1
            assert window["tcp"].keys() >= {"tcp.TCPSynRetrans", "tcp.time_wait", "tcp.ports"}
        noted, answered = readings["server.logged"], sum(window["ok"] for window in windows)
        assert noted >= answered > 0
        rate = sum(window["ok"] / window["wall"] for window in windows)
        assert noted / readings["elapsed"] == pytest.approx(rate, rel=0.1)
    assert re.search(r"load over a network, .* ms away, from 2 hosts", said(tmp_path))
    assert not list(tmp_path.glob("worker*/results"))


@pytest.mark.slow
def test_a_worker_that_is_killed_ends_the_run(tmp_path):
    """The trial that it was in does not count, the status is 1, and the folder can be read."""
    with hosts(3) as (_, (server, *loads)):
        wishes = ("--blocks", "20", "--window", "3")
        with measured(tmp_path, server, loads, *wishes) as (master, workers):
            until(lambda: trials(tmp_path), "the first trial", 90.0)
            before = received(server)
            until(lambda: received(server) > before + 5000, "the next trial's window")
            workers[1].kill()
            assert master.wait(60) == 1, said(tmp_path)
    assert "ended, or lost its connection" in said(tmp_path)
    *sound, last = read_run(next(tmp_path.glob("results/*"))).trials
    assert sound
    assert all(len(trial.windows) == 2 for trial in sound)
    (finding,) = judge(last)
    assert finding.gate.name == "no load"
    assert "ended, or lost its connection" in finding.reason
    assert "Ended early" in report(tmp_path)


@pytest.mark.slow
def test_a_load_ends_with_its_master(tmp_path):
    """Its workers on other hosts would find another server at that port, or knock for a minute."""
    with (
        hosts(2) as (_, (server, load)),
        measured(tmp_path, server, [load], "--window", "1") as (master, (worker,)),
    ):
        until(lambda: received(server) > 3000, "a load", 90.0)
        master.kill()
        until(lambda: opened(load, 1.0) < 50, "the end of the load", 30.0)
        assert worker.poll() is None


def opened(host, seconds):
    """Return how many connections a host begins in so many seconds."""
    before = counted(host, "ActiveOpens")
    time.sleep(seconds)
    return counted(host, "ActiveOpens") - before


@pytest.mark.slow
def test_workers_that_cannot_reach_the_servers_are_refused(tmp_path):
    """Before a server starts, with what to say."""
    with (
        hosts(2) as (_, (server, load)),
        measured(tmp_path, server, [load], "--bind", "127.0.0.1") as (master, _),
    ):
        assert master.wait(90) == 2
    assert "listen on 127.0.0.1 only: say --bind ADDRESS" in said(tmp_path)
    assert not list(tmp_path.glob("results/*"))


@pytest.mark.slow
def test_an_interrupted_link_gives_no_figure(tmp_path):
    """Of the window in which the way to a worker was down for 2 s, a gate withholds the time."""
    with hosts(3) as (switch, (server, *loads)):
        wishes = ("--window", "8", "--no-confirm")
        with measured(tmp_path, server, loads, *wishes) as (master, _):
            # More than readiness and warm-up take.
            until(lambda: received(server) > 15_000, "its window", 90.0)
            switch.ip("link set dev port2 down")
            time.sleep(2.0)  # for so long it is down
            switch.ip("link set dev port2 up")
            assert master.wait(120) in (0, 1, 3), said(tmp_path)
    first, *others = read_run(next(tmp_path.glob("results/*"))).trials
    assert first.failure is None
    findings = {finding.gate.name: finding for finding in judge(first)}
    assert findings.keys() & {"link", "quantised"}, said(tmp_path)
    assert "lost on the way" in (findings.get("link") or findings["quantised"]).reason
    for trial in others:
        assert not {finding.gate.name for finding in judge(trial)} & {"link", "quantised"}


@pytest.mark.slow
def test_a_far_host_is_said_to_be_far(tmp_path):
    """5 ms away: the first lines of the report say so, and the round trips are in the latencies."""
    with (
        far_apart(0.005) as (server, load),
        measured(tmp_path, server, [load], "--window", "1") as (master, _),
    ):
        assert master.wait(90) in (0, 1, 3), said(tmp_path)
    (window,) = trials(tmp_path)[0]["windows"]
    assert 0.005 <= window["rtt"] < 0.05
    assert min(map(int, window["latency"])) >= 5000
    away = re.search(r"load over a network, ([\d.]+)(?: to [\d.]+)? ms away", report(tmp_path))
    assert float(away[1]) >= 5


@pytest.mark.slow
def test_nothing_is_left(tmp_path, monkeypatch):
    """No process of the run, no listener, no folder of a trial."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    with hosts(2) as (switch, (server, load)):
        pids = [host.pid for host in (switch, server, load)]
        with measured(tmp_path, server, [load], "--window", "1") as (master, (worker,)):
            assert master.wait(90) in (0, 1, 3), said(tmp_path)
            worker.wait(20)
            pids += [master.pid, worker.pid]
        left = subprocess.run(
            [*server.inside, "ss", "-Hltn"], capture_output=True, text=True, check=True
        )
        assert left.stdout == ""
    assert not any(map(psutil.pid_exists, pids))
    assert not list(temporary.glob("lab-*"))
