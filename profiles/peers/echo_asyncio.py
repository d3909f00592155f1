"""
Send back what comes, on asyncio's loop or uvloop's, until SIGTERM.

    python echo_asyncio.py 127.0.0.1:7000 --loop uvloop
    python echo_asyncio.py unix:/tmp/echo.sock --style streams

Both loops set TCP_NODELAY on each connection.
"""

import argparse
import asyncio
import signal
from contextlib import suppress
from importlib import import_module


class Echo(asyncio.Protocol):
    """A connection as asyncio sees it below the streams: what arrives is handed over."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin."""
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Send it back."""
        self.transport.write(data)


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve a connection by its streams."""
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def serve(address: str, *, streams: bool) -> None:
    """Answer at *address* until SIGTERM."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    host, _, port = address.rpartition(":")
    if host == "unix":
        start = asyncio.start_unix_server if streams else loop.create_unix_server
    else:
        start = asyncio.start_server if streams else loop.create_server
    where = (port,) if host == "unix" else (host.strip("[]"), int(port))
    server = await start(echo if streams else Echo, *where, backlog=1024)
    await stop.wait()
    server.close()


parser = argparse.ArgumentParser()
parser.add_argument("address")
parser.add_argument("--loop", choices=["asyncio", "uvloop"], default="asyncio")
parser.add_argument("--style", choices=["protocol", "streams"], default="protocol")
asked = parser.parse_args()
new_loop = import_module(asked.loop).new_event_loop
with asyncio.Runner(loop_factory=new_loop) as runner:
    runner.run(serve(asked.address, streams=asked.style == "streams"))
