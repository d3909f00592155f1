"""Applications, WSGI and ASGI, in which /held waits until a test lets it go; the rest is quick."""

import asyncio
import os
import socket

GATE = ("127.0.0.1", int(os.environ["GATE"]))
"""Where the test accepts a connection for each request that is in the application's code."""

HEADERS = [("Content-Length", "5")]


def application(environ, start_response):
    """Wait for the test at /held; answer."""
    if environ["PATH_INFO"] == "/held":
        with socket.create_connection(GATE) as gate:
            gate.recv(1)
    start_response("200 OK", HEADERS)
    return [b"ready"]


async def asgi(scope, receive, send):
    """Wait for the test at /held; answer."""
    if scope["type"] != "http":
        return
    if scope["path"] == "/held":
        reader, writer = await asyncio.open_connection(*GATE)
        await reader.read(1)
        writer.close()
    headers = [(name.lower().encode(), value.encode()) for name, value in HEADERS]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ready"})
