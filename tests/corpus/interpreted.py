"""
What uWSGI reads of a request by itself, and requests with any byte in each of these places.

A header that uWSGI only hands on is opaque to it. Those that it interprets, and the parts of the
request line, are where a byte that nobody expects can hurt the server itself.

Sources: uWSGI 2.0.31, core/protocol.c (uwsgi_proto_check_*), proto/http.c, plugins/http/http.c.
"""

from __future__ import annotations

from collections.abc import Iterator

HEADERS = (
    ("Host", b"fib"),
    ("Content-Type", b"text/plain"),
    ("Content-Length", b"0"),
    ("Cookie", b"a=b"),
    ("Origin", b"http://fib"),
    ("Referer", b"http://fib/"),
    ("User-Agent", b"corpus"),
    ("Authorization", b"Basic YTpi"),
    ("Accept-Encoding", b"gzip"),
    ("If-Modified-Since", b"Thu, 01 Jan 1970 00:00:00 GMT"),
    ("Range", b"bytes=0-1"),
    ("If-Range", b"x"),
    ("X-Forwarded-For", b"192.0.2.1"),
    ("X-Forwarded-SSL", b"on"),
    ("X-Forwarded-Proto", b"https"),
    ("Sec-WebSocket-Key", b"AAAAAAAAAAAAAAAAAAAAAA=="),
    ("Sec-WebSocket-Protocol", b"chat"),
    ("Upgrade", b"websocket"),
    ("Connection", b"close"),
    ("Expect", b"100-continue"),
    ("Transfer-Encoding", b"chunked"),
)
"""Those that uWSGI interprets, each with a value that it understands."""

NAMES = frozenset(name.lower().encode() for name, _ in HEADERS)

KILLER = b"GET /9 HTTP/1.1\r\nX-Forwarded-Proto: \xff\r\nHost: fib\r\nConnection: close\r\n\r\n"
"""The request that ends a worker where nothing keeps it from that."""

END = b"Host: fib\r\nConnection: close\r\n\r\n"


def sweep(values: bytes = bytes(range(256))) -> Iterator[bytes]:
    """Yield a request for each of *values* in each place: alone in a header, and behind a value."""
    for value in values:
        byte = bytes([value])
        yield b"GET%s /9 HTTP/1.1\r\n" % byte + END
        yield b"GET /9%s HTTP/1.1\r\n" % byte + END
        yield b"GET /9?a=%s HTTP/1.1\r\n" % byte + END
        yield b"GET /9 HTTP/1.1%s\r\n" % byte + END
        yield b"GET /9 HTTP/1.1\r\nX%s: a\r\n" % byte + END
        for name, usual in HEADERS:
            for content in (byte, usual + byte):
                line = name.encode() + b": " + content
                yield b"GET /9 HTTP/1.1\r\n%s\r\n" % line + END
