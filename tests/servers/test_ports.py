"""What listens on a port, as the kernel's tables say."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from lab.bench.servers import ports
from lab.bench.servers.ports import free_port, listeners, listens


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "::1"])
def test_a_listening_socket_is_found_beside_its_connections(host):
    """By the name that its owner's descriptor has; connections on the port are none."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        server = socket.create_server((host, 0), family=family)
    except OSError:
        pytest.skip(f"{host} is not to be had here")
    with server:
        port = server.getsockname()[1]
        clients = [socket.create_connection((host, port)) for _ in range(20)]
        assert listeners(port) == {str(Path(f"/proc/self/fd/{server.fileno()}").readlink())}
    try:
        assert not listens(port)
    finally:
        for client in clients:
            client.close()


def test_two_sockets_on_one_port_are_two():
    """As of servers whose workers each bind for themselves."""
    with socket.create_server(("127.0.0.1", 0), reuse_port=True) as one:
        address = one.getsockname()
        with socket.create_server(address, reuse_port=True):
            assert len(listeners(address[1])) == 2


def test_a_port_that_no_client_gets():
    """The kernel gives clients the ports of a range of its own."""
    first, last = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    if first <= max(ports.PORTS):
        pytest.skip(f"clients get ports from {first} to {last} here")
    assert free_port() in ports.PORTS


def test_another_port_where_all_are_in_use(monkeypatch):
    """The kernel chooses one then."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        monkeypatch.setattr(ports, "PORTS", (taken,))
        with socket.create_server(("127.0.0.1", free_port())) as server:
            assert server.getsockname()[1] != taken
