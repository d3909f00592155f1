"""The databases that `make databases` has unpacked: they run for a run alone, and leave nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from lab.bench.machine import project
from lab.bench.profiles.backing import missing, read
from lab.bench.servers.backing import running
from tests.kit.lab_process import ROOT, alive, descendants, until
from tests.servers.test_backing import HOLDER

pytestmark = pytest.mark.peers


@pytest.fixture(params=["postgres", "mariadb", "mongodb"])
def service(request, monkeypatch):
    """Return a database; skip the test where its programs are not there."""
    monkeypatch.delenv("MONGODB_URL", raising=False)
    database = read(project.backing() / f"{request.param}.toml")
    if (reason := missing(database)) is not None:
        pytest.skip(reason)
    return database


def shared_memory():
    """Return the files of shared memory that PostgreSQL has here."""
    return set(Path("/dev/shm").glob("PostgreSQL*"))


@pytest.fixture
def open_folder(monkeypatch):
    """Return the folder for temporary files; one of pytest's is closed to a database's user."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


def test_a_database_is_there_for_a_run_alone(service):
    """It says its version, answers, and listens for this machine alone."""
    with running([service], None) as (started,):
        assert started.service.release
        tree = descendants(started.pid)
        open_to = {c.laddr.ip for process in tree for c in process.net_connections("inet")}
        assert open_to <= {"127.0.0.1", "::ffff:127.0.0.1"}
        if service.user:
            assert not open_to
            assert {process.uids().real for process in tree} == {os.geteuid() or 65534}
        assert not started.check()
    assert not alive(tree)


def test_a_killed_lab_leaves_no_database(service, open_folder):
    """SIGKILL of the lab: its processes, its folder and its files of shared memory are gone."""
    before = shared_memory()
    with subprocess.Popen(
        (sys.executable, "-c", HOLDER, service.name), cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as lab:
        tree = descendants(int(lab.stdout.readline()))
        assert tree
        lab.kill()
        until(lambda: not alive(tree) and not list(open_folder.iterdir()), "its end", 5.0)
    assert shared_memory() <= before
