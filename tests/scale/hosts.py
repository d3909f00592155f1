"""Hosts that are joined by a switch, or by a long way."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.kit.lab_process import until
from tests.kit.namespaces import BOUND, Host, made_host, why_none

FAR = Path(__file__).with_name("far.py")


@contextmanager
def hosts(count: int) -> Iterator[tuple[Host, list[Host]]]:
    """Yield a switch, whose ports are port1 and so on, and as many hosts, 10.77.0.1 and so on."""
    if reason := why_none():
        pytest.skip(reason)
    with ExitStack() as stack:
        switch = stack.enter_context(made_host(""))
        switch.ip("link add name switch type bridge")
        switch.ip("link set dev switch up")
        connected_hosts = []
        for number in range(1, count + 1):
            host = stack.enter_context(made_host(f"10.77.0.{number}"))
            port = f"port{number}"
            switch.ip(f"link add name {port} type veth peer name eth0 netns {host.pid}")
            switch.ip(f"link set dev {port} master switch up")
            host.ip(f"address add {host.address}/24 dev eth0")
            host.ip("link set dev eth0 up")
            connected_hosts.append(host)
        yield switch, connected_hosts


@contextmanager
def far_apart(seconds: float) -> Iterator[tuple[Host, Host]]:
    """Yield two hosts between which a packet takes half of *seconds* in each direction."""
    if reason := why_none():
        pytest.skip(reason)
    if not Path("/dev/net/tun").exists():
        pytest.skip("this kernel has no TUN devices")
    with made_host("10.78.0.1") as one, made_host("10.78.0.2") as other:
        ends = (str(one.pid), str(other.pid))
        words = [*BOUND, "python3", str(FAR), *ends, str(seconds / 2)]
        relay = subprocess.Popen(words)
        try:
            for host, peer in ((one, other), (other, one)):
                until(lambda host=host: "far" in host.read("dev"), "its device", 10.0)
                host.ip(f"address add {host.address} peer {peer.address} dev far")
                host.ip("link set dev far up")
            yield one, other
        finally:
            relay.kill()
            relay.wait()
