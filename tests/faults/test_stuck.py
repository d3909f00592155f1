"""Requests that never end: harakiri ends them, and only their clients notice."""

import re
import threading

import pytest

from lab.bench import profiles
from tests.kit.lab_process import until

from .prober import Clients, ask
from .stacks import application, production, waiting

LOAD = waiting(0)
STUCK = waiting(60_000)

HARAKIRI = 2
"""Seconds, instead of 30."""

SHORTER = ("uwsgi_next_upstream_timeout 29s;", "uwsgi_next_upstream_timeout 1s;")
"""In its proportion to HARAKIRI."""


@pytest.mark.parametrize(
    ("workers", "latest"),
    [
        # Two of four are left.
        (2, HARAKIRI + 2.0),
        # None is left: all wait until harakiri has ended one, and a new one is there. uWSGI looks
        # at its clock once a second, then waits as long; and one more for a busy machine.
        pytest.param(1, HARAKIRI + 2.0 + 1.0, marks=pytest.mark.slow),
    ],
)
def test_stuck_requests(tmp_path, workers, latest):
    """Two requests that never end are cut off by harakiri, once each, and others are served."""
    changed = {"options": f"harakiri = {HARAKIRI}", "replace": [SHORTER]}
    with production(tmp_path, LOAD, **changed, workers=workers) as stack:
        stuck = []
        request = stack.address, STUCK.path, STUCK.expect.body
        threads = [threading.Thread(target=lambda: stuck.append(ask(*request))) for _ in range(2)]
        for thread in threads:
            thread.start()
        until(lambda: len(stack.busy()) == 2, "two stuck requests")
        with Clients(stack.address, LOAD.path, LOAD.expect.body, threads=4) as others:
            for thread in threads:
                thread.join()
            others.wait_for(100)
        counts = [
            worker["harakiri_count"]
            for instance in stack.instances
            for worker in instance.workers().values()
        ]
    assert [outcome.failure[:3] for outcome in stuck] == ["502", "502"]
    assert others.failed == []
    assert others.longest < latest
    assert sum(counts) == 2


def test_a_stuck_request_is_not_tried_twice():
    """nginx tries elsewhere for a shorter time than harakiri, and waits longer for a reply."""
    options = dict(profiles.read("production").options)
    nginx = options["production.nginx.conf"]
    harakiri = int(re.search(r"^harakiri = (\d+)$", options["production.ini"], re.MULTILINE)[1])
    seconds = {
        name: int(value)
        for name, value in re.findall(r"^ *(uwsgi_\w+) (\d+)s;$", nginx, re.MULTILINE)
    }
    assert seconds["uwsgi_next_upstream_timeout"] < harakiri < seconds["uwsgi_read_timeout"]


def test_nobody_waits_for_a_busy_instance(tmp_path):
    """While one instance's only worker is busy, the other gets every request, from both nginx."""
    load, gate = application("gated_app"), tmp_path / "gate"
    with production(tmp_path, load, workers=1) as stack:
        request = stack.address, f"/?{gate}", load.expect.body
        busy = threading.Thread(target=ask, args=request)
        busy.start()
        try:
            until(stack.busy, "a worker at work")
            # One after the other: to a second client both instances would be busy alike.
            with Clients(stack.address, load.path, load.expect.body, threads=1) as client:
                client.wait_for(60)
        finally:
            gate.touch()
            busy.join()
    assert client.failed == []
