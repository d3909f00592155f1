"""Somebody's WSGI application, without a framework; it knows nothing of this project."""

import os
import secrets

LOGIN = """<!doctype html><title>Log in to the shop</title><form method="post">
<input type="hidden" name="csrfmiddlewaretoken" value="{token}">
<input name="username"><input name="password" type="password"></form>
"""
REFUSED = "<!doctype html><title>Bad Request (400)</title><h1>Bad Request (400)</h1><p></p>"
HOSTS = os.environ.get("SHOP_HOSTS", "localhost").split()


def application(environ, start_response):
    """Answer as a shop would: pages, a login, a cart that changes."""
    status, body = answer(environ)
    start_response(status, [("Content-Length", str(len(body))), ("Content-Type", "text/html")])
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]


def answer(environ):
    """Return status and body."""
    if environ["HTTP_HOST"] not in HOSTS:  # as Django's ALLOWED_HOSTS
        return "400 Bad Request", REFUSED.encode()
    path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
    if path == "/login/":
        return "200 OK", LOGIN.format(token=secrets.token_hex(32)).encode()
    if path == "/uuid":
        return "200 OK", b'{"id": "%s"}' % secrets.token_hex(16).encode()
    if path == "/cart" and method == "POST":
        sent = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"] or 0))
        return "302 Found", environ.get("CONTENT_TYPE", "").encode() + b" " + sent
    if path == "/mine" and environ.get("HTTP_COOKIE") != "id=hunter2":
        return "403 Forbidden", b"whose?"
    if path in ("/", "/mine"):
        return "200 OK", f"{method} {path} of {environ['HTTP_HOST']}".encode()
    return "404 Not Found", b"not here"
