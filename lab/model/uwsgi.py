"""
The wire `uwsgi`: a request of HTTP as nginx's `uwsgi_pass` hands it on.

Source: nginx 1.22.1, conf/uwsgi_params and ngx_http_uwsgi_create_request; uWSGI 2.0.31,
proto/uwsgi.c and uwsgi_parse_vars in core/protocol.c.
"""

from __future__ import annotations

import re
import struct
from urllib.parse import unquote_to_bytes

LONGEST = 65535
"""Bytes of all variables together: two bytes say how many there are."""

PROXY = {
    b"DOCUMENT_ROOT": b"/usr/share/nginx/html",
    b"REQUEST_SCHEME": b"http",
    b"REMOTE_ADDR": b"127.0.0.1",
    b"REMOTE_PORT": b"49152",
    b"SERVER_PORT": b"80",
}
"""What nginx would say of itself and of its client."""


def passed_on(request: bytes) -> bytes:
    """
    Return what stands for a request of HTTP in the uwsgi protocol: its head as variables, its body.

    Args:
        request: Well-formed, its head whole; what it has of a body comes last as it is.

    Raises:
        ValueError: The variables have more than `LONGEST` bytes.
    """
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    method, target, protocol = first.split(b" ")
    path, _, query = target.partition(b"?")
    headers: dict[bytes, bytes] = {}
    for line in lines:
        name, _, value = line.partition(b":")
        name, value = b"HTTP_" + name.upper().replace(b"-", b"_"), value.strip()
        between = b"; " if name == b"HTTP_COOKIE" else b", "
        headers[name] = headers[name] + between + value if name in headers else value
    variables = {
        b"QUERY_STRING": query,
        b"REQUEST_METHOD": method,
        b"CONTENT_TYPE": headers.get(b"HTTP_CONTENT_TYPE", b""),
        b"CONTENT_LENGTH": headers.get(b"HTTP_CONTENT_LENGTH", b""),
        b"REQUEST_URI": target,
        b"PATH_INFO": unquote_to_bytes(path),
        b"SERVER_PROTOCOL": protocol,
        b"SERVER_NAME": re.sub(rb":\d+$", b"", headers.get(b"HTTP_HOST", b"localhost")),
        **PROXY,
        **headers,
    }
    size = sum(4 + len(name) + len(value) for name, value in variables.items())
    if size > LONGEST:
        raise ValueError(f"a head of {size} bytes; the uwsgi protocol takes {LONGEST}")
    texts = (text for pair in variables.items() for text in pair)
    block = b"".join(struct.pack("<H", len(text)) + text for text in texts)
    return struct.pack("<BHB", 0, size, 0) + block + body  # 0: the plugin for Python, a request
