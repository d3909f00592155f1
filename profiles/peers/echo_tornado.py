"""
Send back what comes, with a coroutine for each connection of Tornado's TCPServer.

    python echo_tornado.py 127.0.0.1:7000
    python echo_tornado.py unix:/tmp/echo.sock

Its loop is asyncio's, since Tornado 5. The queue of connections is as long as the other servers',
where Tornado's own has 128 places.
"""

import asyncio
import sys

from tornado.iostream import IOStream, StreamClosedError
from tornado.netutil import bind_sockets, bind_unix_socket
from tornado.tcpserver import TCPServer


class Echo(TCPServer):
    """A server whose connections are streams."""

    async def handle_stream(self, stream: IOStream, address: object) -> None:
        """Serve a connection until its client closes it."""
        stream.set_nodelay(bool(address))  # which a UNIX socket has not
        try:
            while True:
                await stream.write(await stream.read_bytes(65536, partial=True))
        except StreamClosedError:
            return


async def serve(host: str, port: str) -> None:
    """Answer until SIGTERM ends the process."""
    if host == "unix":
        sockets = [bind_unix_socket(port, backlog=1024)]
    else:
        sockets = bind_sockets(int(port), host, backlog=1024)
    Echo().add_sockets(sockets)
    await asyncio.Event().wait()


where, _, at = sys.argv[1].rpartition(":")
asyncio.run(serve(where, at))
