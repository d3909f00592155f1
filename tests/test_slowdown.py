"""Servers that are slowed down: what that needs, what it leaves behind, and what a run says."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import psutil
import pytest

from lab.bench.machine import slowdown
from lab.bench.trials.runner import in_own_time
from lab.cli.options import execution
from lab.cli.options.table import Job
from lab.errors import GeneratorError
from tests.kit.lab_process import SMALL, compare, header, run, trials, until

WHY_NOT = slowdown.obstacle()


def slows(test):
    """Mark a test that slows this machine down, where that is permitted."""
    return pytest.mark.slowed(pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))(test))


ROUGH = ("--server-share", "25%")

HOLDER = """
import subprocess, sys, time
from lab.bench.machine.slowdown import slowed
load = subprocess.Popen(("sleep", "60"))
with slowed(0.25, (load.pid,), (0,), 60) as pids:
    print(load.pid, *pids, flush=True)
    time.sleep(60)
"""


def policy(pid):
    """Return the scheduling policy of a process, without the flag that its children lose it."""
    return os.sched_getscheduler(pid) & ~os.SCHED_RESET_ON_FORK


@contextmanager
def load():
    """Have a process that does nothing, in the place of a load."""
    process = subprocess.Popen(("sleep", "60"))
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def family(pid):
    """Return a process and all below it."""
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--server-share", "5%"), "--server-share 5%: between 10% and 100%"),
        ((*ROUGH, "--rate", "100"), "--server-share 25% --rate: say one of them"),
        ((*ROUGH, "--no-pin"), "--server-share 25% --no-pin: say one of them"),
        ((*ROUGH, "--server-cores", "0"), "--server-share 25% --server-cores: say one of them"),
        (ROUGH, "--server-share 25%: a real-time policy is not permitted: run as root"),
    ],
)
def test_what_cannot_be_slowed_is_refused_in_a_line(words, problem, tmp_path):
    """The tests have no right to slow anything."""
    done = run("lab", "run", "tuned", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert problem in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("job", "connections"),
    [
        (Job(), 96),
        (Job(connection="close"), 96),
        (Job(connections=64), 64),
        (Job(server_share=0.25), 64),  # as in the stored runs
        (Job(load="walkthrough"), 500),
    ],
)
def test_where_the_lab_slows_a_server_down_the_load_fills_longer_windows(
    job, connections, monkeypatch
):
    """Of windows that few requests fill, a server may pay too much."""
    monkeypatch.setattr(execution, "has_one_core", lambda: True)
    monkeypatch.setattr(slowdown, "obstacle", lambda: None)
    assert execution.understand(job, may_slow=True).options.load.connections == connections


def test_shares_of_the_time_become_those_of_the_servers_own_time():
    """What it waits for passes at the clock's speed, and stays as it is."""
    readings = {"server.busiest": 0.2, "server.idle": 0.1, "elapsed": 3.0}
    shares = in_own_time(readings, 0.25)
    assert shares == {"server.busiest": 0.8, "server.idle": 0.4, "elapsed": 3.0}


@pytest.mark.parametrize(
    ("cost", "connections", "measured", "window"),
    [
        (80e-6, 64, (0.75,), 0.00128),  # half of the connections keep two CPUs busy
        (1e-3, 64, (0.75,), slowdown.LONGEST),
        (1e-3, 64, (0.12,), 0.003),  # of which there are 40
        (1e-3, 64, (0.48, 4), 0.006),  # 80 in four turns
        (10e-6, 10, (0.75,), slowdown.SHORTEST),
        (None, 64, (0.75,), slowdown.USUAL),  # what a request costs is not known
    ],
)
def test_a_window_is_as_long_as_half_of_the_connections_fill(cost, connections, measured, window):
    """Within the bounds in which a request costs what it costs without windows."""
    assert slowdown.window_for(cost, connections, 2, *measured) == pytest.approx(window)


@slows
def test_a_busy_program_has_no_more_than_its_share():
    """Of a quiet machine's CPUs it has just that."""
    assert 0 < slowdown.measured_share(0.25) < 0.30


@slows
def test_the_load_has_its_usual_policy_afterwards():
    """In between it is real-time, or idle."""
    with load() as pid:
        with slowdown.slowed(0.25, (pid,), (0,), 30):
            assert policy(pid) in (os.SCHED_FIFO, os.SCHED_IDLE)
        assert policy(pid) == os.SCHED_OTHER


def slow_until_they_end(pid, seconds, *, kill=False):
    """Slow everything down until the spinners have ended: by themselves, or as their parent did."""
    with slowdown.slowed(0.25, (pid,), (0,), seconds) as (windows,):
        spinners = family(windows)[1:]
        if kill:
            os.kill(windows, signal.SIGKILL)
        _, left = psutil.wait_procs(spinners, timeout=30)
        assert not left


@slows
@pytest.mark.parametrize(("seconds", "kill"), [(30, True), (0.5, False)])
def test_windows_that_end_before_the_trial_end_it(seconds, kill):
    """Killed, or after their time; the load has its usual policy."""
    with load() as pid:
        with pytest.raises(GeneratorError, match="slowed down no more"):
            slow_until_they_end(pid, seconds, kill=kill)
        assert policy(pid) == os.SCHED_OTHER


@slows
def test_a_load_that_has_ended_does_not_end_the_windows():
    """As ab, which ends with its last request."""
    with load() as pid, slowdown.slowed(0.25, (pid,), (0,), 30) as (windows,):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        conductor = psutil.Process(windows)
        before = conductor.num_ctx_switches().voluntary

        def opened():
            ended = conductor.status() == psutil.STATUS_ZOMBIE
            return ended or conductor.num_ctx_switches().voluntary > before + 10

        until(opened, "some windows")


@slows
@pytest.mark.parametrize("moment", range(10))
def test_no_death_of_the_lab_leaves_anything_behind(moment):
    """Killed at ten moments of some periods."""
    lab = subprocess.Popen((sys.executable, "-c", HOLDER), stdout=subprocess.PIPE, text=True)
    assert lab.stdout is not None
    with lab.stdout:
        load_pid, windows = map(int, lab.stdout.readline().split())
        below = family(windows)
        time.sleep(0.0037 * moment)  # a moment, and no wait
        lab.kill()
        lab.wait()
        _, left = psutil.wait_procs(below, timeout=30)
        assert not left
        assert policy(load_pid) == os.SCHED_OTHER
        os.kill(load_pid, signal.SIGKILL)


@slows
def test_a_run_says_what_its_server_had(tmp_path):
    """All CPUs, at a share of their speed: in the report, and in each trial."""
    compare("lab", "run", "bare", *SMALL, *ROUGH, cwd=tmp_path)
    assert header(tmp_path)["plan"]["share"] == 0.25
    readings = [trial["readings"] for trial in trials(tmp_path)]
    cores = float(len(os.sched_getaffinity(0)))
    assert {(reading["server.share"], reading["server.cores"]) for reading in readings} == {
        (0.25, cores)
    }
    for name in ("server.cpu_unslowed", "server.cpu_halved"):
        assert all(reading[name] > 0 for reading in readings)
    done = run("lab", "report", *tmp_path.glob("results/*"), cwd=tmp_path)
    assert "at 25% of this machine's speed" in " ".join(done.stdout.split())
