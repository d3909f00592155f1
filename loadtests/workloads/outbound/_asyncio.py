"""
The same for uWSGI's asyncio mode: WSGI, and other requests go on while this one waits.

It runs under `uwsgi --asyncio N --greenlet`, as the profiles asyncio and asyncio-100 do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from http.client import HTTPResponse
from wsgiref.types import StartResponse, WSGIEnvironment

from loadtests.workloads.outbound import TIMEOUT, UPSTREAM, relay, reply_of, request
from profiles.event_loop import run


def app(_environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Answer what the upstream answers; with 502 where it does not."""
    return relay(lambda: run(_ask()), start_response)


async def _ask() -> HTTPResponse:
    async with asyncio.timeout(TIMEOUT):
        reader, writer = await asyncio.open_connection(UPSTREAM.hostname, UPSTREAM.port or 80)
        try:
            writer.write(request())
            return reply_of(await reader.read())
        finally:
            writer.close()


application = app
