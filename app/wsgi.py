"""The service under the two names that WSGI servers look for."""

from __future__ import annotations

from app import create_app

app = application = create_app()
