"""
Send back what comes, with a task of trio for each connection.

    python echo_trio.py 127.0.0.1:7000
    python echo_trio.py unix:/tmp/echo.sock

trio sets TCP_NODELAY on each connection.
"""

import socket
import sys
from contextlib import suppress

import trio


async def echo(stream: trio.SocketStream) -> None:
    """Serve a connection until its client closes it."""
    with suppress(trio.BrokenResourceError):
        async for data in stream:
            await stream.send_all(data)


host, _, port = sys.argv[1].rpartition(":")
family = socket.AF_UNIX if host == "unix" else socket.AF_INET
where = port if host == "unix" else (host, int(port))
server = trio.socket.from_stdlib_socket(socket.create_server(where, family=family, backlog=1024))
trio.run(trio.serve_listeners, echo, [trio.SocketListener(server)])
