"""
The handlers of "Non-blocking with Python + uWSGI" (2017): a file is read before or after the reply.

`before` reads numbers.txt, prints each line with its number, and replies; `after` replies at once,
and the same is done by uWSGI's event loop five seconds later. The work per reply is the same. The
article's numbers.txt was not at hand; this one has ten lines.

Both reply as the article's do, without a Content-Length: the reply ends with its connection.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path
from wsgiref.types import StartResponse, WSGIEnvironment

NUMBERS = Path(__file__).with_name("numbers.txt")
DELAY = 5.0
"""Seconds from a reply to its work."""


def before(_environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Print the file, then answer."""
    print_numbers()
    return _answer(start_response)


def after(_environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Answer; have the file printed later, by the loop of uWSGI's asyncio mode."""
    asyncio.get_running_loop().call_later(DELAY, print_numbers)
    return _answer(start_response)


def print_numbers() -> None:
    """Print each line of the file after its number, from 0."""
    with NUMBERS.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            sys.stdout.write(f"{number}:{line}")


def _answer(start_response: StartResponse) -> Iterable[bytes]:
    start_response("200 OK", [("Content-Type", "text/html")])
    return [b"Hello World"]
