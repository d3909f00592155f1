"""
Workloads: the requests, and the replies that are right.

The expected bodies are computed here, by a recurrence of their own and not by the package `fib`: an
instrument that shared code with what it measures could not notice that both are wrong.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from lab.bench.machine import project
from lab.bench.workloads.question import (
    Question,
    added,
    alike,
    check,
    check_host,
    requests_of,
    with_headers,
)
from lab.errors import UsageError, WorkloadError
from lab.model.plan import Load
from lab.model.request import HOST, Expectation, Request
from lab.model.runtime import OWN
from lab.model.workload import Transport, Wire, Workload

DEFAULT = "fib"
"""What is asked where nobody says anything."""

NOTHING = Question()
"""Nothing was said of what is asked."""

LARGEST = 1 << 20
"""Bytes of a body at most, where the path names its size."""

APP = r"[A-Za-z_][\w.]*:[A-Za-z_]\w*(\(\))?"
"""An import path, of an application or with () of what makes it."""


def _matches(pattern: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


def _number(kind: type, least: float, most: float = float("inf")) -> Callable[[Any], bool]:
    fits = (int, float) if kind is float else (int,)
    return lambda value: type(value) in fits and least <= value <= most


_TEXT = _matches(".+")

LOAD = {
    "connections": (_number(int, 1, 10_000), "a number from 1 to 10000"),
    "keepalive": (lambda value: isinstance(value, bool), "true or false"),
    "requests": (_number(int, 1), "a number, at least 1"),
    "timeout": (_number(float, 0.001), "seconds, at least 0.001"),
    "window": (_number(float, 0.1, 600), "seconds, from 0.1 to 600"),
    "warmup": (_number(float, 0, 60), "seconds, from 0 to 60"),
}

KEYS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "summary": (_TEXT, "a line of text"),
    "path": (_matches("/[!-~]*"), 'a request target, without blanks, as in "/9000"'),
    "method": (_matches("POST"), '"POST", whose body is that of its reply'),
    "reply.text": (_TEXT, "a line of text"),
    "reply.by": (_matches("fibonacci|size"), '"fibonacci" or "size"'),
    "app.*": (_matches(f"({APP})?"), '"module:callable", or "" where the server is a program'),
    **{f"load.{key}": check for key, check in LOAD.items()},
    **{f"article.{key}": check for key, check in LOAD.items()},
    "backing": (
        lambda value: isinstance(value, list) and all(map(_TEXT, value)),
        'a list of names, as in ["upstream"]',
    ),
    "words.*": (lambda value: isinstance(value, str), 'a text, as in "50"'),
    "work": (_TEXT, 'the name of a reading, as in "server.logged"'),
    "wire": (_matches("|".join(Wire)), f"one of {', '.join(Wire)}"),
    "transport": (_matches("|".join(Transport)), f"one of {', '.join(Transport)}"),
    "size": (_number(int, 1), "a number of bytes, at least 1"),
    "lines": (_number(int, 1), "a number of lines, at least 1"),
}
"""What a workload's file, or a variant in it, may say: key, or table.key -> what it must be."""


@dataclass(frozen=True, slots=True)
class FittingLoad:
    """A load that fits a workload, where nobody says otherwise."""

    load: Load
    window: float | None = None
    """Seconds; None for the usual ones."""
    warmup: float | None = None
    """Seconds; None for the usual ones."""


@dataclass(frozen=True, slots=True)
class WorkloadDescription:
    """A workload, as its file describes it."""

    workload: Workload
    summary: str
    usual: FittingLoad
    article: FittingLoad | None
    """As its article loaded it."""


def find() -> tuple[str, ...]:
    """
    Return the names of all workloads, by file; one with variants has a name for each.

    A file that is no TOML has one name: whoever reads that is told what is wrong.
    """
    names: list[str] = []
    for path in sorted(project.workloads().glob("*.toml")):
        try:
            variants = _table(path)[1].get("variant", {})
        except WorkloadError:
            variants = {}
        names += [f"{path.stem}-{variant}" for variant in variants] or [path.stem]
    return tuple(names)


def read(name: str, path: str | None = None) -> WorkloadDescription:
    """
    Read a workload.

    Args:
        name: Of a file, or of one and a variant of it: "fib", "payload-1k".
        path: Request target instead of the file's.

    Raises:
        UsageError: There is none, or it cannot be asked for *path*.
        WorkloadError: Its file says what cannot be meant; with its line.
    """
    family, _, variant = name.partition("-")
    file, whole = (project.workloads() / f"{stem}.toml" for stem in (family, name))
    if variant and whole.is_file():
        raise WorkloadError(whole, "its name has a hyphen, which begins a variant: rename it")
    text, table = _table(file) if file.is_file() else ("", {})
    variants = table.get("variant", {})
    if not file.is_file() or (variant not in variants if variants else variant):
        raise UsageError(f"no workload {name!r}: choose one of {', '.join(find())}, or give --app")
    place, variant_table = (("variant", variant), variants[variant]) if variant else ((), {})
    _check_table(file, text, {key: table[key] for key in table if key != "variant"})
    _check_table(file, text, variant_table, *place)
    merged = _merged(table, variant_table)
    reply, apps = merged.get("reply", {}), merged.get("app", {})
    for problem, key in _contradictions(merged):
        raise _error(file, text, problem, *(place if key in variant_table else ()), key)
    try:
        target, body = _expected(reply, path or merged.get("path", "/"))
    except ValueError as error:
        if path is not None:
            raise UsageError(f"--path {path!r}: {name} takes {error}") from None
        problem, within = f"path must be {error}", place if "path" in variant_table else ()
        raise _error(file, text, problem, *within, "path") from None
    expect = Expectation(body=body)
    posted = Request(target, merged.get("method", "GET"), body=body or b"", expect=expect)
    described_workload = Workload(
        name=name,
        path=target,
        expect=expect,
        app=apps.get("wsgi") or None,
        apps=apps,
        wire=Wire(merged.get("wire", Wire.HTTP)),
        transport=Transport(merged.get("transport", Transport.TCP)),
        size=merged.get("size", 0),
        lines=merged.get("lines", 1),
        requests=(posted,) if "method" in merged else (),
        backing=tuple(merged.get("backing", ())),
        words=tuple(merged.get("words", {}).items()),
        work=merged.get("work"),
    )
    article = _fitting(merged["article"]) if "article" in merged else None
    return WorkloadDescription(
        described_workload, merged["summary"], _fitting(merged.get("load", {})), article
    )


def workload(
    name: str | None = None,
    question: Question = NOTHING,
    *,
    app: str | None = None,
    chdir: Path | None = None,
    profile_names_app: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Workload:
    """
    Return a workload of ours, or a user's own application as one.

    Args:
        name: One of `find()`; None for `DEFAULT`, or where *app* is given.
        question: What is asked of it. Each workload has a path of its own, and its own reply; `fib`
            takes powers, as /10^99.
        app: Import path "package.module:callable" of any WSGI application.
        chdir: Folder in which *app* is imported; where a profile says what it serves, that is for
            the profile.
        profile_names_app: Whether a profile is a configuration of the user's, which says what it
            serves.
        say: Told in a line what was read of a file of requests.

    Raises:
        UsageError: A part cannot be meant so.
        WorkloadError: A file says what cannot be meant.
    """
    if app is None and not profile_names_app:
        return _ours(name or DEFAULT, question, chdir)
    if app is None:
        served = Workload(OWN, "/", Expectation(), apps={OWN: ""})
    else:
        served = _named(app, name, chdir)
    answer = requests_of(question)
    if answer.remark:
        say(answer.remark)
    return asking(served, answer.requests, answer.host)


def folder_of(workload: Workload) -> Path:
    """Return the folder in which the application of a workload is imported."""
    return workload.chdir or project.root()


def _named(app: str, name: str | None, chdir: Path | None) -> Workload:
    """Return an application of the user's by its import path."""
    if name is not None:
        raise UsageError(f"--workload {name} and --app {app} contradict: leave out one")
    if not re.fullmatch(APP, app):
        raise UsageError(
            f"--app {app!r}: expected package.module:callable, as in shop.wsgi:application"
        )
    if chdir is not None and not chdir.is_dir():
        raise UsageError(f"--chdir {chdir}: no such folder")
    folder = (chdir or Path.cwd()).resolve()
    return Workload(name=app, path="/", expect=Expectation(), app=app, chdir=folder)


def _ours(name: str, question: Question, chdir: Path | None) -> Workload:
    """Return a workload of ours: it knows what to ask, and which reply is right."""
    check(question)
    refuse_without_app(
        check=question.check,
        chdir=chdir,
        status=question.status,
        method=question.method,
        data=question.data,
        requests=question.requests,
        writes=question.writes or None,
        static=question.static or None,
    )
    read_ones = [read(name, path).workload for path in question.paths or (None,)]
    headers, host = added(question)
    first = read_ones[0]
    manner = first.wire.manner
    if not manner.http and (headers or host or len(read_ones) > 1):
        raise UsageError(f"{name} is {manner.noun}, without paths and headers: leave those out")
    requests = alike(with_headers(one.asks[0], headers) for one in read_ones)
    return asking(first, requests, check_host(host or HOST))


def asking(workload: Workload, requests: Sequence[Request], host: str) -> Workload:
    """Return *workload* with *requests* asked of it; GET of one target alone is its path."""
    first = requests[0]
    plain = Request(first.path, weight=first.weight, expect=first.expect)
    explicit_requests = () if (first,) == (plain,) == tuple(requests) else tuple(requests)
    return replace(
        workload, path=first.path, expect=first.expect, host=host, requests=explicit_requests
    )


def refuse_without_app(**given: object) -> None:
    """
    Refuse an option that describes an application of the user's, where none is named.

    Args:
        given: Name of an option, without its dashes -> what was given; None where nothing was.

    Raises:
        UsageError: The first one that was given.
    """
    for option, value in given.items():
        if value is not None:
            raise UsageError(f"--{option} describes an application of yours: it goes with --app")


def fibonacci_body(number: int) -> bytes:
    """
    Return the body that `GET /number` must have.

    >>> fibonacci_body(5)
    b'[0, 1, 1, 2, 3, 5]'
    """
    sequence = [0, 1]
    while sequence[-1] < number:
        sequence.append(sequence[-1] + sequence[-2])
    return json.dumps(sequence).encode()


def _expected(reply: Mapping[str, str], path: str) -> tuple[str, bytes | None]:
    """Return *path*, a power written out, and the body of its reply; None where any may come."""
    if reply.get("by") == "fibonacci":
        if power := re.fullmatch(r"/([0-9]{1,3})\^([0-9]{1,3})", path):
            path = f"/{int(power[1]) ** int(power[2])}"
        if not re.fullmatch(r"/[0-9]{1,100}", path):
            raise ValueError("a number of up to 100 digits, as in /9000 or /10^99")
        return path, fibonacci_body(int(path[1:]))
    if reply.get("by") == "size":
        if not re.fullmatch(r"/[1-9][0-9]{0,6}", path) or int(path[1:]) > LARGEST:
            raise ValueError(f"a number of bytes from 1 to {LARGEST}, as in /1024")
        return path, b"x" * int(path[1:])
    return path, reply["text"].encode() if "text" in reply else None


def _fitting(table: Mapping[str, Any]) -> FittingLoad:
    load = {key: value for key, value in table.items() if key not in ("window", "warmup")}
    return FittingLoad(Load(**load), table.get("window"), table.get("warmup"))


@cache
def _table(path: Path) -> tuple[str, dict[str, Any]]:
    """Return a file's text, and what it says; raises WorkloadError where it is no TOML."""
    try:
        text = path.read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except OSError as error:
        raise WorkloadError(path, f"cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WorkloadError(path, f"this is not TOML: {error}") from None
    variants = table.get("variant", {})
    if not isinstance(variants, dict) or not all(isinstance(v, dict) for v in variants.values()):
        raise _error(path, text, "variants are tables, as in [variant.1k]", "variant")
    return text, table


def _merged(common: Mapping[str, Any], variant: Mapping[str, Any]) -> dict[str, Any]:
    """Return *common* with what *variant* says otherwise, in each of its tables for itself."""
    tables = {
        key: {**common.get(key, {}), **value}
        for key, value in variant.items()
        if isinstance(value, dict)
    }
    return {**common, **variant, **tables}


def _contradictions(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a whole workload, and the key where it is."""
    if "summary" not in table:
        yield 'it needs a line `summary = "What is asked for"`', "summary"
    if len(table.get("reply", {})) > 1:
        yield "a reply has text, or by, not both", "reply"
    manner = Wire(table.get("wire", Wire.HTTP)).manner
    if not manner.http and "size" not in table:
        yield f"{manner.noun} needs a line `size = 1024`: bytes of a message", "wire"


def _check_table(path: Path, text: str, table: Mapping[str, Any], *place: str) -> None:
    """Refuse a table, which stands at *place*, that says what it may not; raises WorkloadError."""
    for key, value in table.items():
        inner = [name.partition(".")[2] for name in KEYS if name.startswith(f"{key}.")]
        if inner and not isinstance(value, dict):
            problem = f"{key} must be a table, with {', '.join(inner)}"
            raise _error(path, text, problem, *place, key)
        for part, content in value.items() if inner else (("", value),):
            name = f"{key}.{part}".rstrip(".")
            check = KEYS.get(name) or KEYS.get(f"{key}.*")
            if check is None:
                known = inner or dict.fromkeys(known_key.partition(".")[0] for known_key in KEYS)
                raise _error(path, text, f"{name}: it knows {', '.join(known)}", *place, key, part)
            if not check[0](content):
                raise _error(path, text, f"{name} must be {check[1]}", *place, key, part)


def _error(path: Path, text: str, problem: str, *place: str) -> WorkloadError:
    """Return the error for what stands at *place*, with the line of that or of what is around."""
    section: tuple[str, ...] = ()
    lines: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if heading := re.fullmatch(r"\[([^\[\]]+)\]\s*(#.*)?", line.strip()):
            section = tuple(re.findall(r"[\w-]+", heading[1]))
            lines.setdefault(section, number)
        elif "=" in line:
            lines.setdefault((*section, line.partition("=")[0].strip()), number)
    around = (place[:end] for end in range(len(place), 0, -1))
    return WorkloadError(path, problem, next((lines[e] for e in around if e in lines), None))
