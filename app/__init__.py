"""
What a server runs: our service, the article's application, and the smallest one there is.

app.wsgi:app: the service, for uWSGI and any other WSGI server.
app.article:app: the application of the article, its faults included, to be compared with.
app.hello:app: no framework; what a server costs when the application costs nothing.
app.algorithms: the article's application with the sequence by three algorithms.
app.fast:app: the service with a short cut around Flask.

Importing one of them loads nothing of the others, so that a measurement of the small ones holds
neither the memory nor the start of Flask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

__all__ = ["create_app"]


def create_app() -> Flask:
    """
    Make the service; `flask run` in the project's folder finds it by this name.

    Raises:
        SettingError: An environment variable has a value that cannot be used.
    """
    from app.service import make_service  # noqa: PLC0415 - app.hello must not load Flask

    return make_service()
