"""What the image's health check and the probes run, against real servers."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic, sleep

import pytest

from lab import profiles
from lab.analysis.observations import workload_of
from lab.servers import adapter
from lab.servers.ports import free_port
from lab.workloads import workload
from tests.deploy.conftest import ROOT


def healthy(*arguments, **environment):
    """Run it as an orchestrator does; return its status and what it says."""
    done = subprocess.run(
        [sys.executable, ROOT / "app/healthy.py", *arguments],
        env={"PATH": os.environ["PATH"]} | environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.fixture(scope="module", params=["tuned", "production"])
def where(request):
    """Return the environment of a running service: its port, or an instance's socket."""
    profile = profiles.read(request.param)
    ready = workload_of(profile, workload("fib"))
    with (
        tempfile.TemporaryDirectory() as folder,
        adapter(profile).start(profile, ready, Path(folder), None) as server,
    ):
        environment = {"PORT": str(server.endpoint.port)}
        if request.param == "production":
            # The other instance may be the one that is up.
            environment = {"SOCKET": str(Path(folder) / "a.sock")}
            deadline = monotonic() + 30
            while healthy(**environment)[0] and monotonic() < deadline:
                sleep(0.05)
        yield environment


def test_a_service_that_answers_is_healthy(where):
    """By HTTP to a port, and by uwsgi's protocol to a socket."""
    assert healthy(**where) == (0, "")


def test_it_asks_what_it_is_told_to(where):
    """A path that is not answered with 200 is a failure, with the status line."""
    assert healthy("/readyz", **where) == (0, "")
    status, said = healthy("/nothing", **where)
    assert status == 1
    assert "400 BAD REQUEST" in said


def test_a_master_is_alive_whatever_its_workers_do(where):
    """An instance whose statistics are answered; without one, nothing is alive."""
    if "SOCKET" in where:
        assert healthy("master", **where) == (0, "")
        status, said = healthy("master", SOCKET=where["SOCKET"] + ".gone")
        assert (status, said.partition(":")[0]) == (1, "no answer")


def test_no_server_is_not_healthy(tmp_path):
    """Where nothing listens, it says so."""
    status, said = healthy(PORT=str(free_port()))
    assert (status, said.partition(":")[0]) == (1, "no answer")
    status, said = healthy(SOCKET=str(tmp_path / "a.sock"))
    assert (status, said.partition(":")[0]) == (1, "no answer")
