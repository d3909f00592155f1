"""What is under way when a server is asked to stop is answered before it goes."""

import re
import signal
import threading
from pathlib import Path

import psutil
import pytest

from lab.bench.servers.ports import listens
from tests.kit.client import ask as fetched
from tests.kit.lab_process import alive, until
from tests.kit.running import running

from .parts import Parts
from .prober import Clients, ask
from .stacks import application, connections, production, waiting

LOAD = application("gated_app")

REQUESTS = 6
"""As many as each uWSGI has workers, so that all are under way at once."""

ONCE = [("uwsgi_next_upstream error timeout invalid_header;", "uwsgi_next_upstream off;")]
"""What the instance loses shall be seen, and not be made good by the other one."""


class Requests:
    """So many requests at once, from threads of their own; under way until told otherwise."""

    def __init__(self, address, gate, count=REQUESTS):
        self.outcomes = []
        self._gate = gate
        request = address, f"{LOAD.path}?{gate}", LOAD.expect.body
        add = self.outcomes.append
        self._threads = [
            threading.Thread(target=lambda: add(ask(*request)), daemon=True) for _ in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def failures(self):
        """Let all of them be answered, and return what is not the right reply."""
        self._gate.touch()
        for thread in self._threads:
            thread.join()
        return [outcome.failure for outcome in self.outcomes if outcome.failure]


@pytest.fixture
def gate(tmp_path):
    """Return the file that lets requests be answered; it is there at the end, come what may."""
    path = tmp_path / "gate"
    yield path
    path.touch()


def stop(master):
    """Send SIGTERM, and wait until the master has begun to stop.

    It tells its workers in the signal's handler and stays there until they have ended. The log does
    not say so in time, because nobody else hands its lines on; but the signal is blocked meanwhile.
    """
    master.send_signal(signal.SIGTERM)
    status = Path(f"/proc/{master.pid}/status")
    bit = 1 << (signal.SIGTERM - 1)

    def in_handler():
        (mask,) = re.findall(r"^SigBlk:\s*(\w+)$", status.read_text(), re.MULTILINE)
        return int(mask, 16) & bit

    until(in_handler, "the beginning of the stop")


def test_tuned_answers_what_is_under_way(tmp_path, gate):
    """SIGTERM to `tuned` with six requests under way: six replies, exit 0, and nothing is left."""
    with running("tuned", LOAD, tmp_path, REQUESTS) as tuned:
        port = tuned.address[1]
        tree = tuned.tree()
        requests = Requests(tuned.address, gate)
        # A worker that has taken a connection has the request: the kernel holds it back till then.
        until(lambda: len(connections(tree, port)) == REQUESTS, "six requests under way")
        stop(tree[0])
        assert requests.failures() == []
        until(tuned.server.ended, "the end of uWSGI")
        assert tuned.server.ended() == "uwsgi ended with exit status 0"
        assert alive(tree) == []
        assert not listens(port)


def test_an_instance_answers_what_is_under_way(tmp_path, gate):
    """SIGTERM to an instance with six requests under way: six replies, exit 0, nothing is left."""
    one = [*ONCE, ("server unix:/run/fibonacci/b.sock max_fails=0;", "")]
    with production(tmp_path, LOAD, replace=one, workers=REQUESTS) as stack:
        instance, _ = stack.instances
        master = psutil.Process(instance.stats()["pid"])
        tree = [master, *master.children(recursive=True)]
        requests = Requests(stack.address, gate)
        until(lambda: len(instance.busy()) == REQUESTS, "six requests under way")
        stop(master)
        assert requests.failures() == []
        until(stack.server.ended, "the end of the instance")
        assert stack.server.ended() == "env ended with exit status 0"
        assert alive(tree) == []
        assert {path.name for path in tmp_path.glob("a.sock*")} == set()


def test_the_stack_answers_what_is_under_way(tmp_path, gate):
    """nginx is stopped first, then both instances: what they had accepted is answered."""
    with production(tmp_path, LOAD, replace=ONCE, workers=REQUESTS) as stack:
        tree = stack.tree()
        masters = [psutil.Process(instance.stats()["pid"]) for instance in stack.instances]
        requests = Requests(stack.address, gate, 2 * REQUESTS)
        until(lambda: len(stack.busy()) == 2 * REQUESTS, "twelve requests under way")
        stack.nginx.send_signal(signal.SIGQUIT)
        until(lambda: not listens(stack.address[1]), "nginx to listen no more")
        for master in masters:
            stop(master)
        assert requests.failures() == []
        until(lambda: not alive(tree), "the end of all processes")
        assert stack.server.ended() == "nginx ended with exit status 0"
        assert list(tmp_path.glob("[ab].sock*")) == []


def test_a_front_that_leaves_ends_kept_connections_by_its_replies(tmp_path):
    """With the file `leaving`, replies say so, errors with their page; without it they do not."""
    load = waiting(5)
    with Parts(tmp_path, load) as parts:
        parts.wait_until_right()
        assert fetched(parts.address, path=load.path).headers["connection"] == "keep-alive"
        (tmp_path / "leaving").touch()
        with Clients(parts.address, load.path, load.expect.body, keepalive=True) as clients:
            clients.wait_for(100)
        reply = fetched(parts.address, path=load.path)
        assert (reply.status, reply.headers["connection"]) == (200, "close")
        assert clients.failed == []
        for name in parts.instances:
            parts.stop(name)
        reply = fetched(parts.address, path=load.path)
        assert (reply.status, reply.headers["connection"]) == (502, "close")
        assert reply.headers["content-type"] == "application/problem+json"
