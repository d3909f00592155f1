"""Clients that pause: `clients.py COUNTER PORT CLIENTS PAUSE PATH`, until killed."""

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from counter import Counter  # type: ignore[import-not-found]

BEGUN = asyncio.Event()
"""Set by the first whole reply."""


async def client(counter: Counter, port: int, pause: float, path: str) -> None:
    """Ask, wait for the whole reply, pause by chance, and ask again."""
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    streams = None
    while True:
        await asyncio.sleep(random.expovariate(1 / pause) if pause else 0)
        if streams is None:
            streams = await asyncio.open_connection("127.0.0.1", port)
        reader, writer = streams
        counter.add(1)
        try:
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            (length,) = (
                int(line.partition(b":")[2])
                for line in head.split(b"\r\n")
                if line.startswith(b"content-length:")
            )
            await reader.readexactly(length)
            BEGUN.set()
        except (OSError, asyncio.IncompleteReadError):
            streams = None  # a connection that the server closed: the request is sent again
        finally:
            counter.add(-1)
        closes = b"connection: close" in head or (b"keep-alive" not in head and b"1.0" in head[:9])
        if streams is not None and (closes or reader.at_eof()):
            writer.close()
            streams = None


async def begun() -> None:
    """Print a line as soon as the server has answered."""
    await BEGUN.wait()
    print("begun", flush=True)


async def main() -> None:
    """Run all clients."""
    path, port, number, pause, target = sys.argv[1:]
    counter = Counter(Path(path))
    await asyncio.gather(
        begun(), *(client(counter, int(port), float(pause), target) for _ in range(int(number)))
    )


asyncio.run(main())
