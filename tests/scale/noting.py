"""A WSGI application that writes one byte to its log for each request."""

import os


def application(_environ, start_response):
    """Note the request, and answer it."""
    os.write(2, b".")
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "2")])
    return [b"ok"]
