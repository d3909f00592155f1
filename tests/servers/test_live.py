"""A user's configuration that is in production on this machine: what runs is left alone."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import psutil
import pytest

from lab.bench import profiles
from lab.bench.machine import temporary
from lab.bench.profiles import asking
from lab.bench.servers.fetch import fetch
from lab.bench.servers.runner import ServerRunner
from lab.bench.trials.plan import arm_of
from lab.errors import ProfileError
from lab.model.plan import Load
from lab.model.request import Expectation
from lab.model.runtime import Runtime
from lab.model.workload import Workload
from tests.kit.lab_process import ROOT, SITES, descendants, until
from tests.kit.uwsgi_options import confirmed

PONG = Workload("x", "/", Expectation(body=b"Pong!"), apps={"own": ""})

PRODUCTION = """socket = {here}/live.sock
chmod-socket = 660
stats = {here}/stats.sock
pidfile = {here}/live.pid
safe-pidfile2 = {here}/safe.pid
master-fifo = {here}/fifo
logto = {here}/live.log
req-logger = file:{here}/requests.log
touch-reload = {here}/reload
master = true
vacuum = true
cpu-affinity = 1
spooler = {here}/jobs
cron = -1 -1 -1 -1 -1 touch {here}/cron
attach-daemon = touch {here}/daemon
subscribe-to = {router}:shop.example.org
mule = {here}/mule.py
exec-asap = touch {here}/exec-asap
exec-as-user-atexit = touch {here}/atexit
hook-asap = write:{here}/hook-asap 1
hook-post-app = exec:touch {here}/hook-post-app
hook-master-start = unix_signal:15 gracefully_kill_them_all
"""

OF_ITS_OWN = """logto = {here}/log
logger = file:{here}/logger
log-master = true
log-encoder = json
log-prefix = shop
log-date = %%Y-%%m-%%d %%H:%%M:%%S %%Z - mine = 1
"""


@pytest.fixture
def mine(tmp_path):
    """Return a function that writes an ini with these lines and returns its profile."""

    def mine(lines, runtime=Runtime()):  # noqa: B008 - it is immutable
        (tmp_path / "mine.ini").write_text(
            f"[uwsgi]\nchdir = {ROOT}\nmodule = loadtests.workloads.hello:app\n"
            + lines.replace("{here}", str(tmp_path))
        )
        return profiles.read(str(tmp_path / "mine.ini"), runtime)

    return mine


@pytest.fixture
def served(tmp_path):
    """Return a function that starts a profile as a run does, for a `with`."""

    def served(profile, workload=PONG):
        folder = tmp_path / "trial"
        folder.mkdir()
        trial_workload = arm_of(profile, workload, Load()).workload
        return ServerRunner().start(profile, trial_workload, folder, None)

    return served


def left(folder):
    """Return what lies in a folder: names, and what files hold."""
    kinds = {path.name: path for path in folder.iterdir() if path.name != "trial"}
    return {name: path.read_text() if path.is_file() else "" for name, path in kinds.items()}


def test_what_is_in_production_is_not_touched(mine, served, tmp_path):
    """Its sockets, files and jobs are those of the server that runs; the trial has its own."""
    for name in ("live.pid", "safe.pid", "reload"):
        (tmp_path / name).write_text("1\n")
    (tmp_path / "jobs").mkdir()
    with (
        socket.socket(socket.AF_UNIX) as listener,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as router,
    ):
        listener.bind(str(tmp_path / "live.sock"))
        listener.listen(1)
        router.bind(("127.0.0.1", 0))
        router.setblocking(False)
        profile = mine(PRODUCTION.replace("{router}", f"127.0.0.1:{router.getsockname()[1]}"))
        left_out = [
            alteration.option for alteration in profile.altered if alteration.became is None
        ]
        assert {"spooler", "cron", "attach-daemon", "subscribe-to", "exec-asap"} <= set(left_out)
        assert len(set(left_out)) == len(left_out)
        before = left(tmp_path)
        with served(profile) as server:
            assert server.endpoint.socket == str(tmp_path / "trial/server.sock")
            assert fetch(server.endpoint, "/", 5.0)[2] == b"Pong!"
            names = {"stats.sock", "pidfile", "master-fifo", "req-logger.log"}
            trial = tmp_path / "trial"  # a log of requests is there from its first line on
            until(lambda: names <= {path.name for path in trial.iterdir()}, "its files")
            assert "spawned uWSGI worker 1" in server.log()
            server.stop()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(tmp_path / "live.sock"))
            listener.accept()[0].close()
        with pytest.raises(BlockingIOError):
            router.recv(99)
    assert left(tmp_path) == before


def test_reading_touches_nothing(mine, tmp_path):
    """To read a profile writes no pidfile, runs no command, and removes nothing afterwards."""
    for name in ("live.pid", "safe.pid", "live.sock"):
        (tmp_path / name).write_text("1\n")
    mine(
        "pidfile = %dlive.pid\nsafe-pidfile = %dsafe.pid\nsocket = %dlive.sock\nvacuum = true\n"
        "master = true\nunlink = %dlive.sock\nhook-asap = exec:touch %dhook\n"
        "exec-asap = touch %dran\nstats = %dstats\nmaster-fifo = %dfifo"
    )
    text = {path.name: path.read_text() for path in tmp_path.iterdir() if path.suffix != ".ini"}
    assert text == {"live.pid": "1\n", "safe.pid": "1\n", "live.sock": "1\n"}


def test_what_is_kept_runs(mine, served, tmp_path):
    """It is the user's to say that it does no harm."""
    lines = "http-socket = :8000\nexec-asap = touch {here}/ran\n"
    with served(mine(lines, Runtime(keep=frozenset({"exec-asap"})))):
        assert (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "lines",
    [
        "http-socket = 0.0.0.0:80\ndaemonize = {here}/log\n",
        "http-socket = 127.0.0.1:$(PORT)\n" + OF_ITS_OWN,
        "socket = 127.0.0.1:3031\nthreads = 2\n",
        "http = :80\nsocket = {here}/backend.sock\n",
        "shared-socket = 0.0.0.0:80\nhttp = =0\n",
        "plugins = \n",
    ],
    ids=["daemon", "logs", "uwsgi over TCP", "router", "shared", "no address"],
)
def test_an_ini_is_served_wherever_it_listens_and_logs(mine, served, tmp_path, lines):
    """In the foreground, over what it speaks, and writing nothing beside itself."""
    profile = mine(lines)
    with served(profile) as server:
        assert fetch(server.endpoint, "/", 5.0)[2] == b"Pong!"
        if "log-encoder" not in lines:  # this one leaves nothing of a line
            until(lambda: "WSGI app 0" in server.log(), "its log")
    assert set(left(tmp_path)) == {"mine.ini"}


def test_a_value_is_served_as_it_was_meant(mine, served):
    """`%` and all, as uWSGI itself resolved it."""
    lines = "http-socket = :8000\nchdir = {sites}\nmodule = journal:application\n"
    lines += "add-header = X-Url: postgres://u:p%%40ss@h/db%%\n"
    profile = mine(lines.replace("{sites}", str(SITES)))
    workload = Workload("x", "/", Expectation(pattern="."), apps={"own": ""})
    with served(profile, workload) as server:
        assert fetch(server.endpoint, "/", 5.0)[1]["x-url"] == "postgres://u:p%40ss@h/db%"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_the_trials_folder_is_its_users(mine):
    """A server that becomes another user writes its files there."""
    needed = (ROOT, *ROOT.parents, *Path(os.path.realpath(sys.executable)).parents)
    if any(not folder.stat().st_mode & 1 for folder in needed):
        pytest.skip("this checkout, or its Python, is for root alone")
    profile = mine("http-socket = :80\nuid = nobody\nlogto2 = {here}/log\npidfile2 = {here}/pid\n")
    workload = arm_of(profile, PONG, Load()).workload
    with (
        temporary.folder() as folder,
        ServerRunner().start(profile, workload, folder, None) as server,
    ):
        assert {process.username() for process in descendants(server.pid)} == {"nobody"}
        assert "spawned uWSGI worker 1" in server.log()
        assert (folder / "pidfile2").owner() == "nobody"


def test_another_application_is_served_by_the_same_server(mine, served):
    """What --app names, in place of what the ini does."""
    profile = mine("http-socket = :80\nneed-app = true\nthreads = 2\n")
    workload = Workload("x", "/where/Ulm", Expectation(), "flask_site:application", SITES)
    with served(profile, workload) as server:
        assert fetch(server.endpoint, "/where/Ulm", 5.0)[2] == b'{"city":"Ulm"}\n'
        assert psutil.Process(server.pid).children()


def test_silent_refusal(mine, monkeypatch, tmp_path):
    """Where uWSGI ends without a word, the message says so."""
    monkeypatch.setattr(asking, "program", lambda *_: "/bin/true")
    mine("")
    with pytest.raises(ProfileError, match=r"mine\.ini: uWSGI ended while it read it and said not"):
        confirmed(tmp_path / "mine.ini")
