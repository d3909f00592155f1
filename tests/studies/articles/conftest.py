"""What a test of a fact reads of its claim."""

import pytest

from studies import articles


@pytest.fixture
def holds(request) -> bool:
    """Return whether claims.toml says that the fact holds which names this test."""
    (claim,) = (each for each in articles.load() if each.test == request.node.nodeid)
    return claim.holds
