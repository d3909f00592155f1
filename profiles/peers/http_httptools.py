"""
Send as many bytes as the path says, /1024 for 1 KiB: asyncio and httptools, as in the article.

    python http_httptools.py 127.0.0.1:7000 --loop uvloop

httptools is the parser of Node.js for Python. There is no framework: what is served is the path
alone, and no header is looked at but by the parser.
"""

import argparse
import asyncio
import re
import signal
from functools import lru_cache
from importlib import import_module

import httptools

LARGEST = 1 << 20
SIZE = re.compile(rb"/[1-9][0-9]{0,6}")


@lru_cache(maxsize=16)
def reply_to(path: bytes) -> bytes:
    """Return the whole reply to a request of *path*."""
    status, body = b"404 Not Found", b"ask for a size in bytes, as in /1024\n"
    if SIZE.fullmatch(path) and int(path[1:]) <= LARGEST:
        status, body = b"200 OK", b"x" * int(path[1:])
    head = b"HTTP/1.1 %b\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n"
    return head % (status, len(body)) + body


class Http(asyncio.Protocol):
    """A connection; its parser calls the methods whose names begin with on_message."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin."""
        self.transport = transport
        self.parser = httptools.HttpRequestParser(self)

    def data_received(self, data: bytes) -> None:
        """Parse it; what is no request ends the connection."""
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserError:
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            self.transport.close()

    def on_message_begin(self) -> None:
        """Begin a request."""
        self.url = b""

    def on_url(self, url: bytes) -> None:
        """Take the request's target, or a piece of it."""
        self.url += url

    def on_message_complete(self) -> None:
        """Answer."""
        self.transport.write(reply_to(self.url))
        if not self.parser.should_keep_alive():
            self.transport.close()


async def serve(address: str) -> None:
    """Answer at *address* until SIGTERM."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    host, _, port = address.rpartition(":")
    server = await loop.create_server(Http, host, int(port), backlog=1024)
    await stop.wait()
    server.close()


parser = argparse.ArgumentParser()
parser.add_argument("address")
parser.add_argument("--loop", choices=["asyncio", "uvloop"], default="asyncio")
asked = parser.parse_args()
with asyncio.Runner(loop_factory=import_module(asked.loop).new_event_loop) as runner:
    runner.run(serve(asked.address))
