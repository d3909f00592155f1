"""
The claims on handlers that wait for another server, by how many of their requests are there.

With N requests under way a server answers at most N / delay requests/s, whatever its CPU. So if one
has as many as its processes, and another all that come, the other is ahead where the delay is long.
"""

import os

import psutil
import pytest

from lab.model.request import Expectation
from lab.model.workload import Workload
from tests.kit.lab_process import until
from tests.kit.running import read_installed, running
from tests.kit.upstream import BY_UWSGI, ON_LOOP, PLAIN, Upstream, waiting

SENT = 12
"""Requests at once: more than the blocking servers have processes."""

PLAIN_WORKERS = 3
"""Of gunicorn on one CPU, as its documentation counts them."""

PROCESSES = 2
"""Of uWSGI in the profiles that are compared."""

TORNADO = "tornado_handlers:{}"
"""Its applications, in profiles/peers."""


@pytest.fixture
def upstream(monkeypatch):
    """Return an upstream; UPSTREAM_URL is its address."""
    with Upstream() as server:
        monkeypatch.setenv("UPSTREAM_URL", server.url)
        yield server


def under_way(upstream, name, app=PLAIN, *, held=False):
    """
    Return how many of SENT requests a profile had at the upstream at once; and its threads.

    Args:
        upstream: It.
        name: The profile's.
        app: Its handler.
        held: Whether no reply comes before all are there; only for a profile that gets so far.
    """
    workload = Workload("waiting", "/", Expectation(body=b"Pong!"), app)
    with running(read_installed(name), workload, cores=[min(os.sched_getaffinity(0))]) as server:
        upstream.most = 0
        if held:
            upstream.opened.clear()
        with waiting(server.address, SENT) as replies:
            if held:
                until(lambda: upstream.under_way == SENT, f"{SENT} requests upstream")
            threads = [psutil.Process(pid).num_threads() for pid in server.spawned()]
            upstream.opened.set()
            assert [future.result().body for future in replies] == [b"Pong!"] * SENT
    return upstream.most, sum(threads)


def test_one_thread_has_several_requests_under_way(upstream, monkeypatch, holds):
    """Whether uWSGI's asyncio mode has more of them than threads, with a handler for it."""
    monkeypatch.setenv("PROCESSES", "1")
    most, threads = under_way(upstream, "asyncio-100", ON_LOOP, held=True)
    assert threads == 1
    assert (most > threads) is holds


def test_gevent_workers_wait_for_more_than_plain_ones(upstream, holds):
    """Whether gunicorn has more requests under way with gevent, in as many workers."""
    plain, _ = under_way(upstream, "gunicorn-sync")
    assert plain <= PLAIN_WORKERS
    most, _ = under_way(upstream, "gunicorn-gevent", held=True)
    assert (most > plain) is holds


def test_eventlet_workers_wait_for_more_than_plain_ones(upstream, holds):
    """The same with eventlet."""
    most, _ = under_way(upstream, "gunicorn-eventlet", held=True)
    assert (most > PLAIN_WORKERS) is holds


def test_grequests_leaves_a_worker_one_request(upstream, holds):
    """Whether a plain worker that asks by grequests has no more than one request under way."""
    most, _ = under_way(upstream, "gunicorn-sync-grequests")
    assert (most <= PLAIN_WORKERS) is holds


def test_tornado_s_client_asks_ten_at_once(upstream):
    """By default, whatever the loop; the others wait their turn."""
    most, _ = under_way(upstream, "tornado-uvloop-10", TORNADO.format("outbound_default"))
    assert most <= 10
    most, _ = under_way(upstream, "tornado-uvloop", TORNADO.format("outbound"), held=True)
    assert most == SENT


def test_async_mode_waits_for_one_request_per_process(upstream, holds):
    """Whether a handler that asks nothing of uWSGI's async mode holds its process."""
    most, _ = under_way(upstream, "uwsgi-async")
    assert (most <= PROCESSES) is holds


def test_async_mode_waits_for_a_handler_written_for_it(upstream, holds):
    """Whether one that asks uWSGI to wait lets others begin."""
    most, _ = under_way(upstream, "uwsgi-async-aware", BY_UWSGI, held=True)
    assert (most > PROCESSES) is holds
