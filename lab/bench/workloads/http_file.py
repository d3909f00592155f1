"""
Requests in a file as editors send them (.http), with weights.

    ### weight: 8
    GET /items/3
    Cookie: sessionid=3f9c

    ### weight: 1, status: 302, check: Location
    POST /cart HTTP/1.1
    Content-Type: application/json

    {"item": 3}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lab.errors import WorkloadError
from lab.model.request import Expectation, Headers, Request

LONGEST_FILE = 8 << 20
"""Bytes of a file at most."""

_SETTINGS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "weight": (r"[1-9]\d{0,5}", int),
    "status": (r"[2-5]\d\d", int),
    "check": (r".+", str),
}
_SETTING = re.compile(r"\s*(\w+)\s*:\s*(.*)")
_REQUEST_LINE = re.compile(r"(?:([A-Za-z]+)\s+)?(\S+)(?:\s+HTTP/[\d.]+)?\s*")

Hashed = Callable[[str], str]
"""What hashes secrets: see `lab.model.request.Headers.of`."""


def parse(text: str, path: Path, digest: Hashed) -> tuple[list[Request], str | None]:
    """
    Return the requests of a file, in its order, and their Host if they have one.

    Args:
        text: What it says.
        path: Where, for messages.
        digest: Hashes secrets.

    Raises:
        WorkloadError: A line cannot be meant so, or asks for what is not done; with its number.
    """
    requests: list[Request] = []
    hosts: set[str] = set()
    for settings, lines in _sections(text):
        rest = iter(lines)
        head = [line for line in _head(rest) if not _is_comment(line[1])]
        if not head:
            continue
        number, request_line = head[0]
        method, target = _method_and_target(number, request_line, path)
        headers = [_header(*line, path) for line in head[1:]]
        hosts |= {value for name, value in headers if name.lower() == "host"}
        if len(hosts) > 1:
            problem = f"{' and '.join(sorted(hosts))}: all requests have one Host; say --host"
            raise WorkloadError(path, problem, number)
        sent = Headers.of((header for header in headers if header[0].lower() != "host"), digest)
        body = "\n".join(line for _, line in rest).strip()
        if re.match(r"[<>]\s", body):
            problem = "a body from another file, or a script, is not read; write the body itself"
            raise WorkloadError(path, problem, number)
        weight, expect = _settings(*settings, path)
        request = Request(target, method, sent, body.encode(), weight, expect)
        try:
            request.encode()
        except ValueError as error:
            raise WorkloadError(path, str(error), number) from None
        requests.append(request)
    return requests, next(iter(hosts), None)


def render(requests: Iterable[Request]) -> str:
    """
    Return *requests* as a file, without their secrets: for each its name stands in it.

    Raises:
        ValueError: A body cannot stand in such a file.
    """
    return "\n".join(map(_rendered, requests))


def _rendered(request: Request) -> str:
    expect = request.expect
    settings = [f"weight: {request.weight}"]
    settings += [f"status: {expect.status}"] if expect.status != 200 else []
    settings += [f"check: {expect.pattern}"] if expect.pattern and not expect.varies else []
    lines = [f"### {', '.join(settings)}", f"{request.method} {request.path}"]
    lines += (f"{name}: {value}" for name, value in request.headers.shown)
    body = request.body.decode()
    if body != body.strip() or re.search(r"^(###|<|>)|\r", body, re.MULTILINE):
        raise ValueError(f"the body of {request} cannot stand in a .http file")
    return "\n".join((*lines, *(("", body) if body else ()), ""))


Line = tuple[int, str]
"""Number, from 1, and text."""


def _sections(text: str) -> Iterator[tuple[Line, list[Line]]]:
    """Yield what stands after each ###, nothing for what is before the first, and what follows."""
    settings: Line = (1, "")
    lines: list[Line] = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if line.startswith("###"):
            yield settings, lines
            settings, lines = (number, line.lstrip("#")), []
        else:
            lines.append((number, line))
    yield settings, lines


def _head(lines: Iterator[Line]) -> Iterator[Line]:
    """Take from *lines* the first that says something, and what follows up to an empty one."""
    remaining_lines = dropwhile(lambda line: not line[1].strip() or _is_comment(line[1]), lines)
    return takewhile(lambda line: bool(line[1].strip()), remaining_lines)


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith(("#", "//"))


def _header(number: int, line: str, path: Path) -> tuple[str, str]:
    name, stands, value = line.partition(":")
    if not stands:
        raise WorkloadError(path, f"{line[:80]!r} is no header: NAME: VALUE", number)
    return name.strip(), value.strip()


def _method_and_target(number: int, line: str, path: Path) -> tuple[str, str]:
    """Return method and target of a request's first line."""
    if "{{" in line or line.startswith("@"):
        raise WorkloadError(path, "variables are not filled in: write what they stand for", number)
    match = _REQUEST_LINE.fullmatch(line.strip())
    if match is None:
        problem = f"{line[:80]!r} is no request, such as GET /items/3"
        raise WorkloadError(path, problem, number)
    return (match[1] or "GET").upper(), target_of(match[2])


def target_of(address: str) -> str:
    """
    Return what is asked for of the server of *address*; a target stays as it is.

    >>> target_of("http://www.example.org/a?b=c#d"), target_of("/a"), target_of("https://x")
    ('/a?b=c', '/a', '/')
    """
    if not re.match("https?://", address):
        return address.partition("#")[0]
    parts = urlsplit(address)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _settings(number: int, title: str, path: Path) -> tuple[int, Expectation]:
    """Return weight and expectation; a title that is none of settings says nothing."""
    values: dict[str, Any] = {}
    if re.match(rf"\s*({'|'.join(_SETTINGS)})\b(?!\s*:)", title):
        raise WorkloadError(path, f"{title.strip()[:80]!r}: expected NAME: VALUE", number)
    while (match := _SETTING.match(title)) is not None:
        name, rest = match[1], match[2]
        if name not in _SETTINGS:
            raise WorkloadError(path, f"{name}: it knows {', '.join(_SETTINGS)}", number)
        value, _, title = (rest, "", "") if name == "check" else rest.partition(",")
        pattern, kind = _SETTINGS[name]
        if not re.fullmatch(pattern, value.strip()):
            raise WorkloadError(path, f"{name}: {value.strip()!r} is none", number)
        values[name] = kind(value.strip())
    if values and title.strip():
        raise WorkloadError(
            path, f"{title.strip()[:80]!r}: it knows {', '.join(_SETTINGS)}", number
        )
    if "check" in values:
        try:
            re.compile(values["check"].encode())
        except re.error as error:
            problem = f"check: {values['check']!r} is not a regular expression: {error}"
            raise WorkloadError(path, problem, number) from None
    return values.get("weight", 1), Expectation(
        values.get("status", 200), None, values.get("check")
    )
