"""The link of a server behind a balancer goes down: no packet arrives, and nobody is told."""

import time
from dataclasses import dataclass, replace

import pytest

from lab.model.request import Expectation
from lab.model.workload import Workload
from tests.kit.client import ask
from tests.kit.lab_process import SITES, descendants, until
from tests.kit.running import read_installed, running

from .links import hosts

pytestmark = pytest.mark.slow

BALANCERS = {
    "balanced-nginx": ("{folder}/a.sock", "{folder}/b.sock"),
    "balanced-uwsgi": ("127.0.0.2:{port}", "127.0.0.3:{port}"),
}
"""Profiles, and where on one machine their instances are asked."""

INSTANCES = "{folder}/instances"
"""Where on one machine they announce themselves."""

TELLING = Workload("telling", "/", Expectation(pattern=r"^\d+$"), "telling:application", SITES)

PORT, ANNOUNCED = 3031, 3030
"""Where an instance is asked, and where it announces itself: ports of the test's own network."""

BOUND = 5.0
"""Seconds for a reply: the profiles' connect timeout is 1, uWSGI's and nginx's own are 60."""

ASKED = 20
"""Requests; every other one would have been the lost instance's."""


@dataclass
class Reply:
    """What a client saw of one request."""

    right: bool
    worker: int
    """Process that answered."""
    took: float
    """Seconds."""


@pytest.fixture
def network():
    """Return two hosts; skip the test where there can be none."""
    with hosts(2) as two_hosts:
        yield two_hosts


def apart(name, places):
    """Return a balanced profile whose instances are on hosts of their own, asked over TCP."""
    profile = read_installed(name)
    front, *instances = profile.commands
    moved, replaced = [], []
    for words, instance_address, host in zip(instances, BALANCERS[name], places, strict=True):
        here, there = f"{host.address}:{PORT}", f"{host.address[:-1]}1:{ANNOUNCED}"
        changed = (word.replace(instance_address, here).replace(INSTANCES, there) for word in words)
        moved.append((*host.inside, *changed))
        replaced.append((f"unix:{instance_address}", here))
    front = tuple(word.replace(INSTANCES, f"0.0.0.0:{ANNOUNCED}") for word in front)
    replaced = tuple(replaced) if profile.peer.fill else ()
    peer = replace(profile.peer, commands=(front, *moved), replace=replaced)
    return replace(profile, peer=peer)


@pytest.fixture(params=BALANCERS)
def stack(request, network, tmp_path):
    """Run a balancer before two instances, each of which has answered; yield where, and who."""
    with running(apart(request.param, network), TELLING, tmp_path) as server:
        trees = [
            lambda pid=pid: {process.pid for process in descendants(pid)}
            for pid, _ in server.server.commands[1:]
        ]
        for tree in trees:
            until(lambda tree=tree: asked(server).worker in tree(), "an answer of each instance")
        yield server, trees


def asked(server):
    """Ask once."""
    began = time.monotonic()
    reply = ask(server.address)
    right = reply.status == 200 and reply.body.isdigit()
    return Reply(right, int(reply.body) if right else 0, time.monotonic() - began)


def test_without_its_link_an_instance_costs_nobody_the_reply(stack, network):
    """Each is right, comes within a bounded time, and is the other instance's."""
    server, (_, other) = stack
    network[0].ip("link set dev eth0 down")
    replies = [asked(server) for _ in range(ASKED)]
    assert [reply for reply in replies if not reply.right] == []
    assert {reply.worker for reply in replies} <= other()
    assert max(reply.took for reply in replies) < BOUND


def test_with_its_link_up_again_an_instance_serves_again(stack, network):
    """Nobody has to do anything; until it does, the other one answers."""
    server, (lost, _) = stack
    network[0].ip("link set dev eth0 down")
    replies = [asked(server) for _ in range(ASKED)]
    network[0].ip("link set dev eth0 up")

    def returned():
        replies.append(asked(server))
        return replies[-1].worker in lost()

    until(returned, "its return")
    assert all(reply.right for reply in replies)
    assert max(reply.took for reply in replies) < BOUND
