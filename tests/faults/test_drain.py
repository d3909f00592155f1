"""What is under way when a server is asked to stop is answered before it goes."""

import os
import signal
import threading

import psutil
import pytest

from lab import profiles
from lab.servers import adapter
from lab.servers.ports import listens
from tests.lab_process import alive, until

from .prober import ask
from .stacks import ONE_NGINX, production, waiting

READY = waiting(0)
LOAD = waiting(900)
"""Long enough to be under way still when all of them are, on a busy machine."""

REQUESTS = 6

ONCE = [("uwsgi_next_upstream error timeout invalid_header;", "uwsgi_next_upstream off;")]
"""What the instance loses shall be seen, and not be made good by the other one."""


class Requests:
    """So many requests at once, from threads of their own."""

    def __init__(self, address, count=REQUESTS):
        self.outcomes = []
        asked = address, LOAD.path, LOAD.expect.body
        add = self.outcomes.append
        self._threads = [
            threading.Thread(target=lambda: add(ask(*asked)), daemon=True) for _ in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def failures(self):
        """Wait for all of them, and return what is not the right reply."""
        for thread in self._threads:
            thread.join()
        return [each.failure for each in self.outcomes if each.failure]


@pytest.fixture(autouse=True)
def _processes(monkeypatch):
    """Give each uWSGI as many workers as there are requests, so that all are under way at once."""
    monkeypatch.setenv("PROCESSES", str(REQUESTS))


def test_tuned_answers_what_is_under_way(tmp_path):
    """SIGTERM to `tuned` with six requests under way: six replies, exit 0, and nothing is left."""
    profile = profiles.read("tuned")
    with adapter(profile).start(profile, READY, tmp_path, None) as server:
        port = server.endpoint.port
        tree = psutil.Process(server.pid).children(recursive=True)
        requests = Requests((server.endpoint.host, port))
        # A worker that has taken a connection has the request: the kernel holds it back till then.
        until(lambda: taken(tree, port) == REQUESTS, "six requests under way")
        tree[0].send_signal(signal.SIGTERM)
        assert requests.failures() == []
        until(server.ended, "the end of uWSGI")
        assert server.ended() == "uwsgi ended with exit status 0"
        assert alive(tree) == []
        assert not listens(port)


def taken(processes, port):
    """Return how many connections to *port* the processes have accepted."""
    return sum(
        connection.status == psutil.CONN_ESTABLISHED and connection.laddr.port == port
        for each in processes
        for connection in each.net_connections("tcp")
    )


def test_an_instance_answers_what_is_under_way(tmp_path):
    """SIGTERM to an instance with six requests under way: six replies, exit 0, nothing is left."""
    one = [*ONCE, ("server unix:/run/fibonacci/b.sock max_fails=0;", "")]
    with production(tmp_path, READY, replace=one) as stack:
        instance, _ = stack.instances
        master = psutil.Process(instance.stats()["pid"])
        tree = [master, *master.children(recursive=True)]
        requests = Requests(stack.address)
        until(lambda: len(instance.busy()) == REQUESTS, "six requests under way")
        master.terminate()
        assert requests.failures() == []
        until(stack.server.ended, "the end of the instance")
        assert stack.server.ended() == "env ended with exit status 0"
        assert alive(tree) == []
        assert {each.name for each in tmp_path.glob("a.sock*")} == set()


def test_the_stack_answers_what_is_under_way(tmp_path):
    """nginx is stopped first, then both instances: what they had accepted is answered."""
    with production(tmp_path, READY, replace=[*ONCE, ONE_NGINX]) as stack:
        tree = stack.tree()
        masters = [each.stats()["pid"] for each in stack.instances]
        requests = Requests(stack.address, 2 * REQUESTS)
        until(lambda: len(stack.busy()) == 2 * REQUESTS, "twelve requests under way")
        stack.nginx.send_signal(signal.SIGQUIT)
        until(lambda: not listens(stack.address[1]), "nginx to listen no more")
        for pid in masters:
            os.kill(pid, signal.SIGTERM)
        assert requests.failures() == []
        until(lambda: not alive(tree), "the end of all processes")
        assert stack.server.ended() == "nginx ended with exit status 0"
        assert list(tmp_path.glob("[ab].sock*")) == []
