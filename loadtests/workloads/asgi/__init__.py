"""
A Starlette application with a handler for each thing that handlers of ASGI applications do.

`/await/10` and `/def/10` wait 10 milliseconds, in the event loop and in a thread; `/cpu/1` uses a
millisecond of CPU; `POST /10240` sends back what it got, and `GET /10240` as many bytes, in pieces.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

LONGEST = 60_000
"""Milliseconds; a bound on what one request can ask for."""

LARGEST = 1 << 20
"""Bytes of a body at most."""

PIECE = 1024
"""Bytes that are handed over at once."""


def number_of(request: Request, most: int) -> int:
    """Return the number in the path, at most *most*."""
    return min(int(request.path_params["number"]), most)


async def wait_in_loop(request: Request) -> Response:
    """Wait as many milliseconds as the path says, and let others go on meanwhile."""
    milliseconds = number_of(request, LONGEST)
    await asyncio.sleep(milliseconds / 1000)
    return PlainTextResponse(str(milliseconds))


def wait_in_thread(request: Request) -> Response:
    """Do the same in a thread: Starlette has its pool call what is no coroutine."""
    milliseconds = number_of(request, LONGEST)
    time.sleep(milliseconds / 1000)
    return PlainTextResponse(str(milliseconds))


async def compute(request: Request) -> Response:
    """Use as many milliseconds of CPU as the path says."""
    milliseconds = number_of(request, LONGEST)
    end = time.thread_time_ns() + 1_000_000 * milliseconds
    while time.thread_time_ns() < end:
        pass
    return PlainTextResponse(str(milliseconds))


async def echo(request: Request) -> Response:
    """Answer what was sent."""
    return Response(await request.body(), media_type="application/octet-stream")


async def stream(request: Request) -> Response:
    """Answer as many bytes as the path says, without telling their length before."""
    size = number_of(request, LARGEST)
    return StreamingResponse(_pieces(size), media_type="text/plain")


async def _pieces(size: int) -> AsyncIterator[bytes]:
    for start in range(0, size, PIECE):
        yield b"x" * min(PIECE, size - start)


app = Starlette(
    routes=[
        Route("/await/{number:int}", wait_in_loop),
        Route("/def/{number:int}", wait_in_thread),
        Route("/cpu/{number:int}", compute),
        Route("/{number:int}", echo, methods=["POST"]),
        Route("/{number:int}", stream),
    ]
)
