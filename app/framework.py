"""
Flask, without what this service has no use for.

Only by hooks that Flask documents as such, so that its upgrades keep working: `session_interface`
and `create_url_adapter`.
"""

from __future__ import annotations

from flask import Flask, Request
from flask.sessions import NullSession, SessionInterface, SessionMixin
from werkzeug.routing import MapAdapter

_NO_SESSION = NullSession()


class NoSessions(SessionInterface):
    """No client has a session, so none is looked for in its cookies."""

    def open_session(self, _app: Flask, _request: Request) -> SessionMixin:
        """Return the same empty session, which refuses to be written to, for every request."""
        return _NO_SESSION

    def save_session(self, _app: Flask, _session: SessionMixin, _response: object) -> None:
        """Save nothing."""


class Service(Flask):
    """An application without sessions, whose routes do not depend on the host."""

    session_interface = NoSessions()

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """
        Bind the routes to a request by its path and method alone.

        Flask's reads the Host header, decodes it and compares it first, for routes by host and
        for absolute URLs in redirects; this service has neither.
        """
        if request is None:
            return super().create_url_adapter(request)
        environ = request.environ
        return MapAdapter(
            self.url_map,
            server_name="",
            script_name="/",
            subdomain="",
            url_scheme="http",
            # WSGI hands over the path's bytes as Latin-1; without any it means the root.
            path_info=environ["PATH_INFO"].encode("latin-1").decode(errors="replace") or "/",
            default_method=environ["REQUEST_METHOD"],
        )
