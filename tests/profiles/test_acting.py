"""What is asked about a configuration changes nothing: no signal, no file, no program, no peer."""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from lab.bench import profiles
from lab.bench.trials.conduct import prepare
from lab.cli.options.execution import application, understand
from lab.cli.options.table import Job
from lab.config.configuration import Known
from lab.config.uwsgi import flat
from lab.config.uwsgi.actions import acting
from lab.config.uwsgi.reader import read
from lab.errors import LabError, ProfileError
from lab.lint.lint import lint
from lab.model.runtime import Runtime
from tests.kit.uwsgi_options import confirmed

ACTS = {
    "stop": "stop = {w}/pid",
    "reload": "reload = {w}/pid",
    "in a loop": "for = pid\nstop = {w}/%(_)\nendfor =",
    "included": "ini = {w}/stop.ini",
    "inherited": "inherit = {w}/stop.ini",
    "another form": "yaml = {w}/stop.yaml",
    "declared": "declare-option = halt=stop=$1\nhalt = {w}/pid",
    "signal": "signal = {w}/socket,17",
    "folder": "spooler = {w}/jobs",
    "program": "ini = exec://touch {w}/ran",
    "program in a loop": "for = exec://touch\nini = %(_) {w}/ran\nendfor =",
    "program's output": "env = A=@(exec://touch {w}/ran)",
    "program in a variable": "env = A=@($(SCHEME)touch {w}/ran)",
    "program around": "inject-before = exec://touch {w}/ran\nini = {w}/good.ini",
    "hooks": "hook-asap = exec:touch {w}/ran\nexec-asap = touch {w}/ran\nmount-asap = x",
    "peer": "http-zerg = {w}/socket",
    "reader": "connect-and-read = {w}/socket",
    "lock": "flock-wait = {w}/lock",
    "files": "pidfile = {w}/p\nlogto = {w}/log\ndaemonize = {w}/log\nmaster-fifo = {w}/fifo\n"
    "stats = {w}/stats\nsocket = {w}/s\nlog-master = true\ntouch-reload = {w}/t",
}
"""What acts on the world -> lines of an ini; {w} is the folder of what runs in production."""


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Return a folder of a production, and a function that says whether all in it is as it was."""
    monkeypatch.setenv("SCHEME", "exec://")
    folder = tmp_path / "production"
    folder.mkdir()
    with (
        subprocess.Popen(["sleep", "60"], start_new_session=True) as server,
        socket.socket(socket.AF_UNIX) as peer,
        (folder / "lock").open("w") as lock,
    ):
        fcntl.lockf(lock, fcntl.LOCK_EX)
        peer.bind(str(folder / "socket"))
        peer.listen()
        peer.setblocking(False)
        (folder / "pid").write_text(f"{server.pid}\n")
        (folder / "good.ini").write_text("[uwsgi]\nharakiri = 9\n")
        (folder / "stop.ini").write_text(f"[uwsgi]\nstop = {folder}/pid\n")
        (folder / "stop.yaml").write_text(f"uwsgi:\n  stop: {folder}/pid\n")

        def seen():
            return {path: path.stat().st_mtime_ns for path in (folder, *folder.rglob("*"))}

        before = seen()

        def untouched():
            with pytest.raises(BlockingIOError):
                peer.accept()
            return (server.poll(), seen()) == (None, before)

        try:
            yield folder, untouched
        finally:
            server.kill()


def mine(tmp_path, text):
    """Return the path of an ini with these lines, which serves something."""
    ini = tmp_path / "mine.ini"
    ini.write_text(f"[uwsgi]\nmodule = web\n{text}\n")
    (tmp_path / "web.py").write_text("def application(environ, start):\n    return []\n")
    return str(ini)


def show(name):
    """Do what `lab show` does."""
    return list(profiles.lines_of(profiles.read(name)))


def plan(name):
    """Do what `lab run` does before the first trial, and before it asks for a reply."""
    job = Job(profiles=(name,), blocks=1)
    return prepare(understand(job).options, application(job))


@pytest.mark.parametrize("what", ACTS)
def test_nothing_is_done_by_asking(world, tmp_path, what):
    """By `lab show`, `lab lint`, and what `lab run` does before the first trial."""
    folder, untouched = world
    name = mine(tmp_path, ACTS[what].replace("{w}", str(folder)))
    for ask in (show, plan, lambda name: lint(name, Known.of_caller())):
        with suppress(LabError):
            ask(name)
        assert untouched()


OTHERS = {
    "x.yaml": "uwsgi:\n  master: true\n  stop: {w}/pid\n",
    "x.json": '{{"uwsgi": {{"master": true, "stop": "{w}/pid"}}}}',
    "hidden.json": '{{"uwsgi": {{"\\u0073top": "{w}/pid"}}}}',
    "x.xml": "<uwsgi><master/><stop>{w}/pid</stop></uwsgi>",
    "include.json": '{{"uwsgi": {{"include": "{w}/stop.ini"}}}}',
}


@pytest.mark.parametrize("file", OTHERS)
def test_other_forms_are_read_without_doing_what_they_say(world, tmp_path, file):
    """However an option is written."""
    folder, untouched = world
    (tmp_path / file).write_text(OTHERS[file].format(w=folder))
    assert (
        lint(str(tmp_path / file), Known.of_caller()).config.first("stop").value == f"{folder}/pid"
    )
    assert untouched()


@pytest.mark.parametrize(
    "text",
    ["; stop = x", "# reload", "stats = :1", "touch-reload = stop", "chdir = /srv/config", "a = b",
     "reload-mercy = 8", "listen = 9", "plugins-dir = /x", "if-env = HOME\nendif =",
     "vacuum = true", "uid = www-data", "route-uri-is-no-option = x"],
)  # fmt: skip
def test_uwsgi_is_asked_what_keeps_its_values(text):
    """A comment, a value, and options that say something."""
    assert acting(config(text)) is None


@pytest.mark.parametrize(
    "text",
    ["autoload = true", "plugins = python3", "plugin = ./evil", "vacuum = true\npidfile = /p",
     "env = A=@(file)", "env = A=@%z(exec://x)", "exec-as-user-atexit = x",
     "route = ^/ http:127.0.0.1:1", "fallback-config = x.ini",
     "if-env = NOWHERE\nspooler = x\nendif =",
     "yaml = x.yaml"],
)  # fmt: skip
def test_uwsgi_is_not_asked_what_may_do_more(text):
    """At once, at its end, or by a reader that is not the one for inis."""
    assert acting(config(text)) is not None


def config(text):
    """Return the configuration in *text*, beside which there is a YAML file."""
    overlay = {Path("a.ini"): f"[uwsgi]\n{text}\n", Path("x.yaml").absolute(): "uwsgi:\n  a: b\n"}
    return read(Path("a.ini"), Known(overlay=overlay))


def test_an_ini_that_would_act_is_served_all_the_same(world, tmp_path):
    """The lab reads it alone; its copy does not have what acts, and says so."""
    folder, untouched = world
    lines = f"spooler = {folder}/jobs\nstop = {folder}/pid\nif-env = HOME\nthreads = 3\nendif ="
    profile = profiles.read(mine(tmp_path, f"ini = {folder}/good.ini\n{lines}"))
    assert dict(profile.options) == {
        "module": "web",
        "harakiri": "9",
        "threads": "3",
        "http-socket": "{host}:{port}",
        "master": "true",
    }
    left_out = [str(alteration) for alteration in profile.altered if alteration.became is None]
    assert left_out == [
        f"spooler = {folder}/jobs (would take over real jobs)",
        f"stop = {folder}/pid (would signal a server)",
    ]
    assert untouched()


def test_what_would_act_and_cannot_be_read_without_uwsgi_is_refused(world, tmp_path):
    """With what is not known, and what to do."""
    folder, untouched = world
    name = mine(tmp_path, f"pidfile = /run/%t\nspooler = {folder}/jobs")
    with pytest.raises(ProfileError, match=r"mine\.ini: .* not know %t; give a copy without that"):
        profiles.read(name)
    assert untouched()


def test_a_job_is_named_whole_and_kept_whole(tmp_path):
    """uWSGI itself tells the first word of a `cron2` alone."""
    name = mine(tmp_path, "cron2 = minute=-5,unique=1 refresh --all\ncron2 = hour=3 sweep")
    jobs = [
        alteration.value
        for alteration in profiles.read(name).altered
        if alteration.option == "cron2"
    ]
    assert jobs == ["minute=-5,unique=1 refresh --all", "hour=3 sweep"]
    kept = profiles.read(name, Runtime(keep=frozenset({"cron2"}))).options
    assert [value for option, value in kept if option == "cron2"] == jobs
    copy = tmp_path / "copy.ini"
    copy.write_text("\n".join([*flat(kept, {"{host}": "$(BIND)", "{port}": "$(PORT)"}), ""]))
    assert confirmed(copy, Runtime(cwd=tmp_path)) == kept


def test_systemd_is_not_told_of_the_labs_servers(tmp_path, monkeypatch):
    """Of a service that the lab itself runs in, it would be told that it is ready."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.setblocking(False)
        monkeypatch.setitem(os.environ, "NOTIFY_SOCKET", str(tmp_path / "notify"))
        show(mine(tmp_path, "threads = 2"))
        lint(mine(tmp_path, "threads = 2"), Known.of_caller())
        with pytest.raises(BlockingIOError):
            systemd.recv(99)
