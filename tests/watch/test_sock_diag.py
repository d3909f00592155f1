"""What the kernel says of the sockets of a port, and what is said where it does not."""

from __future__ import annotations

import errno
import os
import resource
import socket
import struct
from contextlib import ExitStack

import pytest

from lab.bench.probes import sock_diag
from lab.bench.probes.sock_diag import SocketDiagnosis, SocketDiagnosisError
from tests.kit.lab_process import until
from tests.watch.stand import needs_diagnosis

MANY = 3000


@needs_diagnosis
def test_a_connection_is_described_as_the_kernel_has_it():
    """Its queue of bytes, its counters, and no file as long as it is not accepted."""
    with socket.create_server(("127.0.0.1", 0), backlog=7) as server, ExitStack() as clients:
        port = server.getsockname()[1]
        for _ in range(2):
            client = clients.enter_context(socket.create_connection(("127.0.0.1", port)))
            client.sendall(b"x" * 30)
        accepted = clients.enter_context(server.accept()[0])
        accepted.recv(10)
        accepted.sendall(b"y" * 5)
        with SocketDiagnosis() as diagnosis:
            (listener,) = diagnosis.listeners(port)
            connections = diagnosis.connections(port, socket.AF_INET)
        assert (listener.queue, listener.limit, listener.port) == (1, 7, port)
        assert listener.inode == os.fstat(server.fileno()).st_ino
        assert listener.uid == os.getuid()
        ours, waiting = sorted(connections, key=lambda connection: connection.inode == 0)
        assert all(listener.takes(connection) for connection in connections)
        assert ours.inode == os.fstat(accepted.fileno()).st_ino
        assert (ours.unread, ours.bytes_received, ours.bytes_sent) == (20, 30, 5)
        assert (ours.data_segments_in, ours.data_segments_out) == (1, 1)
        assert (waiting.inode, waiting.unread, waiting.bytes_sent) == (0, 30, 0)


@needs_diagnosis
@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="needs IPv6")
def test_a_listener_of_ipv6_has_its_clients_of_ipv4():
    """In its own family alone."""
    with socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)), SocketDiagnosis() as diagnosis:
            (listener,) = diagnosis.listeners(port)
            (connection,) = diagnosis.connections(port, listener.family)
            assert listener.family == socket.AF_INET6
            assert listener.takes(connection)
            assert diagnosis.connections(port, socket.AF_INET) == []


@needs_diagnosis
def test_three_thousand_connections_are_described_whole():
    """More than one message of the kernel's holds."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2 * MANY + 200:
        pytest.skip("the limit of open files is too low")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * MANY + 200), hard))
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server, ExitStack() as opened:
        port = server.getsockname()[1]
        for number in range(MANY):
            client = opened.enter_context(socket.create_connection(("127.0.0.1", port)))
            opened.enter_context(server.accept()[0])
            if number % 3 == 0:
                client.sendall(b"x")
        with SocketDiagnosis() as diagnosis:

            def arrived():
                connections = diagnosis.connections(port, socket.AF_INET)
                return (
                    len({connection.cookie for connection in connections if connection.unread})
                    == MANY / 3
                )

            until(arrived, "all bytes")
            connections = diagnosis.connections(port, socket.AF_INET)
    assert len({connection.cookie for connection in connections}) == MANY
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Kernel:
    """Stands in for a netlink socket, and answers with what a test wants."""

    def __init__(self, answer):
        self._answer = answer

    def send(self, _question):
        """Take a request."""

    def recv_into(self, buffer):
        """Return the answer."""
        buffer[: len(self._answer)] = self._answer
        return len(self._answer)

    def close(self):
        """Do nothing."""


def refusing(number):
    """Return a kernel that answers with an error."""
    return Kernel(struct.pack("=IHHIIi", 20, 2, 0, 1, 0, -number))


@pytest.mark.parametrize(
    ("number", "says"),
    [(errno.ENOENT, "modprobe -a tcp_diag unix_diag"), (errno.EPERM, "not permitted")],
)
def test_a_kernel_that_describes_nothing_is_named(number, says, monkeypatch):
    """As one without the module, or the sandbox of a container."""
    monkeypatch.setattr(sock_diag, "_netlink", lambda: refusing(number))
    with SocketDiagnosis() as diagnosis, pytest.raises(SocketDiagnosisError, match=says):
        diagnosis.listeners(80)


def test_an_old_kernel_is_named(monkeypatch):
    """One before 4.19 does not count the bytes that it sent again."""
    message = bytes(72) + struct.pack("=HH", 196, 2) + bytes(192)
    answer = struct.pack("=IHHII", 16 + len(message), 20, 2, 1, 0) + message
    monkeypatch.setattr(sock_diag, "_netlink", lambda: Kernel(answer))
    with SocketDiagnosis() as diagnosis, pytest.raises(SocketDiagnosisError, match=r"4\.19"):
        diagnosis.connections(80, socket.AF_INET)


def test_another_system_is_named(monkeypatch):
    """Such as macOS, which has no netlink."""
    monkeypatch.delattr(sock_diag.socket, "AF_NETLINK")
    with pytest.raises(SocketDiagnosisError, match="sock_diag"):
        SocketDiagnosis()


def test_a_namespace_that_may_not_be_entered_is_named(monkeypatch):
    """As that of a container, for who is not root."""

    class Refusing:
        """Stands in for the C library."""

        setns = staticmethod(lambda *_: -1)

    monkeypatch.setattr(sock_diag, "_is_here", lambda _pid: False)
    monkeypatch.setattr(sock_diag, "_LIBC", Refusing)
    with pytest.raises(SocketDiagnosisError, match="another network namespace, such as a cont"):
        SocketDiagnosis(os.getpid())
