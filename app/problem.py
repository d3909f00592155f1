"""
Errors as `application/problem+json`, so that a client reads one format whatever went wrong.

RFC 9457: with the type "about:blank" the title is the status's own phrase, and the detail is what
a person should know. https://www.rfc-editor.org/rfc/rfc9457
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import cast

from flask import Response, request
from werkzeug.exceptions import HTTPException

CONTENT_TYPE = "application/problem+json"


def problem(status: int, detail: str, **members: object) -> Response:
    """
    Make an error response.

    Args:
        status: An HTTP status from 400 to 599.
        detail: One sentence for the person who reads it.
        members: Further facts, for programs.
    """
    document = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        **members,
    }
    return Response(json.dumps(document) + "\n", status, content_type=CONTENT_TYPE)


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
