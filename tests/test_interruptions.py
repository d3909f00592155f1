"""A run that is ended from outside leaves no process behind and keeps every finished trial."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from lab.errors import Interrupted
from tests.kit.lab_process import BIN, ROOT, SMALL, alive, descendants, run, started, trials, until

SLOW = pytest.mark.slow
"""Some of them only: tests/hygiene/test_moments.py sends each signal at other moments."""


@pytest.mark.costly
@pytest.mark.parametrize(
    "name", [*(pytest.param(name, marks=SLOW) for name in ("SIGINT", "SIGTERM")), "SIGKILL"]
)
# Without and with a master process.
@pytest.mark.parametrize("profile", ["baseline", pytest.param("tuned", marks=SLOW)])
def test_nothing_is_left_and_nothing_measured_is_lost(tmp_path, monkeypatch, name, profile):
    """Whatever ends the lab, servers, generator and their files are gone within two seconds."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    with started("lab", "run", profile, *SMALL, "--blocks", "50", cwd=tmp_path) as lab:
        until(lambda: len(trials(tmp_path)) >= 1, "the first trial")
        below = until(lambda: len(processes := descendants(lab.pid)) >= 3 and processes, "a server")
        lab.send_signal(getattr(signal, name))
        code = lab.wait(30)
        until(lambda: not alive(below), f"the end of {alive(below)}", 2.0)
    assert code == (-signal.SIGKILL if name == "SIGKILL" else 130)
    assert not list(temporary.iterdir())
    kept = trials(tmp_path)
    assert kept
    report = run("lab", "report", cwd=tmp_path)
    assert profile in report.stdout, report.stderr


EARLY = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == "lab.report":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
from lab.cli import main
main()
"""
"""A `lab` that gets a Ctrl-C while it imports its modules."""


def interrupted(script):
    """Run a script that sends itself a Ctrl-C, which is not ignored; return how it ended."""
    command = ["env", "--default-signal=INT", sys.executable, "-c", script]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )


def test_a_ctrl_c_before_anything_has_begun_is_quiet():
    """Half a second of imports shows no frames of Python, and ends as any interruption."""
    done = interrupted(EARLY)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


MAKING_A_CLASS = """
import os, signal, sys
class Sending:
    def __set_name__(self, *_):
        os.kill(os.getpid(), signal.SIGINT)
class Interrupting:
    def find_spec(self, name, *_):
        if name == "lab.bench.trials.conduct":
            class Holder:
                field = Sending()
sys.meta_path.insert(0, Interrupting())
sys.argv = ["lab", "run", "tuned"]
from lab.cli import main
main()
"""
"""A `lab run` that gets a Ctrl-C while an import makes a class, such as a dataclass."""


def test_a_ctrl_c_while_a_class_is_made_ends_the_lab_as_any_other():
    """Python up to 3.11 makes a RuntimeError of what is raised there."""
    done = interrupted(MAKING_A_CLASS)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "lab: interrupted by SIGINT\n"


def test_what_is_kept_is_said_where_it_is_known():
    """Only a run has trials."""
    assert str(Interrupted("SIGINT")) == "interrupted by SIGINT"


def test_an_interruption_before_the_first_trial_promises_none(tmp_path):
    """Nor does it leave an empty folder of a run."""
    with started("lab", "run", "tuned", *SMALL, "--warmup", "30", cwd=tmp_path) as lab:
        until(lambda: list(tmp_path.glob("results/*/run.json")), "the run's folder")
        lab.send_signal(signal.SIGINT)
        assert lab.wait(30) == 130
    output = (tmp_path / "output").read_text()
    assert output.endswith("lab: interrupted by SIGINT; no trial had finished\n")
    assert not list(tmp_path.glob("results/*"))


WRITING = """
import os, signal, sys
from lab.bench.store import folder
write = folder.write_text
def interrupted(path, text):
    write(path, text)
    os.kill(os.getpid(), signal.SIGINT)
folder.write_text = interrupted
sys.argv = ["lab", "run", "tuned", "--results", {results!r}, *{sizes!r}]
from lab.cli import main
main()
"""
"""A `lab run` that gets a Ctrl-C at the moment at which its folder has a run.json."""


def test_an_interruption_as_the_folder_is_made_leaves_none(tmp_path):
    """A SIGINT between run.json and the first trial once left an empty folder."""
    done = interrupted(WRITING.format(results=str(tmp_path / "results"), sizes=SMALL))
    assert done.returncode == 130
    assert done.stderr.endswith("lab: interrupted by SIGINT; no trial had finished\n")
    assert not list(tmp_path.glob("results/*"))


@pytest.mark.costly
def test_a_sweep_keeps_what_was_measured_and_says_what_is_missing(tmp_path):
    """Ctrl-C: every finished trial of every value, and each value that lacks some is named."""
    values = ("--sweep", "connections=1,4", "--blocks", "50")
    with started("lab", "run", "baseline", *SMALL, *values, cwd=tmp_path) as lab:
        kept = len(until(lambda: trials(tmp_path), "the first trial"))
        lab.send_signal(signal.SIGINT)
        assert lab.wait(30) == 130
    assert (
        f"interrupted by SIGINT; the finished trials are kept: {BIN / 'lab'} report results/"
        in (tmp_path / "output").read_text()
    )
    finished_trials = trials(tmp_path)
    assert len(finished_trials) >= kept
    report = " ".join(run("lab", "report", "--full", cwd=tmp_path).stdout.split())
    missing = (
        "Trials are missing because the run ended early: connections 1 has {} of 100; 4 has {} "
        "of 100."
    )
    places = {
        (t["slot"]["arm"], t["slot"]["block"], t["slot"]["position"]) for t in finished_trials
    }
    counts = (sum(arm == f"baseline@{value}" for arm, _, _ in places) for value in (1, 4))
    assert missing.format(*counts) in report
