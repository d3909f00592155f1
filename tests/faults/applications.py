"""WSGI applications: two that write a long line for each request, one that waits for a sign."""

import logging
import time
from pathlib import Path

LINE = "a line that an application writes for each request " + "x" * 200

logging.basicConfig(format="%(message)s")  # to standard error


def logging_app(_environ, start_response):
    """Log by the standard library, as Flask does."""
    logging.getLogger(__name__).warning(LINE)
    return _reply(start_response)


def printing_app(environ, start_response):
    """Write to the error stream itself."""
    print(LINE, file=environ["wsgi.errors"], flush=True)
    return _reply(start_response)


def gated_app(environ, start_response):
    """Answer as soon as there is the file that the query names; at once without a query."""
    while (gate := environ["QUERY_STRING"]) and not Path(gate).exists():
        time.sleep(0.01)
    return _reply(start_response)


def _reply(start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
    return [b"done"]
