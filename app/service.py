"""
The service: `GET /9000` answers the Fibonacci sequence up to 9000, as the article's does.

The body is the article's, byte for byte; what differs is around it. The answer is a copy out of a
finished text (`fib.get_json`), the response is made with its content type at once - `jsonify` or a
`mimetype` argument cost more than the sequence does - and every error is a problem document.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

from flask import Flask, Response
from werkzeug.exceptions import HTTPException

import fib
from app.number import NumberError, parse_number, read_max_digits
from app.problem import answer_http_error, problem

DISTRIBUTION = "uwsgi-fibonacci-lab"


def make_service() -> Flask:
    """
    Make the application; its settings are read here, once.

    Raises:
        SettingError: An environment variable has a value that cannot be used.
    """
    max_digits = read_max_digits(os.environ)
    index_body = json.dumps(_describe(max_digits), indent=2) + "\n"
    service = Flask("app", static_folder=None)
    service.register_error_handler(HTTPException, answer_http_error)

    @service.get("/<text>")
    def sequence(text: str) -> Response:
        try:
            number = parse_number(text, max_digits)
        except NumberError as error:
            # Returned, not raised: a stranger's bad path is no event in our log.
            facts = {} if error.max_digits is None else {"max_digits": error.max_digits}
            return problem(400, str(error), **facts)
        return Response(fib.get_json(number), content_type="application/json")

    @service.get("/")
    def index() -> Response:
        return Response(index_body, content_type="application/json")

    @service.get("/healthz")
    def health() -> Response:
        headers = {"Cache-Control": "no-store"}
        return Response("ok\n", headers=headers, content_type="text/plain; charset=utf-8")

    @service.get("/favicon.ico")
    def icon() -> Response:
        # Every browser asks; without this it would be told that "favicon.ico" is no integer.
        response = problem(404, "There is no icon.")
        response.headers["Cache-Control"] = "public, max-age=86400"
        return response

    return service


def _describe(max_digits: int) -> dict[str, object]:
    """Say what answers here, for people with curl and for the programs that record it."""
    description: dict[str, object] = {"service": "fibonacci"}
    with suppress(PackageNotFoundError):  # a checkout that was not installed has no version
        description["version"] = version(DISTRIBUTION)
    return {
        **description,
        "fib": {"build": fib.BUILD, "fallback": fib.FALLBACK},
        "max_digits": max_digits,
        "examples": ["/9000", "/-5", "/1000000000000000000"],
        "links": {"health": "/healthz"},
    }
