"""
The service with a short cut: a plain GET of a number is answered before Flask sees it.

The reply is Flask's, byte for byte. What is passed over is everything that hangs on Flask:
`before_request` and `after_request` functions, signals, extensions, error handlers. This service
has none on that path, so it may; an application that authenticates, counts or logs there may not.
All that is not a plain GET of a number goes on to Flask.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from app import create_app
from app.answer import STATUS, ready
from app.number import NumberError, parse_number, read_max_digits


class ShortCut:
    """
    WSGI middleware that answers numbers by itself.

    Args:
        app: What answers everything else.
        max_digits: Longest number that is answered.
    """

    def __init__(self, app: WSGIApplication, max_digits: int) -> None:
        self._app = app
        self._max_digits = max_digits

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        path = environ.get("PATH_INFO", "")
        if (
            environ["REQUEST_METHOD"] != "GET"
            or "HTTP_IF_NONE_MATCH" in environ
            or path[:1] != "/"  # a request target that is no path
        ):
            return self._app(environ, start_response)
        try:
            number = parse_number(path[1:], self._max_digits)
        except NumberError:
            return self._app(environ, start_response)
        body, _, headers = ready(number)
        start_response(STATUS, list(headers))
        return (body,)


service = create_app()
service.wsgi_app = ShortCut(service.wsgi_app, read_max_digits(os.environ))  # type: ignore[method-assign]
app = application = service
