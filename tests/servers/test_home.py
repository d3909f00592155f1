"""
Servers touch nothing in the user's home, where one in production may have its socket.

These come with the lab; tests/servers/test_peers_run.py asserts the same of every other peer.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import psutil
import pytest

from lab.bench.servers.runner import ServerRunner
from lab.bench.trials.plan import arm_of
from lab.bench.workloads import workload
from lab.config.command import profile_of
from lab.model.plan import Load
from lab.model.profile import Profile
from lab.model.runtime import Runtime, Variables
from lab.model.workload import Workload
from tests.kit.environments import empty_home
from tests.kit.lab_process import descendants, until
from tests.kit.running import answer, read_installed

PEERS = (
    *("gunicorn-sync", "gunicorn-sync-2", "gunicorn-sync-6", "gunicorn-gthread", "gunicorn-gevent"),
    *("nginx-gunicorn", "nginx-gunicorn-tcp", "nginx-gunicorn-gthread", "nginx-gunicorn-gevent"),
    *("granian", "nginx-granian", "balanced-nginx", "tuned"),
)
COMMANDS = ("gunicorn app.wsgi:app", "granian --interface wsgi app.wsgi:app")


def run(profile: Profile, trial_workload: Workload, folder: Path, at: Path | None = None) -> None:
    """Start a profile, ask it, and stop it when gunicorn has made its socket, in *at*."""
    folder.mkdir()
    trial_workload = arm_of(profile, trial_workload, Load()).workload
    with ServerRunner().start(profile, trial_workload, folder, None) as server:
        came, wanted = answer(server.endpoint, trial_workload)
        assert wanted in (None, came)
        tree = [psutil.Process(server.pid), *descendants(server.pid)]
        if any("gunicorn" in command for command in profile.commands):
            made = until(partial(controlled, tree), "gunicorn's control socket")
            assert {path.parent for path in made} == {at or folder}


def controlled(tree: list[psutil.Process]) -> list[Path]:
    """Return where control sockets are, by the kernel: wherever they may have been put."""
    addresses = (
        connection.laddr for one in tree for connection in one.net_connections(kind="unix")
    )
    return [Path(address) for address in addresses if address.endswith("gunicorn.ctl")]


@pytest.mark.costly
@pytest.mark.parametrize("name", PEERS)
def test_a_profile_leaves_the_home_as_it_was(name, tmp_path, monkeypatch):
    """A home without anything in it is still empty when the server has answered."""
    home = empty_home(tmp_path, monkeypatch)
    run(read_installed(name), workload(), tmp_path / "trial")
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_users_leaves_the_home_as_it_was(command, tmp_path, monkeypatch):
    """As well as a profile of this project."""
    home = empty_home(tmp_path, monkeypatch)
    run(profile_of(command), workload(profile_names_app=True), tmp_path / "trial")
    assert list(home.iterdir()) == []


def test_a_folder_that_the_user_names_stays(tmp_path, monkeypatch):
    """Who gives XDG_RUNTIME_DIR by --env means it: the application may look for a socket there."""
    home = empty_home(tmp_path, monkeypatch)
    given = Runtime(variables=Variables.of({"XDG_RUNTIME_DIR": str(home)}, ""))
    trial_workload = replace(workload(profile_names_app=True), runtime=given)
    run(profile_of(COMMANDS[0]), trial_workload, tmp_path / "trial", at=home)
