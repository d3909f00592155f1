"""The service, asked in two ways: by Flask's test client, and over HTTP under the real uWSGI."""

import os
from contextlib import contextmanager

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


def ask_client(method, path, headers=None, body=None):
    """Ask the service without a server."""
    os.environ.pop("FIB_MAX_DIGITS", None)
    reply = create_app().test_client().open(path, method=method, headers=headers, data=body)
    return client.reply_of(reply.status_code, reply.headers.items(), reply.data)


@pytest.fixture(params=["client", "server"])
def ask(request):
    """Ask the service in one of both ways."""
    return ask_client if request.param == "client" else request.getfixturevalue("tuned")
