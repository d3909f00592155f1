"""Servers started for a test."""

import json

import pytest

from lab.bench import profiles
from lab.bench.servers.runner import ServerRunner
from lab.model.request import Expectation
from lab.model.workload import Workload
from tests.kit.lab_process import SITES


def fibonacci_body(limit):
    """Return what /limit must answer, by the recurrence."""
    a, b, terms = 0, 1, []
    while a < limit:
        terms.append(a)
        a, b = b, a + b
    return str([*terms, a]).encode()


FIB = Workload("fib", "/9000", Expectation(body=fibonacci_body(9000)))


def site(app, path, **expect):
    """Return a workload of one of the applications in tests/sites."""
    return Workload(app, path, Expectation(**expect), app=app, chdir=SITES)


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a profile by name, for a `with`."""

    def start(name, workload=FIB, cores=None):
        profile = profiles.read(name)
        return ServerRunner().start(profile, workload, tmp_path, cores)

    return start


@pytest.fixture
def start_peer(tmp_path):
    """Return a function that starts a peer of the words of its command, for a `with`."""

    def start(workload, *words):
        path = tmp_path / "own.toml"
        path.write_text(f'summary = "Own"\nrun = [{json.dumps([*map(str, words)])}]\n')
        profile = profiles.read(str(path))
        return ServerRunner().start(profile, workload, tmp_path, None)

    return start
