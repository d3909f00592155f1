"""
The article's application, with another way to the same bytes.

Three applications that differ in one line each, so that a comparison of them is one of the
algorithm: `loop` adds, as the article does; `table` copies from a list of numbers; `prefix` copies
from a finished text. Flask, and all that the article leaves out, is the same in all of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from flask import Flask

import fib


def _application(name: str, answer: Callable[[int], str | bytes]) -> Flask:
    application = Flask(name)

    @application.route("/<number>")
    def fibonacci(number: str) -> str | bytes:
        return answer(int(number))

    return application


loop = _application("loop", lambda number: json.dumps(fib.loop(number)))
table = _application("table", lambda number: json.dumps(fib.get(number)))
prefix = _application("prefix", fib.get_json)
