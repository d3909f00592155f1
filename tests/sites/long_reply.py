"""A WSGI application: `GET /long` is 8 MB, more than all buffers on its way hold; else "short"."""

LONG = b"0123456789abcdef" * 2**19


def application(environ, start_response):
    """Answer in one piece."""
    body = LONG if environ["PATH_INFO"] == "/long" else b"short"
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
