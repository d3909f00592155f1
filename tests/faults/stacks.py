"""The production stack and its parts, run for a test, and what each instance says of itself."""

import dataclasses
import http.client
import json
import signal
import socket
import subprocess
from contextlib import contextmanager

import psutil
import pytest

from lab import profiles
from lab.experiment import missing
from lab.model import Endpoint, Expectation, Workload
from lab.servers import adapter
from lab.servers.command import fill
from lab.servers.launch import ROOT, environment
from lab.servers.ports import HOST, free_port
from lab.servers.readiness import fetch
from lab.workloads import workload
from tests.lab_process import alive, until

FIB = workload("fib")

OWN = "{here}/production.ini"
"""How the profile's commands name it."""


ONE_NGINX = ("worker_processes 2;", "worker_processes 1;")
"""For tests that need a request at every worker: each process of nginx counts for itself what is
under way, so that two of them may send more to one instance than to the other."""

STATS = 3.0
"""Seconds in which an instance has to say how it is; its master may be stuck."""


def waiting(milliseconds):
    """Return the workload whose every request is under way for so long."""
    body = b"%d\n" % milliseconds
    expect = Expectation(body=body)
    return Workload("waiting", f"/{milliseconds}", expect, app="app.waiting:app")


class Instance:
    """One uWSGI of the stack, known by its stats socket."""

    def __init__(self, sock):
        self.socket = sock

    def stats(self):
        """Return what it says of itself."""
        connection = http.client.HTTPConnection("stats")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(STATS)
        try:
            connection.sock.connect(str(self.socket) + ".stats")
            connection.request("GET", "/")
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def workers(self):
        """Return its workers by their process ids; none while it cannot say."""
        try:
            found = self.stats()["workers"]
        except (OSError, http.client.HTTPException, json.JSONDecodeError):
            return {}
        return {each["pid"]: each for each in found if each["pid"]}

    def busy(self):
        """Return the process ids of those that have a request under way."""
        found = self.workers().items()
        return [pid for pid, each in found if each["cores"][0]["in_request"]]

    def wait_for_new(self, pids):
        """Wait until it has as many workers as *pids*, all of them others, and return those."""

        def replaced():
            now = self.workers()
            return len(now) == len(pids) and not now.keys() & set(pids) and now

        return until(replaced, f"new workers at {self.socket.name}")


class Stack:
    """A started production stack: nginx, and the instances a and b."""

    def __init__(self, server, folder):
        self.server = server
        self.address = server.endpoint.host, server.endpoint.port
        self.folder = folder
        self.instances = [Instance(folder / "a.sock"), Instance(folder / "b.sock")]
        self.nginx = psutil.Process(int((folder / "nginx.pid").read_text()))

    def tree(self):
        """Return all of its processes."""
        return psutil.Process(self.server.pid).children(recursive=True)

    def workers(self):
        """Return the process ids of all workers of uWSGI."""
        return {pid for each in self.instances for pid in each.workers()}

    def busy(self):
        """Return the process ids of the workers that have a request under way."""
        return [pid for each in self.instances for pid in each.busy()]


def read_profile():
    """Return the production profile; skip the test where nginx is not installed."""
    profile = profiles.read("production")
    if (reason := missing(profile)) is not None:
        pytest.skip(reason)
    return profile


@contextmanager
def production(folder, load=FIB, *, options="", replace=()):
    """
    Run the production stack under the lab's guard.

    Args:
        folder: Its sockets and logs.
        load: Its application, and what proves that it is ready.
        options: Lines that come after those of production.ini, where the last of two counts.
        replace: Pairs of texts, for nginx's configuration.
    """
    profile = read_profile()
    # Not by the command line or the environment: both come first, and would not count.
    longer = folder / "longer.ini"
    longer.write_text(f"[uwsgi]\nini = {profile.path.with_suffix('.ini')}\n{options}\n")
    text = dict(profile.options)["production.nginx.conf"]
    for old, _ in replace:
        assert old in text, f"production.nginx.conf has no {old!r} any more"
    profile = dataclasses.replace(
        profile,
        commands=tuple(
            tuple(str(longer) if options and word == OWN else word for word in command)
            for command in profile.commands
        ),
        replace=(*replace, *profile.replace),
    )
    with adapter(profile).start(profile, load, folder, None) as server:
        stack = Stack(server, folder)
        # nginx is ready when one of them is; a test begins when both are.
        for each in stack.instances:
            until(each.workers, f"stats at {each.socket.name}")
        yield stack


class Parts:
    """
    nginx and the instances, each started and stopped by itself; a context manager.

    The lab's guard starts a stack as a whole. Here one of its commands can be stopped and started
    again, and where its log goes can be chosen.
    """

    def __init__(self, folder, load, log=subprocess.DEVNULL):
        self._profile = read_profile()
        self._folder, self._load, self._log = folder, load, log
        self._running = {}
        self.endpoint = Endpoint(HOST, free_port())
        self.address = self.endpoint.host, self.endpoint.port
        self.instances = {name: Instance(folder / f"{name}.sock") for name in "ab"}
        self._words = {
            "host": self.endpoint.host,
            "port": str(self.endpoint.port),
            "app": load.app or dict(self._profile.options)["app"],
            "chdir": str(load.chdir or ROOT),
            "here": str(self._profile.path.parent),
            "folder": str(folder),
        }
        for name in self._profile.fill:
            text = dict(self._profile.options)[name]
            for old, new in self._profile.replace:
                text = text.replace(old, new)
            (folder / name).write_text(fill(text, self._words, self._profile))

    def __enter__(self):
        try:
            for name in ("nginx", "a", "b"):
                self.start(name)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self._running.values():
            tree = [process, *process.children(recursive=True)] if process.is_running() else []
            for each in tree:
                each.kill()
            process.wait(10)
            until(lambda left=tree: not alive(left), "the end of a killed process")

    def start(self, name):
        """Start one of nginx, a and b, and wait until it serves."""
        command = self._profile.commands[("nginx", "a", "b").index(name)]
        self._running[name] = psutil.Popen(
            [fill(word, self._words, self._profile) for word in command],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )
        if name in self.instances:
            until(self.instances[name].workers, f"instance {name}")

    def stop(self, name, timeout=30.0):
        """Stop one by SIGTERM, and return its exit status when nothing of it is left."""
        process = self._running[name]
        tree = process.children(recursive=True)
        process.send_signal(signal.SIGTERM)
        status = process.wait(timeout)
        until(lambda: not alive(tree), f"end of what {name} had started")
        return status

    def tree(self):
        """Return all of their processes."""
        found = self._running.values()
        return [*found, *(child for each in found for child in each.children(recursive=True))]

    def wait_until_right(self):
        """Wait until a client gets the right reply."""

        def right():
            try:
                return fetch(self.endpoint, self._load.path, 5.0)[2] == self._load.expect.body
            except OSError:
                return False

        until(right, "the right reply")
