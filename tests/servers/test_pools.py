"""A pool of database connections that has more clients than connections: who waits for whom."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from lab.bench.machine import project
from lab.bench.profiles.backing import missing, read
from lab.bench.servers import backing
from lab.bench.trials.plan import arm_of
from lab.bench.workloads import workload
from lab.model.plan import Load
from tests.kit.running import read_installed, running

pytestmark = pytest.mark.peers

CLIENTS, REQUESTS = 100, 60
"""Clients at once, ten times the connections of the pool, and requests of each."""


async def ask(address, number, order):
    """Ask as often as a client does, on one connection, and add its number for each reply."""
    reader, writer = await asyncio.open_connection(*address)
    for _ in range(REQUESTS):
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 "), head
        fields = dict(line.split(b": ", 1) for line in head.lower().split(b"\r\n")[1:-2])
        await reader.readexactly(int(fields[b"content-length"]))
        order.append(number)
    writer.close()


def overtaken(address):
    """Return how many replies came, at most, between two of one client."""
    order = []

    async def load():
        async with asyncio.timeout(60), asyncio.TaskGroup() as clients:
            for number in range(CLIENTS):
                clients.create_task(ask(address, number, order))

    asyncio.run(load())
    places = ([i for i, client in enumerate(order) if client == n] for n in range(CLIENTS))
    return max(later - earlier for of in places for earlier, later in itertools.pairwise(of))


@pytest.mark.parametrize(
    ("profile", "fair"), [("tornado-asyncpg-pool", False), ("tornado-asyncpg-pool-in-turn", True)]
)
def test_who_waits_for_a_connection_is_overtaken_unless_there_are_turns(profile, fair):
    """In turn each client has a reply in every round or two; without, others have many more."""
    service = read(project.backing() / "postgres.toml")
    if (reason := missing(service)) is not None:
        pytest.skip(reason)
    arm = arm_of(read_installed(profile), workload("db"), Load())
    with backing.running([service], None), running(arm.profile, arm.workload) as started:
        assert (overtaken(started.address) <= 3 * CLIENTS) is fair
