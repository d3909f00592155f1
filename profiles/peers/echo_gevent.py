"""
Send back what comes, with a greenlet for each connection of gevent's StreamServer.

    python echo_gevent.py 127.0.0.1:7000
    python echo_gevent.py unix:/tmp/echo.sock

The queue of connections is as long as the other servers', where gevent's own has 256 places.
"""

import signal
import sys
from contextlib import suppress

import gevent
from gevent import socket
from gevent.server import StreamServer


def echo(connection: socket.socket, _address: object) -> None:
    """Serve a connection until its client closes it."""
    if connection.family == socket.AF_INET:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with suppress(ConnectionError):
        while data := connection.recv(65536):
            connection.sendall(data)


host, _, port = sys.argv[1].rpartition(":")
listener = socket.socket(socket.AF_UNIX if host == "unix" else socket.AF_INET)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(port if host == "unix" else (host, int(port)))
listener.listen(1024)
server = StreamServer(listener, echo)
gevent.signal_handler(signal.SIGTERM, sys.exit)
server.serve_forever()
