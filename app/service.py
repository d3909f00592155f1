"""
The service: `GET /9000` answers the Fibonacci sequence up to 9000, as the article's does.

The body is the article's, byte for byte; what differs is around it. The answer is a copy out of a
finished text (`fib.get_json`) with finished headers (`app.answer`), it may be cached for ever, and
every error is a problem document. The whole contract is `app/openapi.json`.
"""

from __future__ import annotations

import os
import platform
from typing import cast

from flask import Response, request
from werkzeug.exceptions import HTTPException, NotFound

import fib
from app import documents
from app.answer import is_named, ready
from app.framework import Answer, Service
from app.number import NumberError, parse_number, read_max_digits


def make_service() -> Service:
    """
    Make the application; its settings are read here, once.

    Raises:
        SettingError: An environment variable has a value that cannot be used.
    """
    max_digits = read_max_digits(os.environ)
    about, contract = documents.about(max_digits), documents.contract(max_digits)
    service = Service("app", static_folder=None)
    service.register_error_handler(HTTPException, answer_http_error)

    @service.errorhandler(NotFound)
    def nothing(_error: NotFound) -> Response:
        # Not Werkzeug's words, which doubt the reader's spelling.
        return problem(404, documents.why_missing(request.path, max_digits))

    @service.get("/<text>")
    def sequence(text: str) -> Response:
        try:
            number = parse_number(text, max_digits)
        except NumberError as error:
            # Returned, not raised: a stranger's bad path is no event in our log.
            facts = {} if error.max_digits is None else {"max_digits": error.max_digits}
            return problem(400, str(error), **facts)
        body, tag, headers = ready(number)
        known = "HTTP_IF_NONE_MATCH"  # nearly no request has it
        if known in request.environ and is_named(tag, request.environ[known]):
            return Response(status=304, headers=headers[2:])
        return Answer(body, list(headers))

    @service.get("/")
    def index() -> Response:
        return Response(about, content_type="application/json")

    @service.get("/openapi.json")
    def openapi() -> Response:
        return Response(contract, content_type="application/json")

    _add_probes(service)
    _add_metrics(service)
    return service


def _add_probes(service: Service) -> None:
    """Add what orchestrators ask for, and browsers."""

    @service.get("/healthz")
    def health() -> Response:
        return _now("ok\n")

    @service.get("/readyz")
    def readiness() -> Response:
        if fib.get_json(8) != documents.READY:
            return problem(503, documents.NOT_READY)
        return _now("ok\n")

    @service.get("/favicon.ico")
    def icon() -> Response:
        # Every browser asks; without this it would be told that "favicon.ico" is no integer.
        response = problem(404, documents.NO_ICON)
        response.headers["Cache-Control"] = documents.DAY
        return response


def _add_metrics(service: Service) -> None:
    """Add `/metrics`, which has something to say under uWSGI only."""
    uwsgi = service.uwsgi

    @service.get("/metrics")
    def metrics() -> Response:
        if uwsgi is None:
            return problem(404, documents.NO_METRICS)
        from app.metrics import CONTENT_TYPE, render  # noqa: PLC0415 - seldom asked for

        build = {
            "version": documents.version_here(),
            "build": fib.BUILD,
            "python": platform.python_version(),
            "uwsgi": uwsgi.version.decode(),
        }
        return _now(render(uwsgi, service.durations, build), CONTENT_TYPE)


def _now(body: str | bytes, content_type: str = documents.TEXT) -> Response:
    """Return a response that is true at this moment only."""
    return Response(body, headers={"Cache-Control": "no-store"}, content_type=content_type)


def problem(status: int, detail: str, **members: object) -> Response:
    """Make an error response; see `problem_document`."""
    return Response(
        documents.problem_document(status, detail, **members),
        status,
        content_type=documents.PROBLEM,
    )


def answer_http_error(error: HTTPException) -> Response:
    """
    Answer what Flask raised: no such path, no such method, an exception in a view.

    Flask logs the exception with its traceback before this is called; none of it is sent.
    """
    if error.response is not None:  # it was raised with one
        return cast("Response", error.response)
    # Never a redirect and never without a code: Flask does not hand those to error handlers.
    response = problem(error.code or 500, error.description or "The request failed.")
    for name, value in error.get_headers(request.environ):
        if name.lower() != "content-type":
            response.headers[name] = value  # Allow, with a 405
    return response
