"""How a server calls its application, told by its command alone."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

from lab.config import servers
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
    assert servers.of(made).interface(made) == interface


@pytest.mark.parametrize(
    "line",
    [
        "worker_class = 'uvicorn.workers.UvicornWorker' if x else 'sync'",
        "if x:\n    worker_class = 'gevent'",
    ],
)
def test_a_computed_worker_class_is_of_no_interface(line):
    """The names in its expression do not tell."""
    made = started_by(profile("theirs", server="theirs"), ("gunicorn", "a:b"))
    made = replace(made, options=(("gunicorn.conf.py", line),))
    assert servers.of(made).interface(made) == ""
    assert servers.of(made).why_fixed(made, "threads") is None
