"""The service, asked in two ways: by Flask's test client, and over HTTP under the real uWSGI."""

import http.client
import os
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from app import create_app
from tests.running import Running, running


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    headers: dict
    """Names in lower case."""
    body: bytes


def _single(pairs):
    """Return headers by their names in lower case, of which none may be there twice."""
    found = {key.lower(): value for key, value in pairs}
    assert len(found) == len(pairs), pairs
    return found


def _reply(status, headers, body):
    if "allow" in headers:  # a set, whose order differs from process to process
        headers["allow"] = ", ".join(sorted(headers["allow"].split(", ")))
    return Reply(status, headers, body)


class Server(Running):
    """A running profile, asked one request a connection, its bytes as they are given."""

    def __call__(self, method, path, headers=None, body=None):
        """Ask, and return the reply."""
        connection = http.client.HTTPConnection(*self.address, timeout=10)
        try:
            # Not request(), which adds headers of its own.
            connection.putrequest(method, path, skip_accept_encoding=True)
            for key, value in (headers or {}).items():
                connection.putheader(key, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            reply = connection.getresponse()
            found = _single(reply.getheaders())
            return _reply(reply.status, found, reply.read())
        finally:
            connection.close()


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
    return _reply(reply.status_code, _single(list(reply.headers.items())), reply.data)


@pytest.fixture(params=["client", "server"])
def ask(request):
    """Ask the service in one of both ways."""
    return ask_client if request.param == "client" else request.getfixturevalue("tuned")
