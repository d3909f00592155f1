"""Servers started for a test, and looking for what they left."""

import time
from pathlib import Path

import psutil
import pytest

from lab import profiles
from lab.model import Expectation, Workload
from lab.servers import adapter

SITES = Path(__file__).parent.parent / "sites"


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


def until(condition, seconds=5.0):
    """Wait until *condition* holds; say whether it did."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def exists(pid):
    """Return whether a process lives; a zombie does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a profile by name, for a `with`."""

    def start(name, workload=FIB, cores=None):
        profile = profiles.read(name)
        return adapter(profile).start(profile, workload, tmp_path, cores)

    return start
