"""The production stack, run for a test, and what each instance says of itself."""

import dataclasses
import http.client
import json
import re
import signal
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import psutil
from prometheus_client.parser import text_string_to_metric_families

from lab.bench.workloads import workload
from lab.model.request import Expectation
from lab.model.workload import Workload
from tests.kit.client import ask
from tests.kit.lab_process import until
from tests.kit.running import Running, read_installed, running

FIB = workload("fib")

OWN = "{here}/production.ini"
"""How the profile's commands name it."""

STATS = 3.0
"""Seconds in which an instance has to say how it is; its master may be stuck."""


def waiting(milliseconds):
    """Return the workload whose every request is under way for so long."""
    body = b"%d\n" % milliseconds
    expect = Expectation(body=body)
    return Workload("waiting", f"/{milliseconds}", expect, app="loadtests.workloads.waiting:app")


def application(name):
    """Return one of the applications beside this file as a workload."""
    here = Path(__file__).parent
    return Workload(name, "/", Expectation(body=b"done"), f"applications:{name}", here)


def connections(processes, port=None, status=psutil.CONN_ESTABLISHED):
    """Return the processes' TCP connections in a state, by default accepted; all, or to a port."""
    pids = {process.pid for process in processes}
    # Once for all: the kernel's table has what other tests have closed, too.
    open_connections = [
        connection for connection in psutil.net_connections("tcp") if connection.pid in pids
    ]
    return [
        connection
        for connection in open_connections
        if connection.status == status and port in (None, connection.laddr.port)
    ]


def ends_on_sigterm(pid):
    """
    Return whether a worker of uWSGI has installed its signal handlers.

    A worker that was just forked has the master's, with which SIGTERM does not end it. Only
    workers catch SIGUSR2.
    """
    status = Path(f"/proc/{pid}/status").read_text()
    caught = int(re.search(r"^SigCgt:\s*(\w+)", status, re.MULTILINE)[1], 16)
    return bool(caught & 1 << (signal.SIGUSR2 - 1))


class Instance:
    """One uWSGI of the stack, known by its stats socket."""

    def __init__(self, sock):
        self.socket = sock

    def stats(self):
        """Return what it says of itself; an OSError where it does not in time."""
        stats = self.socket.with_name(f"{self.socket.name}.stats")
        return json.loads(ask(stats, timeout=STATS).body)

    def workers(self):
        """Return its workers by their process ids; none while it cannot say."""
        try:
            workers = self.stats()["workers"]
        except (OSError, http.client.HTTPException, json.JSONDecodeError):
            return {}
        return {worker["pid"]: worker for worker in workers if worker["pid"]}

    def busy(self):
        """Return the process ids of those that have a request under way; an error if it is mute."""
        workers = self.stats()["workers"]
        return [
            worker["pid"]
            for worker in workers
            if worker["pid"] and worker["cores"][0]["in_request"]
        ]

    def wait_for_new(self, pids):
        """Wait until it has as many workers as *pids*, all of them others, and return those."""

        def replaced():
            now = self.workers()
            return len(now) == len(pids) and not now.keys() & set(pids) and now

        return until(replaced, f"new workers at {self.socket.name}")


class Stack(Running):
    """A started production stack: nginx, and the instances a and b."""

    @cached_property
    def instances(self):
        """Both of them."""
        return [Instance(self.folder / "a.sock"), Instance(self.folder / "b.sock")]

    @cached_property
    def nginx(self):
        """Its master process."""
        return psutil.Process(int((self.folder / "nginx.pid").read_text()))

    def workers(self):
        """Return the process ids of all workers of uWSGI."""
        return {pid for instance in self.instances for pid in instance.workers()}

    def figures(self, target="a"):
        """Return what nginx tells Prometheus of itself or of an instance, by families."""
        reply = ask(self.folder / "metrics.sock", path=f"/metrics/{target}", timeout=STATS)
        assert reply.status == 200
        families = text_string_to_metric_families(reply.body.decode())
        return {family.name: family for family in families}

    def busy(self):
        """Return the process ids of the workers that have a request under way."""
        return [pid for instance in self.instances for pid in instance.busy()]


@contextmanager
def production(folder, load=FIB, *, options="", replace=(), workers=2):
    """
    Run the production stack under the lab's guard.

    Args:
        folder: Its sockets and logs.
        load: Its application, and what proves that it is ready.
        options: Lines that come after those of production.ini, where the last of two counts.
        replace: Pairs of texts, for nginx's configuration.
        workers: Of each instance.
    """
    profile = read_installed("production")
    # Not by the command line or the environment: both come first, and would not count.
    longer = folder / "longer.ini"
    longer.write_text(f"[uwsgi]\nini = {profile.path.with_suffix('.ini')}\n{options}\n")
    text = dict(profile.options)["production.nginx.conf"]
    for old, _ in replace:
        assert old in text, f"production.nginx.conf has no {old!r} any more"
    peer = dataclasses.replace(
        profile.peer,
        commands=tuple(
            tuple(str(longer) if options and word == OWN else word for word in command)
            for command in profile.commands
        ),
        replace=(*replace, *profile.peer.replace),
    )
    profile = dataclasses.replace(profile, peer=peer)
    with running(profile, load, folder, workers) as started:
        stack = Stack(started.server, folder)
        for instance in stack.instances:  # what an instance opens last, after its workers
            until(instance.workers, f"stats at {instance.socket.name}")
        yield stack
