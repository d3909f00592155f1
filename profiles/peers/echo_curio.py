"""
Send back what comes, with a task of curio for each connection, by its socket or by a stream.

    python echo_curio.py 127.0.0.1:7000
    python echo_curio.py unix:/tmp/echo.sock --streams
"""

import argparse
import socket
from contextlib import suppress

import curio
from curio.socket import AF_INET, IPPROTO_TCP, TCP_NODELAY


async def echo(client: curio.io.Socket, _address: object) -> None:
    """Serve a connection until its client closes it."""
    if client.family == AF_INET:
        client.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    with suppress(ConnectionError):
        if not asked.streams:
            while data := await client.recv(65536):
                await client.sendall(data)
        else:
            stream = client.as_stream()
            while data := await stream.read(65536):
                await stream.write(data)


parser = argparse.ArgumentParser()
parser.add_argument("address")
parser.add_argument("--streams", action="store_true")
asked = parser.parse_args()
host, _, port = asked.address.rpartition(":")
family = socket.AF_UNIX if host == "unix" else socket.AF_INET
where = port if host == "unix" else (host, int(port))
server = curio.io.Socket(socket.create_server(where, family=family, backlog=1024))
curio.run(curio.network.run_server, server, echo)
