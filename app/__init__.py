"""
The service.

app.wsgi:app: for uWSGI and any other WSGI server.
app.fast:app: with a short cut around Flask.
app.serve: starts uWSGI with it, or with any application, and loads nothing of either.
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
    from app.service import make_service  # noqa: PLC0415 - app.serve must not load Flask

    return make_service()
