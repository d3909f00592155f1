"""Servers that echo: ready when one whole message came back, over TCP or a UNIX socket."""

import textwrap

import psutil
import pytest

from lab.bench import profiles
from lab.bench.machine import project
from lab.bench.servers import readiness
from lab.bench.servers.fetch import exchange
from lab.bench.servers.runner import ServerRunner
from lab.errors import OtherReplyError, ProfileError, ServerStartError
from lab.model.echo import message
from lab.model.request import Expectation
from lab.model.workload import Transport, Wire, Workload
from tests.kit.lab_process import alive, descendants

SIZES = [{"size": 1}, {"size": 1024}, {"size": 102_400}, {"size": 1024, "lines": 5}]


def echoed(transport=Transport.TCP, size=1024, lines=1):
    """Return the workload of an echo."""
    fields = {"wire": Wire.ECHO, "transport": transport, "size": size, "lines": lines}
    return Workload("echo", "/", Expectation(), **fields)


@pytest.fixture
def start(start_peer):
    """Return what starts a program with {address} as its argument, for a `with`."""

    def start(program, workload, *options):
        return start_peer(workload, "{python}", program, "{address}", *options)

    return start


@pytest.mark.parametrize("transport", list(Transport))
@pytest.mark.parametrize("style", ["protocol", "streams"])
def test_our_echo_of_asyncio(start, transport, style):
    """It gives back any message, whatever its size, stops on SIGTERM with 0, and leaves nothing."""
    options = ("--style", style)
    with start(project.peers() / "echo_asyncio.py", echoed(transport), *options) as server:
        assert bool(server.endpoint.socket) == (transport is Transport.UNIX)
        for size in SIZES:
            sent = message(3, **size)
            assert exchange(server.endpoint, sent, 5.0, 5.0) == sent
        tree = [psutil.Process(server.pid), *descendants(server.pid)]
        assert server.stop() == 0
    assert alive(tree) == []


ECHO = """
    import socket, sys, time
    where = sys.argv[1].rpartition(":")
    if where[0] == "unix":
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(where[2])
        listener.listen()
    else:
        listener = socket.create_server((where[0], int(where[2])))
    while True:
        conn, _ = listener.accept()
        data = b""
        while len(data) < 1024:
            data += conn.recv(1024)
        {then}
        conn.close()
"""


@pytest.mark.parametrize("transport", list(Transport))
@pytest.mark.parametrize(
    ("then", "said", "kind"),
    [
        (
            "conn.sendall(data[:9] + b'?' + data[10:])",
            r"does not send back what came: byte 9 of 1,024: '\?",
            OtherReplyError,
        ),
        ("conn.sendall(data[:10])", "10 of 1,024 bytes came back", OtherReplyError),
        ("time.sleep(60)", "accepts the connection and does not answer", ServerStartError),
        ("conn.sendall(data[:7]); time.sleep(60)", "had sent 7 of 1,024 bytes", ServerStartError),
        ("sys.exit(3)", "ended with exit status 3", ServerStartError),
    ],
    ids=["wrong", "short", "silent", "stalled", "ended"],
)
def test_what_is_no_echo_is_not_ready(start, tmp_path, monkeypatch, transport, *, then, said, kind):
    """What it does instead is the reason."""
    monkeypatch.setattr(readiness, "PATIENCE", 0.1)
    monkeypatch.setattr(readiness.wait_until_ready, "__defaults__", (1.0,))
    program = tmp_path / "liar.py"
    program.write_text(textwrap.dedent(ECHO.format(then=then)))
    with pytest.raises(kind, match=said), start(program, echoed(transport)):
        pass


def test_uwsgi_is_not_asked_over_a_unix_socket(tmp_path):
    """Its profiles are told an address and a port: refused in words, before it starts."""
    profile = profiles.read("baseline")
    with (
        pytest.raises(ProfileError, match="echo is asked over a UNIX socket"),
        ServerRunner().start(profile, echoed(Transport.UNIX), tmp_path, None),
    ):
        pass


def test_a_slow_server_is_read_while_it_is_sent_to(start, tmp_path):
    """One that gives back each piece before it reads the next holds nothing up."""
    program = tmp_path / "piecemeal.py"
    loop = "while data := conn.recv(1000): conn.sendall(data)"
    text = textwrap.dedent(ECHO).replace('data = b""', loop)
    program.write_text(text.replace("while len(data) < 1024", "while False").format(then="pass"))
    with start(program, echoed(size=5_000_000)) as server:
        assert server.ended() is None
