"""
The reply to one request, parsed as its bytes arrive.

Stricter than a browser on purpose: a server that frames its replies wrongly must not win a
comparison. What cannot be understood in one way only is malformed: two lengths, a length next to
chunks, a name without a colon, bytes after the end.

Sources: RFC 9112 (sections 2.2, 4, 5, 6, 7), RFC 9110 (section 15.2).
"""

from __future__ import annotations

import re

from lab.model.request import LONGEST_BODY
from lab.model.wording import shown

MAX_HEAD = 65536
"""Bytes of status line and headers, and of a chunk's size line, until they count as malformed."""

_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9][0-9])(?: [^\r\n\0]*)?")
# Possessive, so that a long head which does not match is given up without backtracking.
_HEADERS = re.compile(rb"(?:[!#$%&'*+.^_`|~0-9A-Za-z-]++:[^\r\n\0]*+(?:\r\n|\Z))*+")
_FRAMING = re.compile(rb"\n(content-length|transfer-encoding|connection):([^\r\n]*)")
_LENGTH = re.compile(rb"[0-9]{1,18}")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?")
_START = b"HTTP/1."


class MalformedReplyError(ValueError):
    """The bytes are no HTTP/1 reply, or more than one."""


class LongBodyError(ValueError):
    """The body is longer than it may be, or will be by its own account."""


class Reply:
    """
    One reply; feed it until it is complete, then read its public attributes.

    Args:
        limit: Bytes of body that it may have. It holds at most twice as many, and `MAX_HEAD`.
        bodiless: Whether it ends with its head, as one to HEAD does (RFC 9112, 6.3).
    """

    __slots__ = (
        "_at",
        "_bodiless",
        "_buffer",
        "_chunked",
        "_length",
        "_limit",
        "_parts",
        "_taken",
        "_trailers",
        "body",
        "reusable",
        "self_delimited",
        "status",
    )

    status: int
    """0 until the head is complete; never 1xx, since interim replies are skipped."""

    body: bytes
    """Complete and without chunk framing; empty until then."""

    reusable: bool
    """Whether the server leaves the connection open, as far as the head says."""

    self_delimited: bool
    """Whether the bytes alone say where the reply ends; else the end of the stream does."""

    def __init__(self, limit: int = LONGEST_BODY, *, bodiless: bool = False) -> None:
        self.status = 0
        self.body = b""
        self.reusable = False
        self.self_delimited = True
        self._buffer: bytes | bytearray = b""
        self._at = 0
        self._bodiless = bodiless
        self._chunked = False
        self._length: int | None = None
        self._limit = limit
        self._parts: list[bytes] = []
        self._taken = 0  # bytes of the parts
        self._trailers = False

    def feed(self, data: bytes) -> bool:
        """
        Take in *data* and return whether the reply is complete.

        Raises:
            MalformedReplyError: This can no longer become a reply.
            LongBodyError: It exceeds the limit; `status` is known.
        """
        if not self._buffer:
            self._buffer = data
        else:
            if isinstance(self._buffer, bytes):  # appending to a bytearray is linear
                self._buffer = bytearray(self._buffer)
            self._buffer += data
        if not self.status and not self._parse_heads():
            return False
        if self._chunked:
            return self._parse_chunks()
        if self._length is None:
            self._check(len(self._buffer) - self._at)
            return False
        end = self._at + self._length
        if len(self._buffer) < end:
            return False
        return self._finish(end, self._buffer[self._at : end])

    def end(self) -> bool:
        """Take note that the stream ended, and return whether that completed the reply."""
        if not self.status or self.self_delimited:
            return False
        return self._finish(len(self._buffer), self._buffer[self._at :])

    def _check(self, length: int) -> None:
        if length > self._limit:
            raise LongBodyError(f"a body of {length} bytes or more, where {self._limit} are many")

    def _forget(self) -> None:
        """Drop what has been parsed: a reply in many pieces may have more framing than body."""
        if self._at:
            if isinstance(self._buffer, bytes):
                self._buffer = bytearray(self._buffer)
            del self._buffer[: self._at]
            self._at = 0

    def _finish(self, end: int, body: bytes | bytearray) -> bool:
        if len(self._buffer) > end:
            seen = shown(bytes(self._buffer[end:]))
            raise MalformedReplyError(f"bytes after the end of the reply: {seen}")
        self.body = bytes(body)
        return True

    def _parse_heads(self) -> bool:
        while not self.status:
            start = self._at
            end = self._buffer.find(b"\r\n\r\n", start)
            if end < 0:
                head = self._buffer[start : start + len(_START)]
                if len(self._buffer) - start > MAX_HEAD or not _START.startswith(head):
                    seen = shown(bytes(self._buffer[start:]))
                    raise MalformedReplyError(f"not the head of an HTTP/1 reply: {seen}")
                self._forget()
                return False
            self._at = end + 4
            self._parse_head(bytes(self._buffer[start:end]))
        return True

    def _parse_head(self, head: bytes) -> None:
        line, _, headers = head.partition(b"\r\n")
        match = _STATUS_LINE.fullmatch(line)
        if match is None:
            raise MalformedReplyError(f"status line {line[:80]!r}")
        status = int(match[2])
        if status == 101:
            raise MalformedReplyError("101, but nothing was to be upgraded")
        length, chunked, options = _parse_headers(headers)
        if status < 200:
            return
        if self._bodiless or status in (204, 304):
            length, chunked = 0, False
        self.status = status
        self._length = length
        self._check(length or 0)
        self._chunked = chunked
        self.self_delimited = chunked or length is not None
        persistent = match[1] == b"1" or b"keep-alive" in options
        self.reusable = self.self_delimited and persistent and b"close" not in options

    def _parse_chunks(self) -> bool:
        buffer = self._buffer
        while True:
            end = buffer.find(b"\r\n", self._at)
            if end < 0:
                if len(buffer) - self._at > MAX_HEAD:
                    raise MalformedReplyError("an endless chunk size or trailer")
                self._forget()
                return False
            line = bytes(buffer[self._at : end])
            if self._trailers:
                self._at = end + 2
                if not line:
                    return self._finish(self._at, b"".join(self._parts))
                continue
            match = _CHUNK_SIZE.fullmatch(line)
            if match is None:
                raise MalformedReplyError(f"chunk size {line[:80]!r}")
            size = int(match[1], 16)
            if size == 0:
                self._trailers = True
                self._at = end + 2
                continue
            self._check(self._taken + size)
            start = end + 2
            if len(buffer) < start + size + 2:
                self._forget()
                return False
            if buffer[start + size : start + size + 2] != b"\r\n":
                raise MalformedReplyError("a chunk longer than its size")
            self._parts.append(bytes(buffer[start : start + size]))
            self._taken += size
            self._at = start + size + 2


def _parse_headers(headers: bytes) -> tuple[int | None, bool, set[bytes]]:
    """Return Content-Length if any, whether the body is chunked, and Connection's options."""
    if not _HEADERS.fullmatch(headers):
        raise MalformedReplyError(f"headers {headers[:200]!r}")
    length: int | None = None
    chunked = False
    options: set[bytes] = set()
    for name, padded in _FRAMING.findall(b"\n" + headers.lower()):
        value = padded.strip(b" \t")
        if name == b"content-length":
            if not _LENGTH.fullmatch(value) or length not in (None, int(value)):
                raise MalformedReplyError(f"Content-Length {value[:80]!r}")
            length = int(value)
        elif name == b"transfer-encoding":
            # No other coding was offered in the request.
            if chunked or value != b"chunked":
                raise MalformedReplyError(f"Transfer-Encoding {value[:80]!r}")
            chunked = True
        else:
            options.update([option.strip(b" \t") for option in value.split(b",")])
    if chunked and length is not None:
        raise MalformedReplyError("both Transfer-Encoding and Content-Length")
    return length, chunked, options
