"""A thousand clients at the same instant."""

import pytest

from lab.bench.load.process import EngineGenerator
from lab.bench.probes.sockets import SocketProbe
from lab.model.plan import Load
from lab.model.protocols import Subject
from tests.kit.running import running

from .stacks import FIB

CLIENTS = 1000
LATEST = 2_500_000
"""Microseconds: a connection that the kernel dropped twice comes again after 3 s."""

DROPS = "listener.drops"
"""Absent from readings where other programs' drops in these moments could hide ours."""

TRIES = 3


@pytest.mark.alone
def test_a_burst_is_answered_whole():
    """A thousand connections at once on `tuned`: as many right replies, and none was dropped."""
    load = Load(connections=CLIENTS, keepalive=False, requests=CLIENTS)
    with running("tuned", FIB) as tuned:
        endpoint = tuned.server.endpoint
        subject = Subject(tuned.server.pid, endpoint.port)
        probe = SocketProbe()
        for _ in range(TRIES):
            stop = probe.start(subject)
            with EngineGenerator().session(endpoint, FIB, load, None) as session:
                (window,) = session.measure(0.0)
            readings = stop()
            assert (window.ok, dict(window.errors)) == (CLIENTS, {})
            assert max(window.latency) < LATEST
            if DROPS in readings:
                break
    assert DROPS in readings, f"other programs dropped connections in each of {TRIES} bursts"
    assert readings[DROPS] == 0
