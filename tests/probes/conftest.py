"""What several probes' tests need."""

from __future__ import annotations

import socket

import pytest


@pytest.fixture
def free_port():
    """Return a port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
