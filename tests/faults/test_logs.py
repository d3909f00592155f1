"""A log that nobody reads does not stop the service."""

import fcntl
import os
import signal
import time
from contextlib import suppress

import pytest

from lab.bench.machine import project
from lab.bench.servers.ports import HOST, free_port
from lab.model.protocols import Endpoint
from tests.kit.lab_process import alive, cpu_of, until

from .applications import LINE
from .parts import Parts, serving, wait_until_right
from .prober import Clients
from .stacks import application, ends_on_sigterm

LOGGING, PRINTING = application("logging_app"), application("printing_app")

PIPE = 4096
"""Bytes that a log's pipe holds: the smallest there is, so that it is full at once."""

REQUESTS = 1500

DEADLINE = 20.0
"""Seconds for what takes about one; a master that waits for a reader never does it."""


@pytest.fixture
def pipes():
    """
    Return the reading and the writing ends of two pipes; the test may remove and close the first.

    One for standard output and one for standard error, as a container has: not waiting for the
    reader is a property of the pipe, so of one pipe for both either would do.
    """
    readers, writers = ends = tuple(map(list, zip(os.pipe(), os.pipe(), strict=True)))
    for writer in writers:
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE)
    yield ends
    for descriptor in (*readers, *writers):
        os.close(descriptor)


def asked(parts):
    """Ask so often that the log has many times what the pipe and its buffers hold."""
    with Clients(parts.address, LOGGING.path, LOGGING.expect.body, threads=4) as clients:
        clients.wait_for(REQUESTS)
    return clients


def fill(writer):
    """Write to a pipe until it is full; whether its other writers wait is left as it is."""
    descriptor = os.open(f"/proc/self/fd/{writer}", os.O_WRONLY | os.O_NONBLOCK)
    try:
        with suppress(BlockingIOError):
            while True:
                os.write(descriptor, b".")
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("load", [LOGGING, PRINTING], ids=lambda load: load.name)
def test_unread_log(tmp_path, pipes, load):
    """With its log going to pipes that nobody reads, every request is answered."""
    (reader, _), writers = pipes
    assert REQUESTS * len(LINE) > 5 * 65536
    with Parts(tmp_path, load, writers) as parts:
        parts.wait_until_right()
        clients = asked(parts)
        assert len(os.read(reader, PIPE)) > PIPE / 2  # it was full, not shut
        assert clients.failed == []


def test_unread_log_holds_up_nothing_else(tmp_path, pipes):
    """With an unread log, too, a worker is replaced, SIGTERM ends an instance, and it starts."""
    _, writers = pipes
    with Parts(tmp_path, LOGGING, writers) as parts:
        parts.wait_until_right()
        asked(parts)
        instance = parts.instances["a"]
        victim, *_ = before = instance.workers()
        os.kill(victim, signal.SIGKILL)

        def replaced():
            now = instance.workers()
            return len(now) == len(before) and victim not in now and all(map(ends_on_sigterm, now))

        until(replaced, "a new worker", DEADLINE)
        assert parts.stop("a", DEADLINE) == 0
        # Its first words go to standard error, before it can ask for anything. That the pipe does
        # not hold them up is from the start before, as long as the supervisor keeps the pipe.
        fill(writers[1])
        parts.start("a")


def test_log_whose_reader_left(tmp_path, pipes):
    """When the log's reader has gone, every request is answered, and nobody spins."""
    readers, writers = pipes
    with Parts(tmp_path, LOGGING, writers) as parts:
        parts.wait_until_right()
        while readers:
            os.close(readers.pop())
        clients = asked(parts)
        assert clients.failed == []
        tree = parts.tree()
        began, before = time.monotonic(), cpu_of(tree)
        time.sleep(1.0)
        share = (cpu_of(tree) - before) / (time.monotonic() - began)
        assert share < 0.3  # a worker that spins takes as much as it gets
        assert alive(tree) == tree


@pytest.fixture(params=[pytest.param("safety", marks=pytest.mark.slow), "tuned"])
def alone(request, pipes):
    """Return one profile by itself, which logs each request, and where it answers."""
    endpoint = Endpoint(HOST, free_port())
    variables = {"PORT": str(endpoint.port), "PROCESSES": "2"}
    variables |= {"WSGI_APP": LOGGING.app, "WSGI_CHDIR": str(LOGGING.chdir)}

    with serving(project.profiles() / f"{request.param}.ini", *pipes[1], **variables) as process:
        wait_until_right(endpoint, LOGGING)
        yield process, endpoint


def test_unread_log_without_nginx(alone):
    """`safety` and `tuned`, too, answer while nobody reads their log, and obey SIGTERM."""
    process, endpoint = alone
    with Clients((endpoint.host, endpoint.port), LOGGING.path, LOGGING.expect.body) as clients:
        clients.wait_for(REQUESTS)
    assert clients.failed == []
    process.send_signal(signal.SIGTERM)
    assert process.wait(DEADLINE) == 0
