"""Tests side by side, as `make test` runs them: how many at once, and which ones run alone."""

from __future__ import annotations

import ctypes
import fcntl
import gc
import os
import signal
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

# What is started inherits what nohup and a shell's & ignore.
for ignored, default in (
    (signal.SIGHUP, signal.SIG_DFL),
    (signal.SIGINT, signal.default_int_handler),
):
    if signal.getsignal(ignored) is signal.SIG_IGN:
        signal.signal(ignored, default)

gc.disable()  # until all tests are collected: what is made before then stays

MOST = 8
"""Workers at the most: each takes 450 MB, a `lab` included, and five seconds of CPU to collect."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return what `-n auto` means: two for each CPU, as most tests wait for a server."""
    return min(2 * len(os.sched_getaffinity(0)), MOST)


def pytest_configure(config: pytest.Config) -> None:
    """Take from all tests but those of `make test-slowed` the right to slow a server down."""
    if config.getoption("markexpr") != "slowed" and os.geteuid() == 0:
        drop_capability(CAP_SYS_NICE)


CAP_SYS_NICE = 23  # linux/capability.h
PR_CAPBSET_DROP = 24  # linux/prctl.h
VERSION = 0x20080522  # of capset(2)


def drop_capability(number: int) -> None:
    """Give up a capability of this process and of all that it starts."""
    libc = ctypes.CDLL(None)
    header, data = (ctypes.c_uint32 * 2)(VERSION, 0), (ctypes.c_uint32 * 6)()
    libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)
    libc.capget(header, data)
    for part in range(3):  # effective, permitted, inheritable
        data[part] &= ~(1 << number)
    libc.capset(header, data)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that run alone: one after the other, they make the others wait once."""
    items.sort(key=lambda item: not _is_alone(item))


def pytest_collection_finish() -> None:
    """Let the collector of garbage look only at what tests make."""
    gc.freeze()
    gc.enable()


def _is_alone(item: pytest.Item | None) -> bool:
    return item is not None and item.get_closest_marker("alone") is not None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Let a test that is marked `alone` wait for the others, and those wait for it."""
    several = hasattr(item.config, "workerinput")
    if several and not _held:
        # Who waits for the room stands in the door, so that nobody overtakes.
        with _locked(DOOR, fcntl.LOCK_EX):
            _held.append(room := ExitStack())
            room.enter_context(_locked(ROOM, fcntl.LOCK_EX if _is_alone(item) else fcntl.LOCK_SH))
    try:
        return (yield)
    finally:
        if several and not (_is_alone(item) and _is_alone(nextitem)):
            _held.pop().close()


_held: list[ExitStack] = []
"""The room, while this worker has it: for a test, or for all that run alone one after the other."""


@contextmanager
def _locked(path: Path, how: int) -> Iterator[None]:
    with path.open("rb") as file:
        fcntl.flock(file, how)
        try:
            yield
        finally:  # not by closing alone: a child that was forked may have it open still
            fcntl.flock(file, fcntl.LOCK_UN)
