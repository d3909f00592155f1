"""Hosts that are each behind a link of their own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import pytest

from studies.selftest.surroundings import own_network
from tests.kit.namespaces import Host, made_host, why_none


@contextmanager
def hosts(count: int) -> Iterator[Sequence[Host]]:
    """
    Move this thread, and what it starts, to a network with so many hosts, each behind a link.

    Their addresses are 10.77.0.2, 10.77.1.2 and so on; the other ends have 10.77.0.1, 10.77.1.1.
    """
    if reason := why_none():
        pytest.skip(reason)
    with own_network(), ExitStack() as stack:
        yield [_linked(number, stack) for number in range(count)]


def _linked(number: int, stack: ExitStack) -> Host:
    host = stack.enter_context(made_host(f"10.77.{number}.2"))
    near, far = f"veth{number}", f"02:00:00:00:00:{number:02x}"
    _ip(f"link add {near} type veth peer name eth0 address {far} netns {host.pid}")
    _ip(f"address add 10.77.{number}.1/30 dev {near}")
    _ip(f"link set {near} up")
    # As behind a router: else the kernel itself would say after 3 s that nobody has the address.
    _ip(f"neighbour add {host.address} lladdr {far} dev {near} nud permanent")
    host.ip(f"address add {host.address}/30 dev eth0")
    host.ip("link set dev eth0 up")
    return host


def _ip(command: str) -> None:
    subprocess.run(["ip", *command.split()], check=True, capture_output=True)
