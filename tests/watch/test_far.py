"""A server on another host, far from its clients, as its own host sees it from outside."""

from __future__ import annotations

from contextlib import ExitStack, closing

import pytest

from tests.kit.lab_process import until
from tests.kit.namespaces import entered
from tests.scale.hosts import far_apart
from tests.watch.stand import Watcher, connected, needs_diagnosis, stand

pytestmark = [needs_diagnosis, pytest.mark.slow]

CLIENTS, HELD = 10, 5
GUNICORN = ("gunicorn", "-b", "0.0.0.0:{port}", "-w", "2", "--threads", "8", "--keep-alive", "600")


@pytest.mark.parametrize("milliseconds", [1, 20, 100])
def test_the_round_trip_changes_no_figure(milliseconds, tmp_path):
    """Kept connections are idle, held requests busy, at any distance; from another namespace."""
    with ExitStack() as stack:
        server, load = stack.enter_context(far_apart(milliseconds / 1000))
        with entered(server):
            gate, port, pid = stack.enter_context(stand(tmp_path, *GUNICORN, "held"))
        with entered(load):
            clients = stack.enter_context(closing(connected((server.address, port), CLIENTS)))
        watcher = stack.enter_context(closing(Watcher(f"pid:{pid}")))
        assert (watcher.target.space, watcher.target.settings.threads) == (pid, 8)
        for _ in range(2):
            clients.send("/", CLIENTS)
            clients.receive(CLIENTS)
            until(lambda: watcher.looks(1)[0].in_flight == 0, "no request")
            clients.send("/held", HELD)
            gate.wait_for(HELD)
            for look in watcher.looks():
                assert (look.in_flight, look.in_workers(8), look.connections) == (5, 5, CLIENTS)
                assert sum(worker.busy for worker in look.workers.values()) == HELD
            gate.pass_all(HELD)
            clients.receive(HELD)
        until(lambda: watcher.looks(1)[0].in_flight == 0, "no request")
