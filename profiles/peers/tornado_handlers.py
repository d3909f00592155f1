"""
Applications of Tornado for the lab's workloads; each function makes one, with Tornado's settings.

They run on Tornado 4.5 and Python 3.6, too.
"""

import os
from functools import lru_cache

from tornado.httpclient import AsyncHTTPClient, HTTPError
from tornado.web import Application, RequestHandler

LARGEST = 1 << 20


class Hello(RequestHandler):
    """What a server costs when the application costs nothing."""

    def get(self) -> None:
        """Answer `Pong!`."""
        self.set_header("Content-Type", "text/plain")
        self.write(b"Pong!")


@lru_cache(maxsize=16)
def body_of(size: int) -> bytes:
    """Return *size* bytes."""
    return b"x" * size


class Payload(RequestHandler):
    """What it costs to send."""

    def get(self, size: str) -> None:
        """Answer as many bytes as the path says; 404 where they are too many."""
        self.set_header("Content-Type", "text/plain")
        if int(size) > LARGEST:
            self.set_status(404)
            self.write(b"ask for a size in bytes, as in /1024\n")
        else:
            self.write(body_of(int(size)))


class Outbound(RequestHandler):
    """What waits for another server, on a connection of its own as Tornado's client has it."""

    async def get(self) -> None:
        """Answer what the upstream answers; with 502 where it does not."""
        self.set_header("Content-Type", "text/plain")
        try:
            reply = await AsyncHTTPClient().fetch(os.environ["UPSTREAM_URL"], request_timeout=10.0)
            self.write(reply.body)
        except (OSError, HTTPError) as error:
            self.set_status(502)
            self.write(f"the upstream does not answer: {error}\n")


def hello(**settings: object) -> Application:
    """Make the application that says `Pong!`."""
    return Application([("/", Hello)], **settings)


def payload(**settings: object) -> Application:
    """Make the application that sends as many bytes as are asked for."""
    return Application([("/([1-9][0-9]{0,6})", Payload)], **settings)


def outbound(**settings: object) -> Application:
    """Make the application that asks another server, for as many clients at once as come."""
    AsyncHTTPClient.configure(None, max_clients=1000)
    return Application([("/", Outbound)], **settings)


def outbound_default(**settings: object) -> Application:
    """Make the same, with the client's default: ten requests at once, and the others wait."""
    return Application([("/", Outbound)], **settings)
