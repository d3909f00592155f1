"""What a test of a fact reads of its claim."""

import pytest

from studies import articles


@pytest.fixture
def holds(request) -> bool:
    """Return whether claims.toml says that the fact holds which names this test."""
    (claim,) = (claim for claim in articles.load() if claim.test == request.node.nodeid)
    return claim.holds
