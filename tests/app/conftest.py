"""
The service, asked in three ways: by Flask's test client, and over HTTP under the real uWSGI and, as
the application of Starlette, under hypercorn.
"""

import os
from contextlib import contextmanager
from functools import cache

import pytest

from app import create_app
from tests.kit import client
from tests.kit.running import Running, running


class Server(Running):
    """A running profile, asked one request a connection, its bytes as they are given."""

    def __call__(self, method, path, headers=None, body=None):
        """Ask, and return the reply."""
        return client.ask(self.address, method, path, headers, body)


@contextmanager
def served(name, ready=None):
    """Run a profile, and yield what asks it; *ready* is another workload than our own."""
    with running(name, ready) as started:
        yield Server(started.server, started.folder)


@pytest.fixture(scope="session")
def tuned():
    """Ask the service under uWSGI, by the profile to deploy."""
    with served("tuned") as ask:
        yield ask


@pytest.fixture(scope="session")
def starlette():
    """
    Ask the service for ASGI; what each server adds of its own is left out.

    hypercorn hands on each request here; uvicorn refuses BREW, gunicorn a line of 15,000 bytes.
    """
    with served("hypercorn") as ask:

        def asked(*request):
            reply = ask(*request)
            assert reply.headers.pop("server") == "hypercorn-h11"
            assert reply.headers.pop("date")
            return reply

        yield asked


@cache
def client_of_flask():
    """Return what asks the service without a server."""
    os.environ.pop("FIB_MAX_DIGITS", None)
    return create_app().test_client()


def ask_client(method, path, headers=None, body=None):
    """Ask the service without a server."""
    reply = client_of_flask().open(path, method=method, headers=headers, data=body)
    return client.reply_of(reply.status_code, reply.headers.items(), reply.data)


@pytest.fixture(params=["client", "tuned", "starlette"])
def ask(request):
    """Ask the service in one of the three ways."""
    return ask_client if request.param == "client" else request.getfixturevalue(request.param)
