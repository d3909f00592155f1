"""The parts of the production stack, each started and stopped by itself."""

import os
import signal
import subprocess
from contextlib import contextmanager, suppress

import psutil

from lab.bench.machine.programs import environment
from lab.bench.servers.ports import HOST, free_port
from lab.bench.servers.readiness import fetch
from lab.config.launch import fill
from lab.model.protocols import Endpoint
from tests.kit.lab_process import BIN, ROOT, alive, until
from tests.kit.running import read_installed

from .stacks import Instance

SERVE = (str(BIN / "fibonacci"), "serve")
"""Begins the command by which a user starts uWSGI with a profile."""


def session(leader):
    """Return the processes of the session that *leader* began and that nobody has left."""
    processes = []
    for process in psutil.process_iter():
        with suppress(ProcessLookupError):  # ended meanwhile
            if os.getsid(process.pid) == leader:
                processes.append(process)
    return processes


@contextmanager
def serving(path, stdout, stderr, cwd=None, **variables):
    """Serve a profile as a user does until the block ends, when nothing of its session is left."""
    process = psutil.Popen(
        (*SERVE, str(path)),
        cwd=cwd,
        env=environment() | variables,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        for member in session(process.pid):
            member.kill()
        process.wait(10)


def _deployed(command):
    """Return a command of production.toml as the stack is deployed: by the launcher."""
    return [part for word in command for part in (SERVE if word == "uwsgi" else (word,))]


class Parts:
    """
    nginx and the instances, each started and stopped by itself; a context manager.

    The lab's guard starts a stack as a whole. Here one of its commands can be stopped and started
    again, and where its standard output and standard error go can be chosen.
    """

    def __init__(self, folder, load, logs=(subprocess.DEVNULL, subprocess.DEVNULL)):
        self._profile = read_installed("production")
        self._folder, self._load, self._logs = folder, load, logs
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
        for name in self._profile.peer.fill:
            text = dict(self._profile.options)[name]
            for old, new in self._profile.peer.replace:
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
        tree = self.tree()
        for member in tree:
            member.kill()
        for process in self._running.values():
            process.wait(10)
        until(lambda: not alive(tree), "the end of what was killed")

    def start(self, name):
        """Start one of nginx, a and b, and wait until it serves."""
        command = self._profile.commands[("nginx", "a", "b").index(name)]
        self._running[name] = psutil.Popen(
            [fill(word, self._words, self._profile) for word in _deployed(command)],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=self._logs[0],
            stderr=self._logs[1],
            start_new_session=True,
        )
        if name in self.instances:
            until(self.instances[name].workers, f"instance {name}")

    def stop(self, name, timeout=30.0):
        """Stop one by SIGTERM, and return its exit status when nothing of it is left."""
        process = self._running[name]
        tree = session(process.pid)
        process.send_signal(signal.SIGTERM)
        status = process.wait(timeout)
        del self._running[name]
        until(lambda: not alive(tree), f"end of what {name} had started")
        return status

    def send(self, name, number):
        """Send a signal to the first process of one of them."""
        self._running[name].send_signal(number)

    def kill(self, name):
        """Kill the first process of one of them, and nothing that it had started."""
        process = self._running.pop(name)
        process.kill()
        process.wait()

    def tree(self):
        """Return all of their processes, also those whose parent has died."""
        return [member for process in self._running.values() for member in session(process.pid)]

    def wait_until_right(self):
        """Wait until a client gets the right reply."""
        wait_until_right(self.endpoint, self._load)


def wait_until_right(endpoint, load):
    """Wait until a client of *endpoint* gets the reply that is right for *load*."""

    def right():
        try:
            return fetch(endpoint, load.path, 5.0)[2] == load.expect.body
        except OSError:
            return False

    until(right, "the right reply")
