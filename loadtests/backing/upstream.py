"""
Answer `Pong!` to every request, at once or DELAY milliseconds after it.

    python -I -S upstream.py PORT [DELAY]

What applications ask that wait for another server. It looks for the end of a request and whether
the connection is to be closed, and for nothing else, so that it costs a fraction of what is
compared. SIGTERM ends it with 0.
"""

from __future__ import annotations

import asyncio
import signal
import sys

REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nPong!"
END = b"\r\n\r\n"
LAST = (b"\r\nconnection: close", b" http/1.0\r\n")
"""What a request says after whose reply the connection is closed."""


class Upstream(asyncio.Protocol):
    """A connection of a client."""

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what the replies are written to."""
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        """Answer each request that is whole."""
        *requests, self._rest = (self._rest + data).split(END)
        for request in requests:
            head = (request + END).lower()
            last = any(word in head for word in LAST)
            if self._delay:
                asyncio.get_running_loop().call_later(self._delay, self._answer, last)
            else:
                self._answer(last)

    def _answer(self, last: bool) -> None:
        self._transport.write(REPLY)
        if last:
            self._transport.close()


async def main(port: int, delay: float) -> None:
    """Serve until SIGTERM; *delay* is in seconds."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    await loop.create_server(lambda: Upstream(delay), "127.0.0.1", port, backlog=1024)
    await stop.wait()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float((*sys.argv, "0")[2]) / 1000))
