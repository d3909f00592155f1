"""
The service: `GET /9000` answers the Fibonacci sequence up to 9000, as the article's does.

The body is the article's, byte for byte; what differs is around it. The answer is a copy out of a
finished text (`fib.get_json`) with finished headers (`app.answer`), it may be cached for ever, and
every error is a problem document. The whole contract is `app/openapi.json`.
"""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from flask import Response, request
from werkzeug.exceptions import HTTPException, NotFound

import fib
from app.answer import Answer, is_named, ready
from app.framework import Service
from app.number import NumberError, parse_number, read_max_digits
from app.problem import answer_http_error, problem

DISTRIBUTION = "uwsgi-fibonacci-lab"

CONTRACT = Path(__file__).with_name("openapi.json")

READY = b"[0, 1, 1, 2, 3, 5, 8]"
"""The answer to 8, written down: a service that computes another one is not ready."""

DAY = "public, max-age=86400"


def make_service() -> Service:
    """
    Make the application; its settings are read here, once.

    Raises:
        SettingError: An environment variable has a value that cannot be used.
    """
    max_digits = read_max_digits(os.environ)
    about = _json(_describe(max_digits))
    contract = _json(_contract(max_digits))
    service = Service("app", static_folder=None)
    service.register_error_handler(HTTPException, answer_http_error)

    @service.errorhandler(NotFound)
    def nothing(_error: NotFound) -> Response:
        # Not Werkzeug's words, which doubt the reader's spelling.
        text = request.path.strip("/")
        try:
            parse_number(text, max_digits)
        except NumberError:
            return problem(404, "There is nothing here: ask for a number, as in /9000.")
        return problem(404, f"No slash after the number: try /{text}.")

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
        if fib.get_json(8) != READY:
            return problem(503, "The sequence is computed wrongly.")
        return _now("ok\n")

    @service.get("/favicon.ico")
    def icon() -> Response:
        # Every browser asks; without this it would be told that "favicon.ico" is no integer.
        response = problem(404, "There is no icon.")
        response.headers["Cache-Control"] = DAY
        return response


def _add_metrics(service: Service) -> None:
    """Add `/metrics`, which has something to say under uWSGI only."""
    uwsgi = service.uwsgi

    @service.get("/metrics")
    def metrics() -> Response:
        if uwsgi is None:
            return problem(404, "The server is not uWSGI, which alone counts for all workers.")
        from app.metrics import CONTENT_TYPE, render  # noqa: PLC0415 - seldom asked for

        build = {
            "version": _version(),
            "build": fib.BUILD,
            "python": platform.python_version(),
            "uwsgi": uwsgi.version.decode(),
        }
        return _now(render(uwsgi, service.durations, build), CONTENT_TYPE)


def _now(body: str | bytes, content_type: str = "text/plain; charset=utf-8") -> Response:
    """Return a response that is true at this moment only."""
    return Response(body, headers={"Cache-Control": "no-store"}, content_type=content_type)


def _json(document: object) -> str:
    return json.dumps(document, indent=2) + "\n"


def _version() -> str:
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:  # a checkout that was not installed
        return "unknown"


def _describe(max_digits: int) -> dict[str, object]:
    """Say what answers here, for people with curl and for the programs that record it."""
    return {
        "service": "fibonacci",
        "version": _version(),
        "fib": {"build": fib.BUILD, "fallback": fib.FALLBACK},
        "max_digits": max_digits,
        "examples": ["/9000", "/-5", "/1000000000000000000"],
        "links": {
            "contract": "/openapi.json",
            "health": "/healthz",
            "ready": "/readyz",
        },
    }


def _contract(max_digits: int) -> dict[str, Any]:
    """Return the contract with what is known only now."""
    document: dict[str, Any] = json.loads(CONTRACT.read_text(encoding="utf-8"))
    document["info"]["version"] = _version()
    number = document["paths"]["/{number}"]["parameters"][0]
    number["schema"]["pattern"] = f"^-?[0-9]{{1,{max_digits}}}$"
    return document
