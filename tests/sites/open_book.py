"""Answers with its process and its environ, after the seconds of the query; notes what it does."""

import json
import os
import time
from pathlib import Path


def note(what):
    """Append a line to the file that NOTES names."""
    if path := os.environ.get("NOTES"):
        with Path(path).open("a") as file:
            file.write(f"{what} {os.getpid()}\n")


note("imported")


def application(environ, start_response):
    """Tell what the server gives; what is no text, number or yes stays out."""
    note(f"asked {environ.get('QUERY_STRING')}")
    time.sleep(float(environ.get("QUERY_STRING") or 0))
    plain = {key: value for key, value in environ.items() if isinstance(value, str | int)}
    body = json.dumps({"pid": os.getpid(), "wrapper": "wsgi.file_wrapper" in environ} | plain)
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body.encode()]
