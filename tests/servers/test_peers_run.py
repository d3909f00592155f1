"""Every peer for real, with each of its workloads: it starts, answers, stops, and is gone."""

import re
import time
from contextlib import suppress
from functools import partial

import psutil
import pytest

from lab.bench import workloads
from lab.bench.machine import project
from lab.bench.profiles.backing import needed
from lab.bench.servers.backing import running
from lab.bench.servers.ports import served
from lab.bench.servers.runner import ServerRunner
from lab.bench.trials.available import look, unserved
from lab.bench.trials.plan import arm_of
from lab.model.plan import Load
from tests.kit.descriptions import descriptions
from tests.kit.environments import empty_home
from tests.kit.lab_process import alive, descendants, until
from tests.kit.running import answer, read_installed

pytestmark = pytest.mark.peers

PEERS = [descriptions()[path.stem] for path in sorted(project.peers().glob("*.toml"))]
ASKED = [workloads.read(name).workload for name in workloads.find()]
PAIRS = {
    f"{profile.name}-{workload.name}": (profile.name, workload)
    for profile in PEERS
    for workload in ASKED
    if unserved(profile, workload) is None
}

TAKES = re.compile(r"\((make (databases|peers|setup)|pip install|apt-get)|needs Python ")
"""In the reason why a peer is not here."""


def idle(pid, before):
    """Whether no process came, went or ran since it was asked last, at least 0.3 seconds ago."""
    now = {}
    for process in descendants(pid):
        with suppress(psutil.NoSuchProcess):
            now[process.pid] = process.cpu_times()[:2]
    if now == before.get("state"):
        return time.monotonic() - before["since"] > 0.3
    before |= {"state": now, "since": time.monotonic()}
    return False


@pytest.mark.parametrize(("name", "asked"), PAIRS.values(), ids=PAIRS)
def test_a_peer_serves_its_workload(name, asked, tmp_path, monkeypatch):
    """
    The right reply, an end by SIGTERM alone, and neither process nor listener afterwards.

    Nor anything in the user's home, where a server of theirs may have its own.
    """
    home = empty_home(tmp_path, monkeypatch)
    # Longer than the lab waits: gunicorn's eventlet workers take three seconds where nothing runs.
    monkeypatch.setattr("lab.bench.servers.process.STOP_DEADLINE", 20.0)
    profile = read_installed(name)
    workload = arm_of(profile, asked, Load()).workload
    ServerRunner().check(profile)
    with (
        running(needed(workload, [profile]), None),
        ServerRunner().start(profile, workload, tmp_path, None) as server,
    ):
        came, wanted = answer(server.endpoint, workload)
        assert came == wanted
        tree = [psutil.Process(server.pid), *descendants(server.pid)]
        assert len(tree) > len(profile.commands)
        until(partial(idle, server.pid, {}), "the start of all its workers")
        server.stop()
        ends = [server._statuses.get(place) for place in range(len(profile.commands))]
        assert set(ends) <= {0, -15}, f"{ends}\n{server.log_tail()}"
    assert alive(tree) == []
    assert not served(server.endpoint)
    compilers = {".cache", ".config"} if profile.peer.build else set()  # where go counts its calls
    assert {path.name for path in home.iterdir()} <= compilers


def test_a_peer_that_is_missing_says_what_it_takes():
    """What to install and how, or which Python it runs on."""
    reasons = {profile.name: look(profile.name).missing for profile in PEERS}
    unsaid = {name: why for name, why in reasons.items() if why and not TAKES.search(why)}
    assert unsaid == {}


def test_every_peer_is_asked_something():
    """None is there that no workload of ours can be served by."""
    assert {profile.name for profile in PEERS} == {name for name, _ in PAIRS.values()}
