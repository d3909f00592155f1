"""
The service as a Starlette application: the replies of `app.service`, for ASGI servers.

It has the same `fib` and the same documents, and is written as Starlette's documentation writes:
what is measured with it is the server and the framework, as applications of others have them.
"""

from __future__ import annotations

import os

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import fib
from app import documents
from app.answer import is_named, ready
from app.number import NumberError, parse_number, read_max_digits

MAX_DIGITS = read_max_digits(os.environ)
ABOUT = documents.about(MAX_DIGITS)
CONTRACT = documents.contract(MAX_DIGITS)
REFUSED = "The method is not allowed for the requested URL."
"""As Werkzeug says it."""


def problem(status: int, detail: str, **members: object) -> Response:
    """Return an error."""
    body = documents.problem_document(status, detail, **members)
    return Response(body, status, media_type=documents.PROBLEM)


def now(body: str) -> Response:
    """Return a response that is true at this moment only."""
    return Response(body, headers={"Cache-Control": "no-store"}, media_type="text/plain")


async def sequence(request: Request) -> Response:
    """Answer a number."""
    try:
        number = parse_number(request.path_params["text"], MAX_DIGITS)
    except NumberError as error:
        facts = {} if error.max_digits is None else {"max_digits": error.max_digits}
        return problem(400, str(error), **facts)
    body, tag, headers = ready(number)
    known = request.headers.get("if-none-match")
    if known is not None and is_named(tag, known):
        return Response(status_code=304, headers=dict(headers[2:]))
    return Response(body, headers=dict(headers))


async def index(_request: Request) -> Response:
    """Say what answers here."""
    return Response(ABOUT, media_type="application/json")


async def openapi(_request: Request) -> Response:
    """Answer with the contract."""
    return Response(CONTRACT, media_type="application/json")


async def health(_request: Request) -> Response:
    """Say that the process answers."""
    return now("ok\n")


async def readiness(_request: Request) -> Response:
    """Say that the sequence is computed rightly."""
    if fib.get_json(8) != documents.READY:
        return problem(503, documents.NOT_READY)
    return now("ok\n")


async def icon(_request: Request) -> Response:
    """Say that there is none, for a day."""
    response = problem(404, documents.NO_ICON)
    response.headers["Cache-Control"] = documents.DAY
    return response


async def metrics(_request: Request) -> Response:
    """Say who has some."""
    return problem(404, documents.NO_METRICS)


async def refuse(request: Request, error: Exception) -> Response:
    """Answer what Starlette raised: no such path, no such method."""
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return problem(404, documents.why_missing(request.scope["path"], MAX_DIGITS))
    if request.method == "OPTIONS":
        response = Response(media_type="text/html")
    else:
        response = problem(error.status_code, REFUSED)
    response.headers["Allow"] = "GET, HEAD, OPTIONS"
    return response


ROUTES = {
    "/": index,
    "/openapi.json": openapi,
    "/healthz": health,
    "/readyz": readiness,
    "/favicon.ico": icon,
    "/metrics": metrics,
    "/{text}": sequence,
}

app = Starlette(
    routes=[Route(path, endpoint) for path, endpoint in ROUTES.items()],
    exception_handlers={HTTPException: refuse},
)
app.router.redirect_slashes = False
