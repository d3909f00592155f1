"""
Flask, without what this service has no use for.

Only by hooks that Flask documents as such, so that its upgrades keep working: `session_interface`
and `create_url_adapter`.
"""

from __future__ import annotations

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

from flask import Flask, Request
from flask.sessions import NullSession, SessionInterface, SessionMixin
from werkzeug.routing import MapAdapter

_NO_SESSION = NullSession()


class NoSessions(SessionInterface):
    """No client has a session, so none is looked for in its cookies."""

    def open_session(self, _app: Flask, _request: Request) -> SessionMixin:
        """Return the same session for every request; it refuses to be written to."""
        return _NO_SESSION


class Service(Flask):
    """An application without sessions, whose routes do not depend on the host."""

    session_interface = NoSessions()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """
        Answer one request.

        What uWSGI's http-socket cannot read as a request, such as blank lines, it hands over
        without a method; that is refused like a method that is not allowed, and not logged.
        """
        environ.setdefault("REQUEST_METHOD", "")
        return self.wsgi_app(environ, start_response)

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """
        Bind the routes to a request by its path and method alone.

        Flask's reads the Host header, decodes it and compares it first, for `TRUSTED_HOSTS`, for
        routes by host and for absolute URLs. It is asked where one of its settings is made.
        """
        if request is None or self.config["TRUSTED_HOSTS"] or self.config["SERVER_NAME"]:
            return super().create_url_adapter(request)
        environ = request.environ
        # WSGI hands over the path's bytes as Latin-1; without any it means the root.
        path = environ.get("PATH_INFO", "").encode("latin-1").decode(errors="replace")
        return MapAdapter(
            self.url_map,
            server_name="",
            script_name=environ.get("SCRIPT_NAME") or "/",
            subdomain="",
            url_scheme="http",
            path_info=path or "/",
            default_method=environ["REQUEST_METHOD"],
        )
