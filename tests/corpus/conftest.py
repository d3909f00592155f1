"""The corpus, and the servers that it is played to: once for all tests of this folder."""

import pytest

from lab.model.request import Expectation
from lab.model.workload import Workload
from tests.corpus.corpus import read
from tests.corpus.stand import stand
from tests.kit.lab_process import SITES
from tests.kit.running import read_installed, running

CORPUS = {request.name: request for request in read()}


@pytest.fixture(scope="package")
def corpus():
    """Return all requests."""
    return tuple(CORPUS.values())


@pytest.fixture(scope="package")
def front():
    """Run the production stack: nginx in front of two instances. Skip where that is missing."""
    read_installed("production")
    with stand("production", workers=2) as server:
        yield server


@pytest.fixture(scope="package")
def direct():
    """Run `tuned`: the same application on uWSGI's http-socket, nothing in front."""
    with stand("tuned") as server:
        yield server


@pytest.fixture(scope="package")
def tuned_that_tells():
    """Run `tuned` with an application that answers with what it sees of its client."""
    expect = Expectation(pattern="url_scheme")
    site = Workload("journal", "/", expect, "journal:application", SITES)
    with running("tuned", site) as server:
        yield server
