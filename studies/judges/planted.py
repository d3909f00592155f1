"""The service, behind a handler that renders a page and takes so much CPU more: what is judged."""

from __future__ import annotations

import os
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

import jinja2

from app.wsgi import app as service

TURNS = range(int(os.environ.get("SPIN", "0")))
"""Of an empty loop, a request."""

ROWS = [{"name": f"item {number}", "price": number * 1.1} for number in range(40)]

PAGE = jinja2.Environment(autoescape=True).from_string(
    "<table>{% for row in rows %}<tr><td>{{ row.name }}</td>"
    "<td>{{ '%.2f' | format(row.price) }}</td></tr>{% endfor %}</table>"
)
"""So much that a request costs as an ordinary page does, and the load is not what limits."""


def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Render, spin, and answer as the service does."""
    PAGE.render(rows=ROWS)
    for _ in TURNS:
        pass
    return service(environ, start_response)
