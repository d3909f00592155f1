"""A log that nobody reads does not stop the service."""

import fcntl
import os
import signal
import time

import pytest

from tests.lab_process import alive, until

from .applications import LINE
from .parts import Parts
from .prober import Clients
from .stacks import application

LOGGING, PRINTING = application("logging_app"), application("printing_app")

PIPE = 4096
"""Bytes that the log's pipe holds: the smallest there is, so that it is full at once."""

REQUESTS = 1500

DEADLINE = 20.0
"""Seconds for what takes about one; a master that waits for a reader never does it."""


@pytest.fixture
def pipe():
    """Return both ends of a pipe, as file descriptors; the test may close the first."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE)
    ends = {reader, writer}
    yield reader, writer, ends
    for each in ends:
        os.close(each)


def asked(parts):
    """Ask so often that the log has many times what the pipe and its buffers hold."""
    with Clients(parts.address, LOGGING.path, LOGGING.expect.body, threads=4) as clients:
        clients.wait_for(REQUESTS)
    return clients


def used(processes):
    """Return the CPU seconds that they have used."""
    times = [each.cpu_times() for each in processes]
    return sum(each.user + each.system for each in times)


@pytest.mark.parametrize("load", [LOGGING, PRINTING], ids=lambda load: load.name)
def test_unread_log(tmp_path, pipe, load):
    """With its log going to a pipe that nobody reads, every request is answered."""
    reader, writer, _ = pipe
    assert REQUESTS * len(LINE) > 5 * 65536
    with Parts(tmp_path, load, writer) as parts:
        parts.wait_until_right()
        clients = asked(parts)
        assert len(os.read(reader, PIPE)) > PIPE / 2  # it was full, not shut
        assert clients.failed == []


def test_unread_log_holds_up_nothing_else(tmp_path, pipe):
    """With an unread log, too, a killed worker is replaced, and SIGTERM ends an instance."""
    _, writer, _ = pipe
    with Parts(tmp_path, LOGGING, writer) as parts:
        parts.wait_until_right()
        asked(parts)
        instance = parts.instances["a"]
        victim, *_ = before = instance.workers()
        os.kill(victim, signal.SIGKILL)

        def replaced():
            now = instance.workers()
            return len(now) == len(before) and victim not in now

        until(replaced, "a new worker", DEADLINE)
        assert parts.stop("a", DEADLINE) == 0


def test_log_whose_reader_left(tmp_path, pipe):
    """When the log's reader has gone, every request is answered, and nobody spins."""
    reader, writer, ends = pipe
    with Parts(tmp_path, LOGGING, writer) as parts:
        parts.wait_until_right()
        os.close(reader)
        ends.remove(reader)
        clients = asked(parts)
        assert clients.failed == []
        tree = parts.tree()
        began, before = time.monotonic(), used(tree)
        time.sleep(1.0)
        share = (used(tree) - before) / (time.monotonic() - began)
        assert share < 0.3  # a worker that spins takes as much as it gets
        assert alive(tree) == tree
