"""The three servers, started by a command for a test, and asked byte by byte."""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import subprocess
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from lab.bench.servers.ports import free_port
from lab.cli.stress.target import _helps
from tests.kit.client import ask
from tests.kit.lab_process import BIN, SITES, until

COMMANDS = {
    "uwsgi": "--http-socket 127.0.0.1:{port} --pythonpath {sites} --module open_book",
    "gunicorn": "--bind 127.0.0.1:{port} --pythonpath {sites} open_book:application",
    "granian": "--interface wsgi --port {port} --working-dir {sites} open_book:application",
}
"""Program -> the words that serve tests/sites/open_book.py."""

FOREIGN = ("UWSGI_", "GUNICORN_", "GRANIAN_", "PYTHONPATH", "WEB_CONCURRENCY")
"""Begin the variables by which a server would be told more than its command says."""


@dataclass
class Server:
    """A server that runs: its port, its first process, its log and notes in a folder."""

    port: int
    process: subprocess.Popen
    folder: Path

    @property
    def workers(self):
        """The processes below the first that serve."""
        return {process.pid: process for process in workers(self.process)}

    @property
    def log(self):
        """What it has written."""
        return (self.folder / "log").read_text(errors="replace")

    def noted(self, what):
        """Return the processes of the notes about *what*."""
        notes = (self.folder / "notes").read_text().splitlines()
        return [int(note.rpartition(" ")[2]) for note in notes if note.startswith(what)]

    def environ(self, path="/", headers=None):
        """Return what the application is told of a request."""
        return json.loads(ask(("127.0.0.1", self.port), path=path, headers=headers).body)

    def term(self):
        """Send the first process SIGTERM."""
        self.process.send_signal(signal.SIGTERM)


def workers(process):
    """Return the children that serve: with Python 3.14 granian has a resource tracker, too."""
    return [child for child in psutil.Process(process.pid).children() if not _helps(child)]


@contextmanager
def server(program, folder, *options, command=None, ready=None, **variables):
    """Run one with these options until the block ends; *command* serves, and *ready* is asked."""
    port = free_port()
    words = (command or COMMANDS[program]).format(port=port, sites=SITES, folder=folder).split()
    variables |= {"NOTES": str(folder / "notes")}
    with begun([BIN / program, *options, *words], folder, variables) as process:
        instance = Server(port, process, folder)
        until(lambda: answers(instance, ready), f"{program} serving")
        yield instance


def answers(instance, sent=None):
    """Return whether a server answers a request at its port; one that has ended never will."""
    assert instance.process.poll() is None, instance.log[-2000:]
    with suppress(OSError):
        return exchanged(instance.port, sent or request()).startswith(b"HTTP/1.1 200")
    return False


@contextmanager
def begun(words, folder, variables=()):
    """Start a command in a session of its own, and end all of it with the block."""
    plain = {key: value for key, value in os.environ.items() if not key.startswith(FOREIGN)}
    # gunicorn keeps its control socket there.
    plain |= {"HOME": str(folder), "PATH": f"{BIN}:{os.environ['PATH']}"} | dict(variables)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*map(str, words)],
            cwd=folder,
            env=plain,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def request(method="GET", path="/", *headers, keep=False):
    """Return the bytes of a request."""
    lines = ["Host: localhost", f"Connection: {'keep-alive' if keep else 'close'}", *headers]
    return "\r\n".join((f"{method} {path} HTTP/1.1", *lines, "", "")).encode()


def exchanged(port, sent, source="127.0.0.1", timeout=20.0):
    """Return all that comes back until the server closes; the client is at *source*."""
    address = ("127.0.0.1", port)
    with socket.create_connection(address, timeout, source_address=(source, 0)) as client:
        with suppress(BrokenPipeError, ConnectionResetError):  # it may answer before it has all
            client.sendall(sent)
        return received(client)


def exchanged_at(path, sent, timeout=20.0):
    """Return all that comes back from a UNIX socket."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(timeout)
        client.connect(path)
        client.sendall(sent)
        return received(client)


def received(client):
    """Return what comes until the other end closes, or resets the connection."""
    reply = b""
    with suppress(ConnectionResetError):
        while part := client.recv(1 << 16):
            reply += part
    return reply


def uwsgi_packet(**variables):
    """Return a request of the uwsgi protocol."""
    pairs = {"REQUEST_METHOD": "GET", "PATH_INFO": "/", "QUERY_STRING": "", **variables}
    pairs = {
        "SERVER_PROTOCOL": "HTTP/1.1",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        **pairs,
    }
    texts = [text.encode() for pair in pairs.items() for text in pair]
    block = b"".join(len(text).to_bytes(2, "little") + text for text in texts)
    return b"\0" + len(block).to_bytes(2, "little") + b"\0" + block


def negotiated(port):
    """Return the protocol that a server with TLS chooses for a client of HTTP/2 and HTTP/1.1."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2", "http/1.1"])

    def chosen():
        with (
            suppress(OSError),
            socket.create_connection(("127.0.0.1", port), 5) as plain,
            context.wrap_socket(plain) as secured,
        ):
            return [secured.selected_alpn_protocol()]
        return None

    (protocol,) = until(chosen, "a handshake")
    return protocol
