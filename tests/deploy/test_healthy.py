"""What the image's health check and the probes run, against real servers."""

import os
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.bench.servers.ports import free_port
from lab.bench.servers.runner import ServerRunner
from lab.bench.trials.plan import arm_of
from lab.bench.workloads import workload
from lab.model.plan import Load
from tests.faults.prober import ask
from tests.faults.stacks import application, production
from tests.kit.lab_process import ROOT, until
from tests.kit.running import read_installed

GATED = application("gated_app")

LATEST = 5.0
"""Seconds; it gives up after one. An orchestrator that waits longer learns of a fault too late."""


def healthy(*arguments, **environment):
    """Run it as an orchestrator does; return its status and what it says."""
    done = subprocess.run(
        [sys.executable, ROOT / "deploy/healthy.py", *arguments],
        env={"PATH": os.environ["PATH"]} | environment,
        capture_output=True,
        text=True,
        timeout=LATEST,
        check=False,
    )
    return done.returncode, done.stderr


def assert_no_answer(*arguments, **environment):
    """Assert that it fails in time, and says that nobody answered."""
    status, message = healthy(*arguments, **environment)
    assert (status, message.partition(":")[0]) == (1, "no answer")


@pytest.fixture(scope="module", params=["tuned", "production"])
def where(request):
    """Return the environment of a running service: its port, or an instance's socket."""
    profile = read_installed(request.param)
    ready = arm_of(profile, workload("fib"), Load()).workload
    with (
        tempfile.TemporaryDirectory() as folder,
        ServerRunner().start(profile, ready, Path(folder), None) as server,
    ):
        environment = {"PORT": str(server.endpoint.port)}
        if request.param == "production":
            # The other instance may be the one that is up.
            environment = {"SOCKET": str(Path(folder) / "a.sock")}
            until(lambda: healthy(**environment)[0] == 0, "the instance")
        yield environment


def test_a_service_that_answers_is_healthy(where):
    """By HTTP to a port, and by uwsgi's protocol to a socket."""
    assert healthy(**where) == (0, "")


def test_it_asks_what_it_is_told_to(where):
    """A path that is not answered with 200 is a failure, with the status line."""
    assert healthy("/readyz", **where) == (0, "")
    status, message = healthy("/nothing", **where)
    assert status == 1
    assert "400 BAD REQUEST" in message


def test_a_master_is_alive_whatever_its_workers_do(tmp_path):
    """While every worker is at work an instance does not answer, and its master does."""
    gate = tmp_path / "gate"
    with production(tmp_path, GATED, workers=1) as stack:
        arguments = stack.address, f"/?{gate}", GATED.expect.body
        clients = [threading.Thread(target=ask, args=arguments) for _ in stack.instances]
        try:
            for client in clients:
                client.start()
            until(lambda: len(stack.busy()) == len(clients), "all workers at work")
            for instance in stack.instances:
                assert healthy("master", SOCKET=str(instance.socket)) == (0, "")
            assert_no_answer(SOCKET=str(stack.instances[0].socket))
        finally:
            gate.touch()
            for client in clients:
                client.join()
        assert healthy(SOCKET=str(stack.instances[0].socket)) == (0, "")


def test_no_server_is_not_healthy(tmp_path):
    """Where nothing listens, it says so."""
    sock = str(tmp_path / "a.sock")
    assert_no_answer(PORT=str(free_port()))
    assert_no_answer(SOCKET=sock)
    assert_no_answer("master", SOCKET=sock)


@contextmanager
def listener(where, *, closes):
    """Accept at a path or a port; read what is asked, and close without a word, or say nothing."""
    with socket.socket(socket.AF_UNIX if isinstance(where, str) else socket.AF_INET) as listening:
        listening.bind(where)
        listening.listen()

        def close():
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)

        thread = threading.Thread(target=close if closes else lambda: None)
        thread.start()
        yield
        thread.join()


@pytest.mark.parametrize("unix", [False, True])
def test_a_reply_without_a_word_is_none(tmp_path, unix):
    """A service that closes the connection without a reply is not well."""
    sock, port = str(tmp_path / "a.sock"), free_port()
    environment = {"SOCKET": sock} if unix else {"PORT": str(port)}
    with listener(sock if unix else ("127.0.0.1", port), closes=True):
        assert healthy(**environment) == (1, "expected status 200, got ''\n")


def test_silence_is_no_reply():
    """A service that accepts, and never answers, is not well, and holds nobody up."""
    port = free_port()
    with listener(("127.0.0.1", port), closes=False):
        assert_no_answer(PORT=str(port))
