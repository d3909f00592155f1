"""An application that says when a request has reached it, and answers half a second later."""

import pathlib
import time


def application(environ, start_response):
    """Leave a file named after the query, then wait."""
    if environ["QUERY_STRING"]:
        pathlib.Path(environ["QUERY_STRING"]).touch()
        time.sleep(0.5)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
    return [b"done"]
