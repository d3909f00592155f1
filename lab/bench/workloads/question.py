"""What a user says of what is asked, and the requests that follow from it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from lab.bench.workloads import har, http_file
from lab.errors import UsageError, WorkloadError
from lab.model.request import (
    HOST,
    LONGEST_DATA,
    SAFE,
    SECRET,
    WITHHELD,
    Expectation,
    Headers,
    Request,
)

MOST = 1009
"""Different requests of a workload at most: as many as the engine's order has places."""

MACHINE = Path("/etc/machine-id")
"""No file of a run has it, and nobody on another machine knows it: see machine-id(5)."""

Pairs = Sequence[tuple[str, str]]
"""Names and values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What was typed of what is asked; nothing where nothing was."""

    paths: Sequence[str] = ()
    method: str | None = None
    data: str | None = None
    """A text, or @ and the name of a file."""
    headers: Sequence[str] = ()
    cookies: Sequence[str] = ()
    host: str | None = None
    requests: Path | None = None
    """A file: .http or .har."""
    static: bool = False
    writes: bool = False
    status: int | None = None
    check: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question comes to."""

    requests: tuple[Request, ...]
    """No two alike."""
    host: str
    remark: str = ""
    """What was read of a file, in a line."""


def requests_of(question: Question) -> Answer:
    """
    Return what is to be asked of an application of the user's.

    Raises:
        UsageError: A part of it cannot be meant so, or it would write and must not.
        WorkloadError: Its file cannot be read, or says what cannot be meant.
    """
    summary, host = "", None
    check(question)
    if question.requests is None:
        requests: Iterable[Request] = _typed(question)
    else:
        _refuse_beside_file(question)
        requests, host, summary = _from_file(question.requests, question)
    headers, typed_host = added(question)
    distinct_requests = alike(with_headers(request, headers) for request in requests)
    _check_secrets(distinct_requests)
    if not question.writes:
        for request in distinct_requests:
            if request.method not in SAFE:
                sent = "it would be sent thousands of times, to servers of trials"
                raise UsageError(f"{request}: {request.method} may write, and {sent}: say --writes")
    return Answer(distinct_requests, check_host(typed_host or host or HOST), summary)


def added(question: Question) -> tuple[Pairs, str | None]:
    """
    Return the headers that every request gets, Cookie among them, and the Host that was named.

    Raises:
        UsageError: One of them is written otherwise.
    """
    headers, host = [], question.host
    for text in question.headers:
        name, stands, value = text.partition(":")
        if not stands or not name.strip():
            raise UsageError(f"--header {name[:80]!r}: expected 'NAME: VALUE'")
        if name.strip().lower() == "host":
            host = host or value.strip()
        else:
            headers.append((name.strip(), value.strip()))
    for text in question.cookies:
        name, stands, _ = text.partition("=")
        if not stands or not re.fullmatch(r"[^\s;=]+", name):
            raise UsageError(f"--cookie {name[:80] if stands else WITHHELD}: expected NAME=VALUE")
        if ";" in text:
            raise UsageError(f"--cookie {name}: one at a time; say --cookie again")
        headers.append(("Cookie", text))
    return headers, host


def with_headers(request: Request, added: Pairs) -> Request:
    """Return *request* with headers instead of its own of the same name, and cookies likewise."""
    if not added:
        return request
    names = {name.lower() for name, _ in added}
    kept_headers = [
        header for header in request.headers.reveal() if header[0].lower() not in names - {"cookie"}
    ]
    cookies: dict[str, str] = {}
    for name, value in (*kept_headers, *added):
        if name.lower() == "cookie":
            cookies |= {part.partition("=")[0].strip(): part.strip() for part in value.split(";")}
    rest = [header for header in (*kept_headers, *added) if header[0].lower() != "cookie"]
    merged = [*rest, *([("Cookie", "; ".join(cookies.values()))] if cookies else [])]
    return replace(request, headers=Headers.of(merged, salted))


def alike(requests: Iterable[Request]) -> tuple[Request, ...]:
    """
    Return *requests* with one in place of those that are alike, of the weight of all.

    Raises:
        UsageError: There are too many, one cannot be sent, or the replies to one are to differ.
    """
    distinct_requests: dict[bytes, Request] = {}
    for request in requests:
        try:
            sent = request.encode()
        except ValueError as error:
            raise UsageError(f"{request}: {error}") from None
        before = distinct_requests.get(sent)
        if before is not None and before.expect != request.expect:
            raise UsageError(f"{request} is there twice, and two different replies are to be right")
        distinct_requests[sent] = (
            request if before is None else replace(request, weight=request.weight + before.weight)
        )
    if len(distinct_requests) > MOST:
        raise UsageError(
            f"{len(distinct_requests):,} different requests; at most {MOST:,} can be made"
        )
    return tuple(distinct_requests.values())


def check(question: Question) -> None:
    """
    Refuse what is wrong by itself, whatever is asked.

    Raises:
        UsageError: A path or the pattern is none.
    """
    for path in question.paths:
        if not re.fullmatch(r"/[!-~]*", path):
            wanted = "a request target begins with /; percent-encode blanks and non-ASCII"
            raise UsageError(f"--path {path!r}: {wanted}")
    try:
        re.compile((question.check or "").encode())  # as it will be searched: in bytes
    except re.error as error:
        problem = f"--check {question.check!r} is not a regular expression: {error}"
        raise UsageError(problem) from None


def check_host(host: str) -> str:
    """Return *host*; raises UsageError where it is none."""
    if not re.fullmatch(r"[\w.:\[\]-]+", host, re.ASCII):
        raise UsageError(f"--host {host!r}: expected a name, as in www.example.org")
    return host


@cache
def salted(text: str) -> str:
    """
    Return a hash by which two runs on one machine are seen to have had the same secret.

    It is salted with what no other machine knows, and slow, so that a weak one cannot be found.
    """
    salt = MACHINE.read_bytes().strip() if MACHINE.is_file() else b""
    digest = hashlib.scrypt(text.encode(), salt=b"lab headers" + salt, n=2**14, r=8, p=1, dklen=16)
    return digest.hex()


def _typed(question: Question) -> Iterator[Request]:
    if question.static:
        raise UsageError("--static is for a recording: it goes with --requests FILE.har")
    body = b"" if question.data is None else _data(question.data)
    method = question.method or ("GET" if question.data is None else "POST")
    if not re.fullmatch("[A-Za-z]+", method):
        raise UsageError(f"--method {method!r}: expected a word, such as POST")
    headers = Headers()
    if question.data is not None:  # as curl does
        headers = Headers((("Content-Type", "application/x-www-form-urlencoded"),))
    expect = Expectation(question.status or 200, None, question.check)
    for path in question.paths or ("/",):
        yield Request(path, method.upper(), headers, body, expect=expect)


def _data(data: str) -> bytes:
    """Return the body that --data names: a text, or what a file has."""
    if not data.startswith("@"):
        return data.encode()
    try:
        return _bytes(Path(data[1:]).expanduser(), LONGEST_DATA)
    except WorkloadError as error:
        raise UsageError(f"--data {error}") from None


def _refuse_beside_file(question: Question) -> None:
    options: Mapping[str, object] = {
        "path": question.paths,
        "method": question.method,
        "data": question.data,
        "status": question.status,
        "check": question.check,
    }
    for name, value in options.items():
        if value not in (None, ()):
            raise UsageError(f"--{name}: --requests {question.requests} says it; leave out one")


def _from_file(path: Path, question: Question) -> tuple[Sequence[Request], str | None, str]:
    """Return the requests of a file, their Host if they have one, and what is to be said of it."""
    host, path = None, path.expanduser()
    if path.suffix.lower() == ".har":
        recorded = har.parse(
            _bytes(path, har.LONGEST_RECORDING),
            path,
            salted,
            static=question.static,
            writes=question.writes,
        )
        requests, summary = recorded.requests, str(recorded)
    elif question.static:
        raise UsageError(f"--static is for a recording (.har), and not for {path}")
    else:
        try:
            listed, host = http_file.parse(
                _bytes(path, http_file.LONGEST_FILE).decode(), path, salted
            )
        except UnicodeDecodeError:
            raise WorkloadError(path, "is not UTF-8 text") from None
        requests, summary = tuple(listed), f"{len(listed)} requests"
    if not requests:
        raise WorkloadError(path, "it has no request, such as GET /items/3")
    try:
        http_file.render(requests)
    except ValueError as error:
        raise WorkloadError(path, str(error)) from None
    return requests, host, f"{path.name}: {summary}; requests.http of the run's folder has them"


def _bytes(path: Path, most: int) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise WorkloadError(path, f"cannot be read: {error.strerror}") from None
    if len(content) > most:
        raise WorkloadError(path, f"has more than {most:,} bytes")
    return content


def _check_secrets(requests: Iterable[Request]) -> None:
    """Refuse what was stored without its secrets, as a run stores its requests."""
    for request in requests:
        for name, value in request.headers.reveal():
            lost = value == WITHHELD and SECRET.fullmatch(name)
            cookie = re.search(rf"([^\s;]+)={re.escape(WITHHELD)}(;|$)", value)
            if lost or (name.lower() == "cookie" and cookie):
                say = f"--cookie {cookie[1]}=VALUE" if cookie else f"--header '{name}: VALUE'"
                raise UsageError(
                    f"{request}: its {name} was left out when it was stored; say {say}"
                )
