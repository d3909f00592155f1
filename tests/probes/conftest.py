"""What several probes' tests need."""

from __future__ import annotations

import pytest

from lab.servers import ports


@pytest.fixture
def free_port():
    """Return a port that was free a moment ago."""
    return ports.free_port()
