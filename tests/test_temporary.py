"""The lab's temporary folders: gone when the lab is, whatever ended it, and named when full."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from lab.bench.machine.temporary import folder, swept, write
from lab.errors import LabError
from tests.kit.lab_process import ROOT, environment, until

HOLD = """
import subprocess, sys
from lab.bench.machine.temporary import folder, swept
with swept(), folder() as one, folder() as two:
    (two / "server.log").write_text("x")
    print(two, flush=True)
    exec(sys.argv[1])
    sys.stdin.read()
"""
"""A lab that has made two folders, and then does what its argument says."""

WRITE = "subprocess.Popen([sys.executable, '-c', sys.argv[2], two])"
"""Start a server, with the third argument as its program."""

WRITER = """
import os, sys, time
for number in range(25):
    try:
        os.close(os.open(f"{sys.argv[1]}/{number}", os.O_CREAT))
    except FileNotFoundError:
        break
    time.sleep(0.01)
"""
"""A server that still writes for a quarter of a second, as long as its folder is there."""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Return the folder for temporary files, of this test alone."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


@contextmanager
def holding(*words):
    """Run HOLD; yield it and its second folder."""
    lab = subprocess.Popen(
        (sys.executable, "-c", HOLD, *words),
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield lab, Path(lab.stdout.readline().strip())
    finally:
        lab.kill()
        lab.communicate()


@pytest.mark.parametrize("words", [("pass",), (WRITE, WRITER)], ids=["no server", "it writes on"])
def test_a_lab_that_is_killed_leaves_no_folder(place, words):
    """Before it has started a server, whose guard could, as well as while one still writes."""
    with holding(*words) as (lab, made):
        assert made.parent == place
        assert len(list(place.iterdir())) == 2
        lab.kill()
        until(lambda: not list(place.iterdir()), "the end of its folders", 5.0)


def test_signals_of_the_terminal_do_not_end_what_sweeps(place):
    """Ctrl-C reaches whoever is in the foreground; the sweeper waits for the lab's end."""
    with holding("pass") as (lab, _):
        (sweeper,) = psutil.Process(lab.pid).children()
        until(lambda: signal.SIGTERM in _ignored(sweeper.pid), "its readiness")
        sweeper.terminate()
        lab.kill()
        until(lambda: not list(place.iterdir()), "the end of its folders", 5.0)


def _ignored(pid):
    """Return the signals that a process ignores."""
    status = Path(f"/proc/{pid}/status").read_text()
    mask = int(status.partition("SigIgn:")[2].split()[0], 16)
    return [number for number in signal.valid_signals() if mask >> (number - 1) & 1]


def test_an_orderly_end_leaves_neither_folder_nor_process(place):
    """As of every run that was not killed."""
    before = psutil.Process().children()
    with swept(), folder() as path:
        (path / "file").write_text("x")
        assert path.stat().st_mode & 0o777 == 0o700
    assert not list(place.iterdir())
    assert psutil.Process().children() == before


def test_a_folder_that_cannot_be_made_is_named(monkeypatch):
    """With what to do; /proc takes no folder, not even root's."""
    monkeypatch.setattr("tempfile.tempdir", "/proc")
    with (
        pytest.raises(LabError, match=r"^/proc/lab-\w+: cannot be written: .*TMPDIR"),
        folder(),
    ):
        pass


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    """A folder in its place, for one that is on a full disk."""
    (tmp_path / "nginx.conf").mkdir()
    with pytest.raises(LabError, match=r"nginx\.conf: cannot be written: .*TMPDIR"):
        write(tmp_path / "nginx.conf", "text")


def test_the_end_of_the_sweeper_is_noticed_below_gevent():
    """As in Locust, where no timer may be due for long: waiting for the process would time out."""
    script = (
        "import gevent.monkey; gevent.monkey.patch_all()\n"
        "from lab.bench.machine.temporary import swept\n"
        "with swept(): pass\n"
    )
    subprocess.run((sys.executable, "-c", script), cwd=ROOT, check=True, timeout=60)
