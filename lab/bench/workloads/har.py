"""
Requests as a browser has recorded them: a HAR file (HTTP Archive 1.2).

Of a visit to a page most entries are pictures and scripts, which a proxy or a CDN serves, and what
other origins serve. What is left is counted: equal requests become one, with a weight.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import msgspec

from lab.bench.workloads.http_file import Hashed, target_of
from lab.errors import WorkloadError
from lab.model.request import Expectation, Headers, Request
from lab.model.wording import counted

LONGEST_RECORDING = 64 << 20
"""Bytes of a file at most."""

STATIC = {"font", "image", "media", "script", "stylesheet"}
"""Types of resources, as browsers call them, that are left out."""

_STATIC_CONTENT = ("audio/", "font/", "image/", "text/css", "text/javascript", "video/")
_STATIC_APPLICATION = ("application/font", "application/javascript", "application/x-javascript")
_STATIC_FILES = {".css", ".gif", ".ico", ".jpg", ".js", ".png", ".svg", ".webp", ".woff", ".woff2"}

_BROWSERS_OWN = re.compile(
    "(:|if-|proxy-|sec-).*|accept-encoding|cache-control|connection|content-length|dnt|host|"
    "keep-alive|origin|pragma|priority|referer|te|transfer-encoding|upgrade-insecure-requests",
    re.IGNORECASE,
)
# What belongs to the browser's own connection and cache. Not asked for is a compressed reply, of
# which the stable parts could not be told.


class _Named(msgspec.Struct):
    name: str
    value: str


class _Data(msgspec.Struct):
    text: str | None = None


class _Sent(msgspec.Struct, rename="camel"):
    method: str
    url: str
    headers: list[_Named] = []
    post_data: _Data | None = None


class _Content(msgspec.Struct, rename="camel"):
    mime_type: str | None = None


class _Received(msgspec.Struct):
    status: int = 0
    content: _Content = msgspec.field(default_factory=_Content)


class _Entry(msgspec.Struct):
    request: _Sent
    response: _Received
    resource: str | None = msgspec.field(default=None, name="_resourceType")


class _Log(msgspec.Struct):
    entries: list[_Entry]


class _Archive(msgspec.Struct):
    log: _Log


@dataclass(frozen=True, slots=True)
class HarRecording:
    """What a recording asks for."""

    requests: tuple[Request, ...]
    """One after the other; equal ones are still several."""
    origin: str
    """Such as "https://www.example.org"."""
    left_out: Mapping[str, int]
    """Why -> how many."""

    def __str__(self) -> str:
        """Say what there is, and what was left out."""
        summary = f"{counted(len(self.requests), 'request')} of {self.origin}"
        reasons = ", ".join(f"{number} {why}" for why, number in self.left_out.items())
        return f"{summary}; left out: {reasons}" if reasons else summary


def parse(text: bytes, path: Path, digest: Hashed, *, static: bool, writes: bool) -> HarRecording:
    """
    Return what a recording asks of its first origin.

    Args:
        text: What the file says; it comes from anywhere.
        path: Where, for messages.
        digest: Hashes secrets.
        static: Ask for pictures, fonts, scripts and styles as well.
        writes: Make other requests than GET as well.

    Raises:
        WorkloadError: It is no recording, or one of its requests cannot be sent.
    """
    try:
        entries = msgspec.json.decode(text, type=_Archive).log.entries
    except (msgspec.DecodeError, RecursionError) as error:
        raise WorkloadError(path, f"is no HAR: {error}") from None
    origins = (_origin(entry.request.url) for entry in entries)
    origin = next((origin for origin in origins if origin.startswith("http")), None)
    if origin is None:
        raise WorkloadError(path, "it has no request over HTTP")
    left_out: Counter[str] = Counter()
    requests = []
    for number, entry in enumerate(entries, start=1):
        why = _unwanted(entry, origin, static=static, writes=writes)
        if why is not None:
            left_out[why] += 1
            continue
        try:
            requests.append(_request(entry, digest))
            requests[-1].encode()
        except ValueError as error:
            raise WorkloadError(path, f"entry {number}: {error}") from None
    if not requests:
        reasons = ", ".join(f"{number} {why}" for why, number in left_out.items())
        raise WorkloadError(path, f"nothing of it is left to ask for: {reasons}")
    return HarRecording(tuple(requests), origin, left_out)


def _origin(address: str) -> str:
    """Return scheme, host and port, and no user or password; what is no address has none."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "no address"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _unwanted(entry: _Entry, origin: str, *, static: bool, writes: bool) -> str | None:
    """Return why an entry is left out, in the plural; None where it is not."""
    if _origin(entry.request.url) != origin:
        return "of other origins"
    if not static and _is_static(entry):
        return "images, fonts, scripts and styles (--static)"
    if not writes and entry.request.method != "GET":
        return "other than GET (--writes)"
    if not 200 <= entry.response.status < 500:
        return "without a reply, or that failed"
    return None


def _is_static(entry: _Entry) -> bool:
    content = (entry.response.content.mime_type or "").lower()
    if entry.resource in STATIC or content.startswith((*_STATIC_CONTENT, *_STATIC_APPLICATION)):
        return True
    path = PurePosixPath(urlsplit(entry.request.url).path)
    return not content and path.suffix.lower() in _STATIC_FILES


def _request(entry: _Entry, digest: Hashed) -> Request:
    sent = entry.request
    body = ""
    if sent.post_data is not None:
        if sent.post_data.text is None:
            raise ValueError("its body is not in the file")
        body = sent.post_data.text.strip()
    status = 200 if entry.response.status == 304 else entry.response.status
    kept = ((n.name, n.value) for n in sent.headers if not _BROWSERS_OWN.fullmatch(n.name))
    return Request(
        target_of(sent.url),
        sent.method,
        Headers.of(kept, digest),
        body.encode(),
        expect=Expectation(status),
    )
