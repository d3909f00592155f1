"""Who may talk to the service, and in which protocol."""

import json
import re
import signal
import socket
import stat

import psutil
import pytest

from lab.bench.machine import project
from lab.bench.servers.readiness import fetch
from lab.model.request import Expectation
from lab.model.workload import Workload
from tests.kit.lab_process import ROOT, SITES, until
from tests.kit.uwsgi_options import confirmed

from .parts import Parts
from .stacks import connections, production, waiting
from .test_start_up import PRODUCTION, assert_says, start

SEEN = Workload(
    "journal",
    "/",
    Expectation(pattern="umask"),
    "journal:application",
    SITES,
)
"""An application that says what it sees."""

PRIVATE = {"socket", "uwsgi-socket", "stats", "stats-server", "suwsgi-socket", "master-fifo"}
"""Options of uWSGI with an address that gives whoever reaches it more than the service."""

NEVER = {"puwsgi-socket", "raw-socket", "upload-socket", "emperor", "subscription-server"}
"""Options that no profile here has a use for."""

PORT = re.compile(r":(\d+|\{port\})$|^\d+$")

LONG = b"\0\x13\0\0" + b"\x09\0PATH_INFO\x06\0/60000"
"""A request of a minute for `waiting`, as nginx sends it."""

INIS = sorted((*project.profiles().rglob("*.ini"), *(ROOT / "uwsgi").glob("*.ini")))


@pytest.mark.parametrize("path", INIS, ids=lambda path: path.name)
def test_private_sockets_have_no_port(path):
    """What speaks uWSGI's protocol, or shows requests under way, is a UNIX socket."""
    options = confirmed(path)
    assert [option for option in options if option[0] in NEVER] == []
    assert [option for option in options if option[0] in PRIVATE and PORT.search(option[1])] == []


def test_who_may_talk_to_the_production_stack(tmp_path):
    """Its UNIX sockets and files are their owner's alone; only nginx has a port, for clients."""
    with production(tmp_path, SEEN) as stack:
        sockets = {
            path.name: stat.S_IMODE(path.stat().st_mode)
            for path in tmp_path.iterdir()
            if path.is_socket() and path.name != "metrics.sock"  # TCP where it is deployed
        }
        listening = {
            (psutil.Process(connection.pid).name(), connection.laddr.port)
            for connection in connections(stack.tree(), status=psutil.CONN_LISTEN)
        }
        umask = json.loads(fetch(stack.server.endpoint, "/", 5.0)[2])["umask"]
    names = ("a.sock", "a.sock.stats", "b.sock", "b.sock.stats")
    assert sockets == dict.fromkeys(names, 0o600)
    assert umask == "0077"
    assert listening == {("nginx", stack.address[1])}


def test_a_running_instance_keeps_its_socket(tmp_path):
    """A second instance on the SOCKET of a running one is refused; the first one goes on."""
    with Parts(tmp_path, waiting(1)) as parts:
        parts.wait_until_right()
        first = parts.instances["a"]
        status, printed = start(PRODUCTION, tmp_path, SOCKET=str(first.socket))
        words = ("listens on", str(first.socket), "stop it first, or set SOCKET")
        assert_says(status, printed, words)
        # The second removes nothing of the first either, by which an alarm asks it.
        before = first.workers()
        assert before
        parts.send("a", signal.SIGHUP)
        first.wait_for_new(before)
        parts.wait_until_right()


def test_a_socket_that_is_left_is_taken(tmp_path):
    """After a master was killed an instance starts on its socket, while a worker is still busy."""
    with Parts(tmp_path, waiting(1)) as parts, socket.socket(socket.AF_UNIX) as client:
        first = parts.instances["a"]
        client.connect(str(first.socket))
        client.sendall(LONG)
        (left,) = until(first.busy, "a busy worker")
        parts.kill("a")
        try:
            parts.start("a")
            assert psutil.pid_exists(left)
            assert left not in first.workers()
        finally:
            psutil.Process(left).kill()


@pytest.mark.parametrize("name", ["a.sock", "a.sock.stats"])
def test_a_file_is_not_a_socket(tmp_path, name):
    """A file that has the name of the socket, or of its statistics, is named and not removed."""
    (tmp_path / name).write_text("mine")
    status, printed = start(PRODUCTION, tmp_path)
    assert_says(status, printed, (str(tmp_path / name), "is no socket", "set SOCKET"))
    assert (tmp_path / name).read_text() == "mine"
