"""A thousand clients at the same instant."""

from lab import profiles
from lab.generators.process import EngineGenerator
from lab.model import Load, Subject
from lab.probes.sockets import SocketProbe
from lab.servers import adapter

from .stacks import FIB

CLIENTS = 1000
LATEST = 2_500_000
"""Microseconds: a connection that the kernel dropped twice comes again after 3 s."""


def test_a_burst_is_answered_whole(tmp_path):
    """A thousand connections at once on `tuned`: as many right replies, and none was dropped."""
    profile = profiles.read("tuned")
    load = Load(connections=CLIENTS, keepalive=False, requests=CLIENTS)
    with adapter(profile).start(profile, FIB, tmp_path, None) as server:
        subject = Subject(server.pid, server.endpoint.port)
        probe = SocketProbe()
        for _ in range(3):
            before = probe.start(subject)
            with EngineGenerator().session(server.endpoint, FIB, load, None) as session:
                (window,) = session.measure(0.0)
            readings = probe.stop(subject, before)
            # Absent where other programs' drops in these moments could hide ours.
            if "listener.drops" in readings:
                break
    assert (window.ok, dict(window.errors)) == (CLIENTS, {})
    assert max(window.latency) < LATEST
    assert readings["listener.drops"] == 0
