"""Counters of the network namespace."""

from __future__ import annotations

import socket

import pytest

from lab.bench.probes.tcp import (
    TcpProbe,
    parse_conntrack,
    parse_counters,
    parse_port_range,
    parse_time_wait,
)
from lab.model.protocols import Subject

NETSTAT = """\
TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPTimeouts
TcpExt: 0 585 586 390
IpExt: InNoRoutes InOctets
IpExt: 0 184467440737
"""

SOCKSTAT = """\
sockets: used 180
TCP: inuse 5 orphan 0 tw 14511 alloc 7 mem 1
UDP: inuse 0 mem 0
"""

CONNTRACK = """\
entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop \
icmp_error  expect_new expect_create expect_delete search_restart
00040000  00000002 00000000 00000000 00000007 00000000 00000000 00000000 00014438 00000009 \
00000000 00000005 00000000  00000000 00000000 00000000 00000000
00040000  00000000 00000000 00000000 00000000 00000000 00000000 00000001 00029c88 00000000 \
0000023d 00000000 00000000  00000000 00000000 00000000 00000000
"""

SUBJECT = Subject(server=1, port=1)


def test_counters_are_parsed_by_name():
    """Their order differs from kernel to kernel."""
    counters = parse_counters(NETSTAT)
    assert (counters["ListenOverflows"], counters["ListenDrops"], counters["InOctets"]) == (
        585,
        586,
        184467440737,
    )


@pytest.mark.parametrize(
    "text",
    [
        NETSTAT.replace("TcpExt: 0 585 586 390", "TcpExt: 0 585 586"),
        NETSTAT.replace("IpExt: InNoRoutes InOctets\n", ""),
        NETSTAT.replace("IpExt: 0", "TcpExt: 0"),
    ],
)
def test_names_and_numbers_that_do_not_belong_together_are_refused(text):
    """A shifted column would be another counter's value."""
    with pytest.raises(ValueError):
        parse_counters(text)


def test_connections_in_time_wait_are_parsed():
    """From the line of TCP."""
    assert parse_time_wait(SOCKSTAT) == 14511


def test_local_ports_are_counted():
    """Both ends of the range are in it."""
    assert parse_port_range("32768\t60999\n") == 28232


def test_a_sockstat_without_them_is_refused():
    """No figure is not a figure of zero."""
    with pytest.raises(ValueError):
        parse_time_wait(SOCKSTAT.replace(" tw ", " "))


def test_packets_that_connection_tracking_dropped_are_counted():
    """Of each CPU, in hexadecimal; evicted entries and resolved collisions lost no packet."""
    assert parse_conntrack(CONNTRACK) == {"conntrack_drop": 0x23D + 1}
    earlier = CONNTRACK.replace("chainlength", "delete_list")  # before Linux 5.15
    assert parse_conntrack(earlier) == {"conntrack_drop": 0x23D}


@pytest.mark.parametrize("text", ["", CONNTRACK.replace(" drop ", " "), "drop\n0 0\n"])
def test_a_table_of_connections_without_drops_is_refused(text):
    """No figure is not a figure of zero."""
    with pytest.raises(ValueError):
        parse_conntrack(text)


def test_a_server_on_a_unix_socket_has_no_tcp():
    """What the machine counted meanwhile is not its own, so nothing is said."""
    assert TcpProbe().start(Subject(server=1, port=None))() == {}


def test_a_closed_connection_is_seen_in_time_wait():
    """The side that closes first keeps it for a minute."""
    probe = TcpProbe()
    stop = probe.start(SUBJECT)
    with socket.create_server(("127.0.0.1", 0)) as server:
        with (
            socket.create_connection(server.getsockname()) as client,
            server.accept()[0] as accepted,
        ):
            client.shutdown(socket.SHUT_WR)
            assert accepted.recv(1) == b""
            accepted.shutdown(socket.SHUT_WR)
            assert client.recv(1) == b""
        readings = stop()
    assert readings["tcp.time_wait"] >= 1
    assert 1 <= readings["tcp.ports"] <= 65535
    assert readings["tcp.ListenOverflows"] >= 0
    assert {"tcp.TCPSynRetrans", "tcp.TCPTimeouts", "tcp.RetransSegs"} <= readings.keys()
