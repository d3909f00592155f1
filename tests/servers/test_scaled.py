"""Workers and threads as a sweep sets them: what the servers really run is what the value says."""

from __future__ import annotations

import time
from functools import partial

import pytest

from lab.bench import profiles
from lab.bench.probes import facts
from lab.bench.servers.runner import ServerRunner
from lab.bench.trials.plan import arm_of
from lab.bench.workloads import workload
from lab.config.scale import scaled
from lab.model.plan import Load
from lab.model.protocols import Subject
from lab.model.request import Expectation
from lab.model.workload import Workload
from tests.kit.lab_process import SITES, until
from tests.kit.running import read_installed

MEETING = Workload("meeting", "/", Expectation(body=b"ready"), "meeting:application", SITES)
SLOW = pytest.mark.slow


def _still(server, what, seen):
    """Return what is counted of a server, if it has not changed for 0.3 seconds; else None."""
    now = int(facts(Subject(server.pid, None))[what])
    if now != seen.get("now"):
        seen |= {"now": now, "since": time.monotonic()}
    return now if time.monotonic() - seen["since"] > 0.3 else None


def counted(profile, trial_workload, folder):
    """Start a server; return its processes and threads when all of them have started."""
    folder.mkdir()
    ServerRunner().check(profile)
    arm = arm_of(profile, trial_workload, Load())
    with ServerRunner().start(arm.profile, arm.workload, folder, None) as server:
        return {
            what: until(partial(_still, server, what, {}), f"an end of new {what}")
            for what in ("processes", "threads")
        }


def growth(profile, sweep, trial_workload, folder):
    """Return by how many processes and threads a server grows from one value to another."""
    quantity, *values = sweep
    low, high = (
        counted(scaled(profile, quantity, value), trial_workload, folder / str(value))
        for value in values
    )
    return {what: high[what] - low[what] for what in low}


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "sweep", "more"),
    [
        ("tuned", ("workers", 1, 3), {"processes": 2}),
        ("tuned", ("threads", 1, 4), {"processes": 0, "threads": 6}),
        ("gunicorn-sync", ("workers", 1, 3), {"processes": 2}),
        # Its file has numbers of its own.
        pytest.param("processes-threads", ("workers", 1, 3), {"processes": 2}, marks=SLOW),
        pytest.param("processes-threads", ("threads", 1, 2), {"threads": 4}, marks=SLOW),
        pytest.param("gunicorn-gevent", ("workers", 1, 3), {"processes": 2}, marks=SLOW),
        pytest.param("granian", ("workers", 1, 3), {"processes": 2}, marks=SLOW),
        pytest.param("waitress", ("threads", 1, 5), {"threads": 4}, marks=SLOW),
        pytest.param("nginx-uwsgi", ("workers", 1, 3), {"processes": 2}, marks=SLOW),
        pytest.param("nginx-uwsgi", ("threads", 1, 3), {"threads": 4}, marks=SLOW),
        pytest.param("nginx-gunicorn", ("workers", 1, 3), {"processes": 2}, marks=SLOW),
        # Two instances.
        pytest.param("production", ("workers", 1, 3), {"processes": 4}, marks=SLOW),
    ],
)
def test_a_profile_of_ours_runs_as_many_as_the_value_says(name, sweep, more, tmp_path, monkeypatch):
    """Whatever its own file says: the number wins over that and over PROCESSES."""
    monkeypatch.setenv("PROCESSES", "2")
    increases = growth(read_installed(name), sweep, workload("fib"), tmp_path)
    assert increases | more == increases


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    """Return a function that gives a configuration of a user's, by its kind, as a profile."""
    (tmp_path / "mine.ini").write_text(
        f"[uwsgi]\nsocket = mine.sock\nchdir = {SITES}\nmodule = meeting:application\n"
        "workers = 2\nprocesses = 2\n"
    )
    (tmp_path / "gunicorn.conf.py").write_text("workers = 3\nthreads = 1\n")
    monkeypatch.setenv("WEB_CONCURRENCY", "4")
    monkeypatch.chdir(SITES)
    names = {
        "ini": str(tmp_path / "mine.ini"),
        "conf": str(tmp_path / "gunicorn.conf.py"),
        "words": "gunicorn --workers=3 -w 3 -w3 meeting:application",
    }
    return lambda kind: profiles.read(names[kind])


@pytest.mark.parametrize(
    ("kind", "sweep", "more"),
    [
        ("ini", ("threads", 1, 4), {"processes": 0, "threads": 6}),
        pytest.param("ini", ("workers", 1, 3), {"processes": 2}, marks=SLOW),
        ("conf", ("workers", 1, 2), {"processes": 1}),
        ("words", ("workers", 1, 2), {"processes": 1}),
    ],
)
def test_a_configuration_of_a_users_runs_as_many_as_the_value_says(
    kind, sweep, more, theirs, tmp_path
):
    """Neither the file nor the command nor a variable of it has the last word."""
    increases = growth(theirs(kind), sweep, MEETING, tmp_path)
    assert increases | more == increases
