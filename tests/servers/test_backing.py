"""Backing services: started before the servers, watched, and gone with the lab."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab.bench.machine import project
from lab.bench.profiles.backing import read
from lab.bench.servers import backing
from lab.bench.servers.backing import running
from lab.bench.servers.fetch import fetch
from lab.bench.servers.ports import listens
from lab.errors import BackingError
from lab.model.protocols import Endpoint
from tests.kit.lab_process import ROOT, alive, descendants, until

UPSTREAM = project.backing() / "upstream.toml"

SLEEPS = 'run = [["sleep", "60"]]\nready = "http"'

HOLDER = """
import sys, time
from lab.bench.profiles.backing import read
from lab.bench.servers.backing import running
from lab.bench.machine import project
from lab.bench.machine.temporary import swept
with swept(), running([read(project.backing() / f"{sys.argv[1]}.toml")], None) as (service,):
    print(service.pid, flush=True)
    time.sleep(60)
"""


def written(folder, text, name="made"):
    """Return the backing service of a TOML with *text*."""
    path = folder / f"{name}.toml"
    path.write_text(f'summary = "Made for a test"\nrole = "backend"\n{text}')
    return read(path)


def asked():
    """Return the reply at UPSTREAM_URL."""
    port = int(os.environ["UPSTREAM_URL"].rstrip("/").rpartition(":")[2])
    return fetch(Endpoint("127.0.0.1", port), "/", 5.0)


def test_it_answers_where_its_environment_says():
    """It runs before anything that asks it, and what servers are given of it goes with it."""
    with running([read(UPSTREAM)], None) as (service,):
        status, headers, body = asked()
        assert (status, body, headers["content-length"]) == (200, b"Pong!", "5")
        assert service.service.release.startswith("Python 3")
        tree = descendants(service.pid)
        assert alive(tree)
    assert "UPSTREAM_URL" not in os.environ
    assert not alive(tree)


def test_it_runs_on_the_cores_of_its_role():
    """An upstream is part of the load, and runs where that does."""
    cpu = max(os.sched_getaffinity(0))
    with running([read(UPSTREAM)], ((), (cpu,))) as (service,):
        (process,) = descendants(service.pid)
        assert process.cpu_affinity() == [cpu]


def test_one_that_answers_is_left_alone():
    """It is asked before each trial, and only that."""
    with running([read(UPSTREAM)], None) as (service,):
        before = service.pid
        assert not service.check()
        assert service.pid == before


def test_one_that_was_killed_is_started_again():
    """Servers that start after that are told where it answers now."""
    with running([read(UPSTREAM)], None) as (service,):
        descendants(service.pid)[0].kill()
        assert service.check()
        assert asked()[2] == b"Pong!"
        assert not service.check()


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_it_ends_with_whatever_ends_the_run(error):
    """An interruption, or an error, goes on its way when it has stopped."""
    trees = []
    with pytest.raises(error), running([read(UPSTREAM)], None) as (service,):  # noqa: PT012
        trees.append(descendants(service.pid))
        raise error
    assert trees[0]
    assert not alive(trees[0])
    assert "UPSTREAM_URL" not in os.environ


def test_a_killed_lab_leaves_nothing(tmp_path, monkeypatch):
    """SIGKILL of the lab: its processes, its port and its folder are gone."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with subprocess.Popen(
        (sys.executable, "-c", HOLDER, "upstream"), cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as lab:
        tree = descendants(int(lab.stdout.readline()))
        assert tree
        assert list(tmp_path.iterdir())
        lab.kill()
        until(lambda: not alive(tree) and not list(tmp_path.iterdir()), "its end", 5.0)


def test_steps_come_in_their_order(tmp_path):
    """What prepares comes before it runs, what fills when it is ready; words are filled in."""
    service = written(
        tmp_path,
        """
prepare = [["sh", "-c", "echo {greeting} prepared >> {folder}/steps"]]
run = [["sh", "-c", "echo ran >> {folder}/steps; exec sleep 60"]]
ready = ["grep", "-q", "ran", "{folder}/steps"]
fill = [["sh", "-c", "echo filled >> {folder}/steps"]]
version = ["sh", "-c", "echo made 1.0; echo of something"]
words = { greeting = "well" }
environment = { STEPS = "{folder}/steps" }
""",
    )
    with running([service], None) as (started,):
        steps = Path(os.environ["STEPS"])
        assert steps.read_text().splitlines() == ["well prepared", "ran", "filled"]
        assert started.service.release == "made 1.0"
    assert not steps.exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('run = [["sh", "-c", "echo no room >&2; exit 7"]]\nready = "http"', "exit status 7"),
        ('run = [["no-such-program"]]\nready = "http"', "No such file"),
        (
            f'{SLEEPS}\nprepare = [["sh", "-c", "echo no room; exit 3"]]',
            "exit status 3",
        ),
        ('run = [["sleep", "60"]]\nready = ["sh", "-c", "exit 4"]', "exit status 4"),
    ],
)
def test_one_that_does_not_start_is_named_with_its_last_words(tmp_path, monkeypatch, text, said):
    """The message has the service, what happened, and what it printed."""
    monkeypatch.setattr(backing, "DEADLINE", 0.3)
    service = written(tmp_path, text)
    with pytest.raises(BackingError) as caught, running([service], None):
        pass
    assert "backing service made: " in str(caught.value)
    assert said in str(caught.value)
    assert ("no room" in text) == ("no room" in str(caught.value))


def test_a_step_that_does_not_end_is_ended(tmp_path, monkeypatch):
    """It has its time, and is said to have used it up."""
    monkeypatch.setattr(backing, "STEP", 0.2)
    service = written(tmp_path, f'{SLEEPS}\nprepare = [["sleep", "60"]]')
    with (
        pytest.raises(BackingError, match=r"sleep took more than 0\.2 s"),
        running([service], None),
    ):
        pass


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may choose a user")
def test_it_runs_as_the_user_that_it_wants(tmp_path):
    """Its folder is that user's, too; who asks it and fills it stays the lab's user."""
    service = written(
        tmp_path,
        """
user = "nobody"
prepare = [["sh", "-c", "id -un > {folder}/prepared"]]
run = [["sh", "-c", "id -un > {folder}/ran; exec sleep 60"]]
ready = ["test", "-s", "{folder}/ran"]
fill = [["sh", "-c", "id -un > {folder}/filled"]]
environment = { MADE = "{folder}" }
""",
    )
    with running([service], None):
        made = Path(os.environ["MADE"])
        names = [(made / file_name).read_text() for file_name in ("prepared", "ran", "filled")]
    assert names == ["nobody\n", "nobody\n", "root\n"]


def test_one_of_the_user_s_is_left_alone(monkeypatch, tmp_path):
    """Where its variable is set nothing is started, and servers inherit it as it is."""
    monkeypatch.setenv("MADE_URL", "mongodb://theirs/")
    text = 'run = [["no-such-program"]]\nready = "http"\nurl = "MADE_URL"'
    with running([written(tmp_path, text)], None) as started:
        assert started == ()
        assert os.environ["MADE_URL"] == "mongodb://theirs/"


def test_sigterm_ends_the_upstream_with_0():
    """It stops when it is asked to."""
    with running([read(UPSTREAM)], None) as (service,):
        assert service._process.stop() == 0
        assert not listens(service._process.endpoint.port)
