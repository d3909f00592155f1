"""A WSGI application that says what it sees of its client, and notes what it was asked to do."""

import json
import os
import re
import time
from pathlib import Path

SEEN = (
    "wsgi.url_scheme",
    "REMOTE_ADDR",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_FORWARDED_SSL",
)


def umask():
    """Return what this process takes from the mode of a file that it makes, in octal."""
    # os.umask tells it only by changing it.
    return re.search(r"^Umask:\s*(\d+)$", Path("/proc/self/status").read_text(), re.MULTILINE)[1]


def application(environ, start_response):
    """Answer what is seen; note any other method than GET in $JOURNAL, and wait for $JOURNAL.go."""
    if environ["REQUEST_METHOD"] != "GET":
        with Path(os.environ["JOURNAL"]).open("a") as journal:
            journal.write(f"{environ['REQUEST_METHOD']}\n")
        while not Path(os.environ["JOURNAL"] + ".go").exists():
            time.sleep(0.01)
    seen = {name: environ.get(name, "") for name in SEEN} | {"umask": umask()}
    body = json.dumps(seen).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    start_response("200 OK", headers)
    return [body]
