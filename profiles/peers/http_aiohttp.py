"""
Send as many bytes as the path says, /1024 for 1 KiB: aiohttp, on asyncio's loop or uvloop's.

    python http_aiohttp.py 127.0.0.1:7000 --loop uvloop

The queue of connections is as long as the other servers', where aiohttp's own has 128 places.
"""

import argparse
from functools import lru_cache
from importlib import import_module

from aiohttp import web

LARGEST = 1 << 20


@lru_cache(maxsize=16)
def body_of(size: int) -> bytes:
    """Return *size* bytes."""
    return b"x" * size


async def answer(request: web.Request) -> web.Response:
    """Answer as many bytes as the path says; 404 where they are too many."""
    size = int(request.match_info["size"])
    if size > LARGEST:
        raise web.HTTPNotFound(text="ask for a size in bytes, as in /1024\n")
    return web.Response(body=body_of(size), content_type="text/plain")


parser = argparse.ArgumentParser()
parser.add_argument("address")
parser.add_argument("--loop", choices=["asyncio", "uvloop"], default="asyncio")
asked = parser.parse_args()
host, _, port = asked.address.rpartition(":")
application = web.Application()
application.router.add_get("/{size:[1-9][0-9]{0,6}}", answer)
web.run_app(
    application,
    host=host,
    port=int(port),
    backlog=1024,
    access_log=None,
    print=None,
    loop=import_module(asked.loop).new_event_loop(),
)
