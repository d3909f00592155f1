"""The one request that a load consists of."""

from __future__ import annotations

MAX_REQUEST = 16384
"""Bytes: what the smallest default send buffer takes at once, so that no send is partial."""


def build_request(path: str, host: str, *, keepalive: bool) -> bytes:
    """
    Return the bytes of a GET request.

    Args:
        path: Request target, beginning with a slash, percent-encoded.
        host: Value of the Host header.
        keepalive: Without it the request asks the server to close the connection.

    Raises:
        ValueError: A character that would end the request line or a header, or more than
            `MAX_REQUEST` bytes.
    """
    for text in (path, host):
        if not text or not text.isascii() or not text.isprintable() or " " in text:
            raise ValueError(f"{text[:80]!r} must be percent-encoded to be sent")
    close = "" if keepalive else "Connection: close\r\n"
    request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: */*\r\n{close}\r\n".encode("ascii")
    if len(request) > MAX_REQUEST:
        raise ValueError(f"a request of {len(request)} bytes; at most {MAX_REQUEST} can be sent")
    return request
