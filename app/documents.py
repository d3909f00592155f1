"""
What the service replies beside the sequence, for any framework: its description, contract, errors.

Errors are `application/problem+json`, so that a client reads one format whatever went wrong.

RFC 9457: with the type "about:blank" the title is the status's own phrase, and the detail is what
a person should know. https://www.rfc-editor.org/rfc/rfc9457
"""

from __future__ import annotations

import json
from http import HTTPStatus
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import fib
from app.number import NumberError, parse_number

DISTRIBUTION = "uwsgi-fibonacci-lab"

CONTRACT = Path(__file__).with_name("openapi.json")

READY = b"[0, 1, 1, 2, 3, 5, 8]"
"""The answer to 8, written down: a service that computes another one is not ready."""

NOT_READY = "The sequence is computed wrongly."
NO_ICON = "There is no icon."
NO_METRICS = "The server is not uWSGI, which alone counts for all workers."

DAY = "public, max-age=86400"
TEXT = "text/plain; charset=utf-8"
PROBLEM = "application/problem+json"


def problem_document(status: int, detail: str, **members: object) -> str:
    """
    Return the body of an error.

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
    return json.dumps(document) + "\n"


def why_missing(path: str, max_digits: int) -> str:
    """Return the detail of a 404: which path was meant, if that can be told."""
    text = path.strip("/")
    try:
        parse_number(text, max_digits)
    except NumberError:
        return "There is nothing here: ask for a number, as in /9000."
    return f"No slash after the number: try /{text}."


def about(max_digits: int) -> str:
    """Return what answers here, for people with curl and for the programs that record it."""
    return _json(
        {
            "service": "fibonacci",
            "version": version_here(),
            "fib": {"build": fib.BUILD, "fallback": fib.FALLBACK},
            "max_digits": max_digits,
            "examples": ["/9000", "/-5", "/1000000000000000000"],
            "links": {
                "contract": "/openapi.json",
                "health": "/healthz",
                "ready": "/readyz",
            },
        }
    )


def contract(max_digits: int) -> str:
    """Return the contract with what is known only now."""
    document: dict[str, Any] = json.loads(CONTRACT.read_text(encoding="utf-8"))
    document["info"]["version"] = version_here()
    number = document["paths"]["/{number}"]["parameters"][0]
    number["schema"]["pattern"] = f"^-?[0-9]{{1,{max_digits}}}$"
    return _json(document)


def version_here() -> str:
    """Return the version of the installed service."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:  # a checkout that was not installed
        return "unknown"


def _json(document: object) -> str:
    return json.dumps(document, indent=2) + "\n"
