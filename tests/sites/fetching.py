"""An application that asks another server in a greenlet of its own, as grequests does."""

import urllib.request

import gevent


def fetch(port):
    """Return the reply of the server at *port* of this machine."""
    with urllib.request.urlopen(f"http://127.0.0.1:{int(port)}/", timeout=10) as reply:
        return reply.read()


def application(environ, start_response):
    """Pass on the reply of the server whose port is the query; without one, be ready."""
    port = environ["QUERY_STRING"]
    body = gevent.spawn(fetch, port).get() if port else b"ready"
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
