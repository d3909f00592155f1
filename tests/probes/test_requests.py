"""Where the requests of a window are, and how they spread over the workers."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing

import pytest

from lab.bench.probes import requests, watching
from lab.bench.probes.requests import LEAST_LOOKS, LEAST_SEGMENTS, RequestProbe
from lab.bench.probes.waits import waiting_threads, waits_elsewhere
from lab.bench.servers.ports import free_port
from lab.model.protocols import Subject
from tests.kit.lab_process import descendants, until
from tests.watch.stand import connected, needs_diagnosis, stand

GUNICORN = ("gunicorn", "-b", "127.0.0.1:{port}", "-w", "2", "--threads", "2", "held")


@needs_diagnosis
def test_the_busiest_worker_and_the_places_of_requests_are_read(tmp_path, monkeypatch):
    """Of one kept connection a worker has all requests."""
    monkeypatch.setattr(watching, "LEARNING", 0)
    with (
        stand(tmp_path, *GUNICORN) as (gate, port, pid),
        closing(connected(port, 1)) as client,
        closing(connected(port, 1)) as other,
    ):
        until(lambda: len(descendants(pid)) == 2, "both workers")
        stop = RequestProbe().start(Subject(pid, port))
        looks = stop.__self__.looks
        until(lambda: looks, "the first look")
        # A look at a connection that no worker has accepted yet loses its segment.
        for _ in range(2 * LEAST_SEGMENTS):
            client.send("/", 1)
            client.receive(1)
        other.send("/held", 1)
        gate.wait_for(1)
        before = len(looks)
        until(lambda: len(looks) > before + LEAST_LOOKS, "looks")
        readings = stop()
        assert not stop.__self__.thread.is_alive()
    assert readings["workers.number"] == 2
    assert readings["workers.most"] >= LEAST_SEGMENTS / (LEAST_SEGMENTS + 2)
    assert readings["requests.read"] > 0
    assert readings["requests.in_flight"] >= readings["requests.read"]
    assert readings["requests.queued"] == 0


@needs_diagnosis
def test_a_window_that_ends_before_the_first_look_that_counts_ends_at_once(tmp_path, monkeypatch):
    """It was looked at without a pause until that look."""
    monkeypatch.setattr(watching, "LEARNING", 3600)
    with stand(tmp_path, *GUNICORN) as (_, port, pid):
        assert RequestProbe().start(Subject(pid, port))() == {}


@needs_diagnosis
def test_of_two_looks_the_workers_are_read(tmp_path, monkeypatch):
    """A look at 80 threads takes so long that there are no more; what they wait for is the same."""
    monkeypatch.setattr(watching, "LEARNING", 0)
    monkeypatch.setattr(requests, "LEAST_LOOKS", 1000)
    with stand(tmp_path, *GUNICORN) as (_, port, pid):
        until(lambda: len(descendants(pid)) == 2, "both workers")
        stop = RequestProbe().start(Subject(pid, port))
        until(lambda: stop.__self__.looks, "the first look")
        readings = stop()
    assert readings["workers.number"] == 2
    assert "workers.waiting_threads" in readings
    assert "requests.in_flight" not in readings


@pytest.mark.parametrize(
    ("program", "elsewhere"),
    [
        ("select.epoll().poll()", False),
        ("asyncio.run(asyncio.sleep(99))", False),
        ("asyncio.run(blocked())", True),
        ("time.sleep(99)", True),
    ],
)
def test_a_main_thread_waits_for_its_sockets_or_elsewhere(program, elsewhere):
    """In epoll, or in any other call."""
    lines = "import asyncio, select, time\nasync def blocked(): time.sleep(99)\n"
    with subprocess.Popen([sys.executable, "-c", lines + program]) as process:
        try:
            until(lambda: waits_elsewhere(process.pid) is elsewhere, "the call")
        finally:
            process.kill()


def test_threads_that_wait_within_a_call_are_counted():
    """Not the main one, and none that waits for a lock, as an idle thread of a pool does."""
    program = (
        "import threading, time\n"
        "lock = threading.Lock()\n"
        "lock.acquire()\n"
        "for wait in 3 * [lambda: time.sleep(99)] + 2 * [lock.acquire]:\n"
        "    threading.Thread(target=wait, daemon=True).start()\n"
        "time.sleep(99)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program]) as process:
        try:
            until(lambda: waiting_threads(process.pid) == 3, "their calls")
        finally:
            process.kill()


def test_a_process_that_is_gone_waits_for_nothing():
    """Its file cannot be read."""
    with subprocess.Popen(["true"]) as process:
        process.wait()
        assert waits_elsewhere(process.pid) is None
        assert waiting_threads(process.pid) == 0


@needs_diagnosis
@pytest.mark.parametrize("listens", [False, True], ids=["unix", "elsewhere"])
def test_what_cannot_be_looked_at_gives_no_reading(listens):
    """A UNIX socket, and a port where the server does not listen."""
    port = free_port() if listens else None
    stop = RequestProbe().start(Subject(1, port))
    if port is not None:
        stop.__self__.thread.join()
    assert stop() == {}
