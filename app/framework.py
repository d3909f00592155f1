"""
Flask, without what this service has no use for.

Only by hooks that Flask documents as such, so that its upgrades keep working: `session_interface`,
`create_url_adapter`, and the methods that run functions which are registered for each request. This
service registers none; as soon as somebody does, Flask's own method runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cached_property
from inspect import CO_COROUTINE
from time import perf_counter_ns
from types import FunctionType
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

from flask import Flask, Request, Response, appcontext_tearing_down, request, request_tearing_down
from flask.sessions import NullSession, SessionInterface, SessionMixin
from flask.typing import ResponseReturnValue
from werkzeug.routing import MapAdapter

from app.answer import STATUS
from app.durations import FIRST_BOUND, SIZE, Durations, place
from app.routing import Adapter, Segment, segment_of

COUNTERS = "app.counters"
"""In a request's environment: where the counters of its reply's status class begin."""

_NO_SESSION = NullSession()


class NoSessions(SessionInterface):
    """No client has a session, so none is looked for in its cookies."""

    def open_session(self, _app: Flask, _request: Request) -> SessionMixin:
        """Return the same session for every request; it refuses to be written to."""
        return _NO_SESSION

    def is_null_session(self, _session: object) -> bool:
        """Return that there is nothing to save."""
        return True


class Reply(Response):
    """A response that says how it ended; Flask makes one of these of any other response."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Send it, and note its class."""
        environ[COUNTERS] = place(self.status_code) * SIZE
        return super().__call__(environ, start_response)


class Answer(Reply):
    """
    A response with status 200 whose body and headers are known when it is made.

    Werkzeug's turns headers into a mapping and back, and joins, counts and encodes what is bytes
    already: a third of the whole request. This one does so only once somebody looks at it, such as
    an `after_request` function or an extension; from then on it is an ordinary response. Only an
    application that replaces `response_class` must not be given one.

    Args:
        body: The whole body.
        headers: All of them; the list becomes the server's.
    """

    def __init__(self, body: bytes, headers: list[tuple[str, str]]) -> None:
        # Not super().__init__: what it sets is set when it is asked for.
        self._body = body
        self._ready = headers

    def __getattr__(self, name: str) -> Any:
        """Become an ordinary response, and return what is asked for."""
        seen = dict(vars(self))
        if seen.pop("_whole", False) or "_ready" not in seen:  # or a copy is being made of it
            raise AttributeError(name)
        self._whole = True
        super().__init__(self._body, None, self._ready)
        vars(self).update(seen)  # what has been set by then: a status, a body
        return getattr(self, name)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Send it."""
        if len(vars(self)) > 2:
            return super().__call__(environ, start_response)
        start_response(STATUS, self._ready)
        return () if environ["REQUEST_METHOD"] == "HEAD" else (self._body,)


class Service(Flask):
    """An application without sessions, whose routes do not depend on the host, and that counts."""

    session_interface = NoSessions()
    response_class = Reply

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # uWSGI puts it there; elsewhere `import uwsgi` would find this project's folder.
        self.uwsgi = sys.modules.get("uwsgi")
        self.durations = Durations(self.uwsgi)
        self._own: memoryview | None = None

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """
        Answer one request, and count it.

        What uWSGI's http-socket cannot read as a request, such as blank lines, it hands over
        without a method; that is refused like a method that is not allowed, and not logged.
        """
        began = perf_counter_ns()
        environ.setdefault("REQUEST_METHOD", "")
        body = self.wsgi_app(environ, start_response)
        counters = self._own
        if counters is None:  # the first one, in this worker
            counters = self._own = self.durations.own()
        bits = ((perf_counter_ns() - began) // FIRST_BOUND).bit_length()
        # What notes no class is an `Answer`: 2xx.
        counters[environ.get(COUNTERS, 0) + bits] += 1
        return body

    def log_exception(self, exc_info: Any) -> None:
        """
        Write what a view let out into the log, with the name that nginx gave to the request.

        REQUEST_ID is nginx's own word, and no client's header. The path is a client's; quoted, it
        cannot begin a line.
        """
        name = request.environ.get("REQUEST_ID", "-")
        text = "Exception on %r [%s], request %s"
        self.logger.error(text, request.path, request.method, name, exc_info=exc_info)

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
        adapter = Adapter(
            self.url_map,
            server_name="",
            script_name=environ.get("SCRIPT_NAME") or "/",
            subdomain="",
            url_scheme="http",
            path_info=path or "/",
            default_method=environ["REQUEST_METHOD"],
        )
        adapter.segment = self.segment
        return adapter

    @cached_property
    def segment(self) -> Segment | None:
        """The rule of most requests."""
        return segment_of(self.url_map)

    def add_url_rule(self, *args: Any, **kwargs: Any) -> None:
        """Add a route."""
        super().add_url_rule(*args, **kwargs)
        vars(self).pop("segment", None)

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return a plain function as it is, without the questions that `inspect` asks."""
        plain = type(func) is FunctionType and not func.__code__.co_flags & CO_COROUTINE
        # What is in its dictionary may mark it as one (inspect.markcoroutinefunction).
        if plain and not func.__dict__:
            return func
        return super().ensure_sync(func)

    def preprocess_request(self) -> ResponseReturnValue | None:
        """Call what is registered to be called before a request."""
        if self.before_request_funcs or self.url_value_preprocessors:
            return super().preprocess_request()
        return None

    def do_teardown_request(self, *args: BaseException | None) -> None:
        """Call what is registered to be called after a request."""
        if self.teardown_request_funcs or request_tearing_down.receivers:
            super().do_teardown_request(*args)

    def do_teardown_appcontext(self, *args: BaseException | None) -> None:
        """Call what is registered for the end of the application's context."""
        if self.teardown_appcontext_funcs or appcontext_tearing_down.receivers:
            super().do_teardown_appcontext(*args)
