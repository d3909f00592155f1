"""
A small HTTP server that ends each connection after so many replies, without announcing it.

    python dropping.py PORT END REPLIES

END is `close` or `reset`, when it has read the request after them; `behind`, with the last of them;
or `never`.
"""

import asyncio
import socket
import struct
import sys

PORT, END, REPLIES = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nPong!"


class Connection(asyncio.Protocol):
    """One client's connection."""

    def connection_made(self, transport):
        """Count from nothing."""
        self.transport, self.answered = transport, 0

    def data_received(self, data):
        """Answer a request, or end the connection."""
        if END == "never" or self.answered < REPLIES or not data.startswith(b"GET"):
            self.answered += 1
            self.transport.write(REPLY)
            if END == "behind" and self.answered == REPLIES:
                self.transport.close()
            return
        if END == "reset":
            linger = struct.pack("ii", 1, 0)
            connection = self.transport.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.transport.abort()
        else:
            self.transport.close()


async def main():
    """Serve for ever."""
    await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", PORT)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
