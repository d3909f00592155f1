"""A WSGI application that says what it sees of its client, and notes what it was asked to do."""

import json
import os
import time
from pathlib import Path

SEEN = ("wsgi.url_scheme", "REMOTE_ADDR", "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO")


def application(environ, start_response):
    """Answer what is seen; note any other method than GET in $JOURNAL first, and take a second."""
    if environ["REQUEST_METHOD"] != "GET":
        with Path(os.environ["JOURNAL"]).open("a") as journal:
            journal.write(f"{environ['REQUEST_METHOD']}\n")
        time.sleep(1)
    body = json.dumps({name: environ.get(name, "") for name in SEEN}).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    start_response("200 OK", headers)
    return [body]
