"""Errors as responses of Flask."""

from __future__ import annotations

from typing import cast

from flask import Response, request
from werkzeug.exceptions import HTTPException

from app.documents import PROBLEM, problem_document


def problem(status: int, detail: str, **members: object) -> Response:
    """Make an error response; see `problem_document`."""
    return Response(problem_document(status, detail, **members), status, content_type=PROBLEM)


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
