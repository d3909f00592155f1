"""
Send back what comes, with a thread of the operating system for each connection.

    python echo_threads.py 127.0.0.1:7000
    python echo_threads.py unix:/tmp/echo.sock
"""

import socket
import sys
from contextlib import suppress
from threading import Thread


def echo(connection: socket.socket) -> None:
    """Serve a connection until its client closes it."""
    if connection.family == socket.AF_INET:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection, suppress(ConnectionError):
        while data := connection.recv(65536):
            connection.sendall(data)


host, _, port = sys.argv[1].rpartition(":")
family = socket.AF_UNIX if host == "unix" else socket.AF_INET
where = port if host == "unix" else (host, int(port))
with socket.create_server(where, family=family, backlog=1024) as server:
    while True:
        Thread(target=echo, args=(server.accept()[0],), daemon=True).start()
