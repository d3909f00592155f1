"""Where threads wait, as /proc tells it."""

from __future__ import annotations

import os
import platform
import socket
import threading

import pytest

from lab.bench.probes import waits
from lab.bench.probes.sock_diag import SocketDiagnosis
from lab.bench.probes.waits import ThreadWaits
from tests.kit.cases import cases
from tests.kit.lab_process import until

pytestmark = pytest.mark.skipif(not waits.CALLS, reason=f"{platform.machine()} is not known")


def places_of(port):
    """Return where the threads of this process are; skip if that may not be seen."""
    with SocketDiagnosis() as diagnosis:
        thread_waits = ThreadWaits(port, diagnosis)
        thread_waits.sample([os.getpid()])
    if thread_waits.refused:
        pytest.skip("this user may not see where threads wait")
    return dict(thread_waits.of(os.getpid())), thread_waits


@cases(
    "family, address, peer, shown",
    [
        (socket.AF_INET, "127.0.0.1", "127.0.0.1", "127.0.0.1"),
        (socket.AF_INET, "127.0.0.1", "::ffff:127.0.0.1", "127.0.0.1"),
        (socket.AF_INET6, "::1", "::1", "[::1]"),
    ],
)
def test_a_thread_that_receives_is_named_with_its_peer(family, address, peer, shown):
    """And a peer at the port of the server is a client, which is not named."""
    try:
        server = socket.create_server((address, 0), family=family)
    except OSError:
        return  # without IPv6
    port = server.getsockname()[1]
    with server, socket.create_connection((peer, port)) as ours:
        theirs = server.accept()[0]
        thread = threading.Thread(target=ours.recv, args=(1,))
        thread.start()
        try:
            until(lambda: places_of(0)[0].get(f"recv from {shown}:{port}") == 1, "the thread")
            _, thread_waits = places_of(0)
            assert thread_waits.awaited(1) == f"{shown}:{port}"
            assert thread_waits.awaited(2) == ""
            client = ours.getsockname()[1]
            assert places_of(client)[0]["recv from a client"] == 1
        finally:
            theirs.sendall(b"x")
            thread.join()
            theirs.close()


def test_a_user_without_rights_is_told_so(monkeypatch):
    """And a machine whose numbers are not known."""
    monkeypatch.setattr(waits, "CALLS", {})
    with SocketDiagnosis() as diagnosis:
        thread_waits = ThreadWaits(0, diagnosis)
    thread_waits.sample([os.getpid()])
    assert (thread_waits.refused, thread_waits.of(os.getpid())) == (True, [])
