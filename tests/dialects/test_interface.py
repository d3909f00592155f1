"""How a server calls its application, told by its command alone."""

from __future__ import annotations

import shlex

import pytest

from lab import dialects
from tests.kit.builders import profile, started_by


@pytest.mark.parametrize(
    ("command", "interface"),
    [
        ("gunicorn a:b", "wsgi"),
        ("gunicorn -k gevent a:b", "wsgi"),
        ("gunicorn -k asgi a:b", "asgi"),
        ("gunicorn -kasgi a:b", "asgi"),
        ("env A=1 gunicorn --worker-class=shop.MyUvicornWorker a:b", "asgi"),
        ("{venv}/granian --interface asginl --host {host} a:b", "asgi"),
        ("env GRANIAN_INTERFACE=asgi granian a:b", "asgi"),
        ("granian --interface=wsgi a:b", "wsgi"),
        ("granian a:b", "rsgi"),
        ("uvicorn a:b", "asgi"),
        ("hypercorn a:b", "asgi"),
        ("daphne a:b", "asgi"),
        ("waitress-serve a:b", "wsgi"),
        ("./start", "wsgi"),
    ],
)
def test_how_the_application_is_called(command, interface):
    """By an option, by the server's default, or by the only way that it has."""
    made = started_by(profile("theirs", server="theirs"), tuple(shlex.split(command)))
    assert dialects.of(made).interface(made) == interface
