"""Tests side by side, as `make test` runs them: how many at once, and which ones run alone."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

if sys.version_info >= (3, 15):
    # gevent 26.9 records where a greenlet begins, and uWSGI's plug-in begins one outside any frame.
    os.environ["GEVENT_TRACK_GREENLET_TREE"] = "0"

ROOM, DOOR = Path(__file__), Path(__file__).with_name("__init__.py")
"""Files that are there, to be locked: nothing is written, and nothing has to be removed."""

MOST = 8
"""Workers at the most: each takes 450 MB, with its `lab`, and five seconds of CPU to collect tests."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return what `-n auto` means: two for each CPU, as most tests wait for a server."""
    return min(2 * len(os.sched_getaffinity(0)), MOST)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let a test that is marked `alone` wait for the others, and those wait for it."""
    with ExitStack() as held:
        if hasattr(item.config, "workerinput"):  # one of several workers
            alone = item.get_closest_marker("alone")
            # Who waits for the room stands in the door, so that nobody overtakes.
            with _locked(DOOR, fcntl.LOCK_EX):
                held.enter_context(_locked(ROOM, fcntl.LOCK_EX if alone else fcntl.LOCK_SH))
        return (yield)


@contextmanager
def _locked(path: Path, how: int) -> Iterator[None]:
    with path.open("rb") as file:
        fcntl.flock(file, how)
        try:
            yield
        finally:  # not by closing alone: a child that was forked may have it open still
            fcntl.flock(file, fcntl.LOCK_UN)
