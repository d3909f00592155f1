"""`fibonacci serve` checks, and then is uWSGI: its process, its signals, its exit status."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from app import serve
from lab.bench.machine import project
from lab.bench.machine.programs import environment
from lab.bench.servers.fetch import fetch
from lab.bench.servers.ports import HOST, free_port
from lab.model.protocols import Endpoint
from tests.kit.lab_process import BIN, ROOT, SITES, until

from .parts import SERVE, session
from .stacks import Instance
from .test_start_up import PRODUCTION, TUNED

UWSGI = str(BIN / "uwsgi")


@contextmanager
def running(*command, cwd=None, port=None, **variables):
    """Run a command that serves until the block ends; yield its process and where it answers."""
    endpoint = Endpoint(HOST, port or free_port())
    process = psutil.Popen(
        command,
        cwd=cwd,
        env=environment(PORT=str(endpoint.port), PROCESSES="2") | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )

    def answers():
        assert process.poll() is None
        try:
            return fetch(endpoint, "/9", 5.0)[2]
        except OSError:
            return None

    try:
        until(answers, "a reply")
        yield process, endpoint
    finally:
        for member in session(process.pid):
            member.kill()
        process.wait(10)


def said(*words, **variables):
    """Run the launcher to its end."""
    return subprocess.run(
        [*SERVE, *words], env=environment(**variables), capture_output=True, text=True, check=False
    )


def dispositions(pid):
    """Return which signals a process blocks, ignores and catches: a bit each."""
    status = Path(f"/proc/{pid}/status").read_text()
    return [int(bits, 16) for bits in re.findall(r"(?m)^Sig(?:Blk|Ign|Cgt):\t(.*)$", status)]


def test_it_becomes_uwsgi(tmp_path):
    """The process that was started is uWSGI's master, so a supervisor's signals reach it."""
    instance = Instance(tmp_path / "a.sock")
    stats = {"UWSGI_STATS": f"{instance.socket}.stats", "UWSGI_STATS_HTTP": "true"}
    with running(*SERVE, **stats) as (process, endpoint):
        assert fetch(endpoint, "/9", 5.0)[2] == b"[0, 1, 1, 2, 3, 5, 8, 13]"
        assert process.cmdline() == [UWSGI, str(TUNED)]
        # A worker may reply before the master has its own answer to SIGTERM.
        until(instance.workers, "its statistics")
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


def test_signals_are_what_they_are_without_it():
    """uWSGI blocks, ignores and catches the same ones."""
    with running(*SERVE) as (process, _), running(UWSGI, str(TUNED)) as (by_hand, _):
        masters = process.pid, by_hand.pid
        # A master goes on to set some of its own when its workers answer already.
        until(lambda: dispositions(masters[0]) == dispositions(masters[1]), "the same signals", 10)


@pytest.mark.parametrize("fault", [{"WSGI_APP": "nowhere:app"}, {"FIB_MAX_DIGITS": "x"}])
def test_a_status_is_uwsgis_own(fault):
    """What keeps uWSGI from starting ends with the status that it has without the launcher."""
    known = environment(PORT=str(free_port()), **fault)
    by_hand = subprocess.run([UWSGI, str(TUNED)], env=known, capture_output=True, check=False)
    assert said(**known).returncode == by_hand.returncode != 0


def test_a_stop_while_it_checks(tmp_path):
    """SIGTERM ends it with uWSGI's own status, also where it is the first of a container."""
    ini = tmp_path / "slow.ini"
    os.mkfifo(ini)  # which nobody writes
    with subprocess.Popen([*SERVE, str(ini)], stderr=subprocess.DEVNULL) as process:
        until(lambda: dispositions(process.pid)[2] >> signal.SIGTERM - 1 & 1, "its handler")
        process.terminate()
        assert process.wait(10) == serve.STOPPED


def test_what_is_printed_serves():
    """`--print` starts nothing; what it prints is a command that a shell runs."""
    port = free_port()
    command = shlex.split(said("--print", PORT=str(port)).stdout)
    cpus = f"PROCESSES={serve.processes()}"
    assert command == ["env", f"PORT={port}", cpus, UWSGI, str(TUNED)]
    with running(*command, port=port, PORT="none") as (process, _):
        assert process.cmdline() == [UWSGI, str(TUNED)]


def test_what_runs_is_printed_while_it_runs(tmp_path):
    """Whether a socket is taken is asked of a start alone."""
    (tmp_path / "a.sock").write_text("mine")
    completed_process = said("--print", "production", SOCKET=str(tmp_path / "a.sock"))
    assert (completed_process.returncode, completed_process.stderr) == (0, "")
    assert f"SOCKET={tmp_path}/a.sock" in completed_process.stdout


@pytest.mark.parametrize(
    ("words", "path"),
    [((), TUNED), (("production",), PRODUCTION), (("safety",), project.profiles() / "safety.ini"),
     (("profiles/tuned.ini",), TUNED), (("./profiles/../profiles/tuned.ini",), TUNED)],
)  # fmt: skip
def test_a_profile_is_named_or_its_path_is(monkeypatch, words, path):
    """Without one it is `tuned`; a path is any ini's."""
    monkeypatch.chdir(ROOT)
    completed_process = said("--print", *words)
    assert shlex.split(completed_process.stdout)[-1] == str(path)


def test_a_mistyped_profile():
    """The one that is meant is said, and nothing starts."""
    completed_process = said("prodution")
    assert completed_process.returncode == 1
    assert completed_process.stderr == (
        "fibonacci: no profile 'prodution': did you mean production? Or give the path of an ini.\n"
    )


def test_without_uwsgi(tmp_path, monkeypatch):
    """It says where it looked."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match=f"no uwsgi beside {tmp_path}/python, nor on PATH"):
        serve.program()


def test_only_the_standard_library_is_imported():
    """The check of a start loads nothing of the service."""
    code = "import sys, app.serve; print({'flask', 'fib', 'app.service', 'lab'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert done.stdout == b"set()\n"


@pytest.mark.parametrize("command", [(UWSGI, "tuned.ini"), (*SERVE, "./tuned.ini")])
def test_a_copy_of_tuned_alone_serves_another_application(tmp_path, command):
    """In a folder with nothing else in it, with and without the launcher."""
    shutil.copy(TUNED, tmp_path)
    variables = {"WSGI_APP": "journal:application", "WSGI_CHDIR": str(SITES)}
    with running(*command, cwd=tmp_path, **variables) as (_, endpoint):
        assert b"umask" in fetch(endpoint, "/", 5.0)[2]
    assert [path.name for path in tmp_path.iterdir()] == ["tuned.ini"]


@pytest.mark.parametrize(("lines", "waits"), [("", True), ("log-master = true", False)])
def test_only_a_master_loses_lines(tmp_path, lines, waits):
    """A pipe goes on to wait for its reader where workers write to it by themselves."""
    ini = tmp_path / "mine.ini"
    ini.write_text(f"[uwsgi]\nexit = 1\n{lines}\n")
    reader, writer = os.pipe()
    try:
        subprocess.run([*SERVE, str(ini)], stdout=writer, stderr=writer, check=False)
        assert os.get_blocking(writer) == waits
    finally:
        os.close(reader)
        os.close(writer)
