"""
The application of "Getting Every Microsecond Out of uWSGI" (2016), the one its figures are about.

One route and no error handling: `/abc` is a 500 with a traceback in the log, as is the
`/favicon.ico` that each browser asks for, and the JSON is sent as text/html. None of that is mended
here, because it is what was measured; `app.service` is the mended one.
"""

from __future__ import annotations

import json

from flask import Flask

import fib

app = application = Flask(__name__)


@app.route("/<number>")
def fibonacci(number: str) -> str:
    """Return the sequence up to *number*; the article's `fib.get` is `fib.loop` here."""
    return json.dumps(fib.loop(int(number)))
