"""A WSGI application that answers how often it has been called."""

import json
from itertools import count

_calls = count(1)


def application(_environ, start_response):
    """Answer the number of this call, in this process."""
    body = json.dumps([next(_calls)]).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    start_response("200 OK", [*headers, ("ETag", '"f1"')])
    return [body]
