"""`locust -f loadtests/`: the same experiment through the other door."""

from __future__ import annotations

import json
import signal
import subprocess

import pytest

from lab.bench.servers.ports import free_port, listens
from tests.kit.lab_process import (
    BIN,
    ROOT,
    SMALL,
    alive,
    compare,
    descendants,
    environment,
    run,
    started,
    summary,
    trials,
    until,
)
from tests.kit.running import running
from tests.locust.web_ui import LOCUST, ask, locust_web

HEADLESS = (*LOCUST, "--headless", "-u", "8")


@pytest.mark.slow
@pytest.mark.parametrize("processes", [(), ("--processes", "2")])
def test_a_headless_run_writes_the_same_folder_as_the_lab(tmp_path, processes):
    """One process or two: one window for each, all connections used, no errors, one table."""
    done = compare(*HEADLESS, *processes, "--profiles", "listen", "tuned", *SMALL, cwd=tmp_path)
    rows = trials(tmp_path)
    assert sum(trial["attempt"] == 0 for trial in rows) == 3
    for trial in rows:
        assert trial["failure"] is None
        assert len(trial["windows"]) == (2 if processes else 1)
        assert sum(len(window["replies"]) for window in trial["windows"]) == 8
        assert not any(window["errors"] for window in trial["windows"])
    assert "Run folder: results/" in done.stdout
    assert "Full report: " in done.stdout, "the first screen is that of `lab run`"
    assert "lab report results/" in done.stdout
    report = run("lab", "report", "--json", cwd=tmp_path)
    assert json.loads(report.stdout) == summary(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("workload", ["echo-1k", "echo-unix-1k"])
def test_processes_of_locust_echo(tmp_path, workload):
    """Two of them send over the workload's own wire, and get back what they sent."""
    options = ("--processes", "2", "--profiles", "echo-asyncio", "--workload", workload)
    compare(*HEADLESS, *options, *SMALL, cwd=tmp_path)
    for trial in trials(tmp_path):
        assert len(trial["windows"]) == 2
        for window in trial["windows"]:
            assert window["ok"] > 0
            assert not window["errors"]


@pytest.mark.slow
def test_a_master_and_a_worker_make_the_same_run(tmp_path):
    """The worker loads, the master starts servers and writes the folder."""
    master_port = str(free_port())
    worker_folder = tmp_path / "worker"
    worker_folder.mkdir()
    wishes = ("--worker", "--master-port", master_port)
    with started(*LOCUST, *wishes, cwd=worker_folder) as worker:
        compare(
            *HEADLESS, "--master", "--master-bind-host", "127.0.0.1", "--master-bind-port",
            master_port, "--expect-workers", "1", "--profiles", "tuned", *SMALL, cwd=tmp_path,
        )  # fmt: skip
        worker.wait(10)
    assert {trial["windows"][0]["process"] for trial in trials(tmp_path)} == {worker.pid}


@pytest.mark.slow
def test_a_worker_that_is_lost_before_the_first_trial_ends_the_run(tmp_path):
    """The run was planned for both: no trial is made with the one that is left."""
    port = str(free_port())
    (workers_folder := tmp_path / "workers").mkdir()
    worker = (*LOCUST, "--worker", "--master-port", port)
    master = (
        *HEADLESS, "--master", "--master-bind-host", "127.0.0.1", "--master-bind-port", port,
        "--expect-workers", "2", "--profiles", "tuned", *SMALL,
    )  # fmt: skip
    with (
        started(*master, cwd=tmp_path) as process,
        started(*worker, cwd=workers_folder) as lost,
        started(*worker, cwd=workers_folder),
    ):
        until(lambda: "CPUs: " in (tmp_path / "output").read_text(), "the plan")
        lost.terminate()
        assert process.wait(60) == 1
    assert "ended, or lost its connection" in (tmp_path / "output").read_text()
    assert not list(tmp_path.glob("results/*"))


FORM = {"user_count": 8, "spawn_rate": 8, "profiles": ["listen", "tuned"], "window": 0.4,
        "warmup": 0.1}  # fmt: skip


@pytest.mark.slow
def test_stop_leaves_no_server_and_the_next_start_works(tmp_path):
    """STOP in the middle of a window; then a second run in the same Locust."""
    with locust_web(tmp_path) as (process, base):
        ask(f"{base}/swarm", **FORM, blocks=50)
        until(lambda: len(trials(tmp_path)) >= 1, "the first trial")
        below = until(lambda: descendants(process.pid), "a server")
        ask(f"{base}/stop", now=1)
        until(lambda: not alive(below), "the end of the server", 5.0)
        first = next(tmp_path.glob("results/*"))
        ask(f"{base}/swarm", **FORM, blocks=1)
        until(lambda: len(list(tmp_path.glob("results/*/summary.json"))) == 2, "the second run")
    assert first.joinpath("summary.json").exists()


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "processes"),
    [
        ("SIGINT", ()),
        pytest.param("SIGINT", ("--processes", "2"), marks=pytest.mark.slow),
        pytest.param("SIGTERM", (), marks=pytest.mark.slow),
        pytest.param("SIGKILL", (), marks=pytest.mark.slow),
        ("SIGKILL", ("--processes", "2")),
    ],
)
def test_whatever_ends_locust_ends_its_servers(tmp_path, name, processes):
    """Servers and workers are gone, what was finished is in the folder, and it was no success."""
    wishes = ("--profiles", "baseline", *SMALL, "--blocks", "50")
    with started(*HEADLESS, *processes, *wishes, cwd=tmp_path) as process:
        until(lambda: len(trials(tmp_path)) >= 1, "the first trial")
        below = until(lambda: descendants(process.pid), "a server")
        for _ in range(2):  # as `timeout` does: to the process, and to its group
            process.send_signal(getattr(signal, name))
        code = process.wait(10)
        until(lambda: not alive(below), "the end of the server", 2.0)
    assert code == (-signal.SIGKILL if name == "SIGKILL" else 130)
    assert trials(tmp_path)
    if name != "SIGKILL":
        output = (tmp_path / "output").read_text()
        (folder,) = tmp_path.glob("results/*")
        kept = f"the finished trials are kept: {BIN / 'lab'} report results/{folder.name}"
        assert output.endswith(f"\nlab: interrupted by {name}; {kept}\n")
        assert "Traceback" not in output
        assert "KeyboardInterrupt" not in output


EARLY = {
    "an import": """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == "lab.report":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
from lab.locust import ComparisonShape, Connection
""",
    "the command line": """
import os, signal
from locust import events
from lab.locust import ComparisonShape, Connection
@events.init_command_line_parser.add_listener
def interrupt(**_):
    os.kill(os.getpid(), signal.SIGINT)
""",
}
"""Locustfiles that get a Ctrl-C, by what Locust does then."""


@pytest.mark.costly
@pytest.mark.parametrize("moment", EARLY)
def test_a_ctrl_c_before_locust_is_ready_is_quiet(tmp_path, moment):
    """Nothing has been started yet."""
    (tmp_path / "locustfile.py").write_text(EARLY[moment])
    with started("locust", "--headless", cwd=tmp_path) as process:
        assert process.wait(30) == 130
    assert (tmp_path / "output").read_text() == ""


@pytest.mark.slow
def test_a_running_server_is_loaded_when_only_a_host_is_given(tmp_path):
    """Nothing is started, nothing is compared, every reply is checked."""
    with running("tuned") as tuned:
        base = f"http://{tuned.server.endpoint.address}"
        done = run(*HEADLESS, "-H", base, "-t", "2s", "--csv", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    row = (tmp_path / "out_stats.csv").read_text().splitlines()[1].split(",")
    assert row[1] == "/9000"
    assert int(row[2]) > 100
    assert row[3] == "0"


@pytest.mark.costly
def test_a_running_server_that_is_broken_is_not_loaded(tmp_path):
    """A dead application would look fastest of all."""
    port = free_port()
    ini = str(ROOT / "profiles" / "baseline.ini")
    env = environment() | {"PORT": str(port), "WSGI_APP": "no.such:app"}
    server = subprocess.Popen([str(BIN / "uwsgi"), ini], env=env, stderr=subprocess.DEVNULL)
    try:
        until(lambda: listens(port), "the server")
        base = f"http://127.0.0.1:{port}"
        done = run(*HEADLESS, "-H", base, "-t", "2s", cwd=tmp_path)
    finally:
        server.terminate()
        server.wait(10)
    assert done.returncode == 2
    assert "with 500" in done.stderr


@pytest.mark.costly
def test_a_host_where_nothing_answers_is_an_error_in_a_line(tmp_path):
    """And not a run full of failures."""
    done = run(*HEADLESS, "-H", f"http://127.0.0.1:{free_port()}", "-t", "2s", cwd=tmp_path)
    assert done.returncode == 2
    assert "nothing answers there" in done.stderr
    assert "Traceback" not in done.stderr
