"""
Answer `Pong!` to every request, DELAY milliseconds after it: python upstream.py PORT DELAY.

Far cheaper than what asks it: asyncio's loop takes 60 µs for a connection and 10 for a request on a
kept one, and with its transports 155 and 30. SIGTERM ends it with 0.
"""

import asyncio
import signal
import socket
import sys

REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nPong!"
LAST = (b"\r\nconnection: close", b" http/1.0\r\n")  # closed after the reply to such a request
loop = asyncio.new_event_loop()


class Client:
    """A connection, whose requests are answered after *delay* seconds."""

    def __init__(self, connection: socket.socket, delay: float) -> None:
        self._socket, self._delay, self._rest = connection, delay, b""
        connection.setblocking(False)
        self._receive()  # its request is mostly there already
        if connection.fileno() >= 0:
            loop.add_reader(connection, self._receive)

    def _receive(self) -> None:
        try:
            data = self._socket.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        *requests, self._rest = (self._rest + data).split(b"\r\n\r\n")
        for request in requests:
            last = any(word in request.lower() + b"\r\n" for word in LAST)
            loop.call_later(self._delay, self._answer, last) if self._delay else self._answer(last)
        if not data:
            self._close()

    def _answer(self, last: bool) -> None:
        try:
            self._socket.send(REPLY)
        except OSError:  # the client has gone, or takes no replies
            last = True
        if last:
            self._close()

    def _close(self) -> None:
        if self._socket.fileno() >= 0:
            loop.remove_reader(self._socket)
            self._socket.close()


if __name__ == "__main__":
    server, wait = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=1024), sys.argv[2]
    loop.add_reader(server, lambda: Client(server.accept()[0], float(wait) / 1000))
    loop.add_signal_handler(signal.SIGTERM, loop.stop)
    loop.run_forever()
