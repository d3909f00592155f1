"""Every profile of ours for real: it starts, answers, stops, and is gone."""

import os
import shutil
import subprocess
from contextlib import contextmanager

import psutil
import pytest

from lab.bench import profiles, workloads
from lab.bench.machine import project
from lab.bench.servers.fetch import fetch
from lab.bench.servers.ports import free_port, listens
from lab.bench.trials.available import unserved
from lab.bench.trials.plan import arm_of
from lab.model.plan import Load
from lab.model.protocols import Endpoint
from tests.kit.lab_process import BIN, ROOT, alive, descendants, until
from tests.kit.running import answer, read_installed

from .conftest import FIB

PEERS = {path.stem for path in project.peers().glob("*.toml")}


@pytest.mark.parametrize("name", [name for name in profiles.find() if name not in PEERS])
def test_profile(start, name):
    """The profile answers what it serves, and leaves neither process nor listener behind."""
    profile = read_installed(name)
    all_workloads = (
        FIB,
        *(workloads.read(workload_name).workload for workload_name in workloads.find()),
    )
    served = next(candidate for candidate in all_workloads if unserved(profile, candidate) is None)
    workload = arm_of(profile, served, Load()).workload
    with start(name, workload) as server:
        assert server.ended() is None
        came, wanted = answer(server.endpoint, workload)
        assert came == wanted
        tree = [psutil.Process(server.pid), *descendants(server.pid)]
        assert len(tree) > 1
    assert alive(tree) == []
    assert not listens(server.endpoint.port)


@contextmanager
def running(*command, cwd, **variables):
    """Run uWSGI as a user does, without the lab; yield it and where it answers."""
    endpoint = Endpoint(variables.get("BIND", "127.0.0.1"), free_port())
    environment = os.environ | variables | {"PORT": str(endpoint.port)}
    process = psutil.Popen(
        (BIN / "uwsgi", *command), cwd=cwd, env=environment, stderr=subprocess.DEVNULL
    )
    try:
        until(lambda: listens(endpoint.port), "a listener")
        yield process, endpoint
    finally:
        tree = [process, *descendants(process.pid)]
        process.terminate()
        process.wait(60)
        until(lambda: not alive(tree), "the end of all its processes")


def test_from_another_folder(tmp_path):
    """`uwsgi PATH/tuned.ini` serves from any folder, where BIND and PORT say."""
    tuned = str(project.profiles() / "tuned.ini")
    with running(tuned, cwd=tmp_path, BIND="127.0.0.2") as (_, endpoint):
        assert fetch(endpoint, "/9000", 5.0)[2] == FIB.expect.body
        with pytest.raises(ConnectionRefusedError):
            fetch(Endpoint("127.0.0.1", endpoint.port), "/9000", 5.0)


def test_without_the_lab(tmp_path):
    """The service runs without lab/: `uwsgi profiles/tuned.ini` needs only its own folders."""
    bytecode = shutil.ignore_patterns("__pycache__")  # written anew at any time
    for part in ("app", "fib", "uwsgi", "profiles"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=bytecode)
    with running("profiles/tuned.ini", cwd=tmp_path) as (process, endpoint):
        assert fetch(endpoint, "/9000", 5.0)[2] == FIB.expect.body
        assert process.cwd() == str(tmp_path)
