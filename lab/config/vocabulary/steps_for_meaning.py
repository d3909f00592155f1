"""From meanings to steps: how each server is told that something is to be otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from lab.config.configuration import Config
from lab.config.granian.server import interface_of
from lab.config.interface import WSGI
from lab.config.steps import Drop, Put, Rename, Step
from lab.config.uwsgi import asks_to_close, of_router
from lab.config.vocabulary.senses import Spelling, senses

FRONT, KEPT, DIRECT = "front", "router keeps connections", "http-socket"
"""A meaning of uWSGI's alone, who speaks HTTP, and what it may be."""

GROUPS = {
    "front": "who speaks HTTP: the router of `http`, or the workers by `http-socket`",
    "workers": "worker processes and their threads",
    "queue": "connections that may wait to be accepted",
    "log": "a line for each request",
    "lock": "the lock of uWSGI's under which workers accept",
    "report": "memory in each line of the log",
    "runtime": "threads and mode of granian's own runtime, and its backpressure",
    "greenlets": "gevent, where --gevent asks for it",
}
"""What is tried, by group -> what that is."""

YES, NO = "true", "false"
"""What a switch may be."""

Pairs = tuple[tuple[str, Mapping[str, str]], ...]
"""Groups, of each of which one change at most is taken, and what each change sets."""


def steps(program: str, config: Config, values: Mapping[str, str]) -> tuple[Step, ...]:
    """
    Return the steps from what was read to what is wanted.

    Args:
        program: Whose configuration it is.
        config: As it was read.
        values: Meaning, by its key in the vocabulary, or else an option of that server alone ->
            value.
    """
    found: list[Step] = []
    for key, value in values.items():
        special = _SPECIAL.get((program, key))
        found += special(config, value) if special else plain(program, key, value)
    return tuple(dict.fromkeys(found))


def takes(program: str, key: str) -> bool:
    """Return whether a server can be told a meaning."""
    if (program, key) in _SPECIAL or key in _ALONE.get(program, ()):
        return True
    column = senses()[key].columns.get(program) if key in senses() else None
    return column is not None and column.writable


def plain(program: str, key: str, value: object) -> Iterator[Step]:
    """Yield how a server is told a meaning, and nothing that goes with it; see `steps`."""
    sense = senses().get(key)
    if sense is None:
        yield Put(key, str(value))
        return
    column = sense.columns[program]
    if sense.kind != "switch":
        yield Put(column.names[0], str(value))
    else:
        yield from _switch(column, on=value == YES)


def _switch(column: Spelling, *, on: bool) -> Iterator[Step]:
    """Yield how one is set: by a word that says so, without the one that says the opposite."""
    says, against = (column.names, column.opposite) if on else (column.opposite, column.names)
    if says:
        yield from (Drop(each) for each in against)
        yield Put(says[0], YES)
    else:
        yield from (Drop(each) if on else Put(each, NO) for each in against[:1])


def _direct(config: Config, value: str) -> Iterator[Step]:
    """Yield how uWSGI's workers speak HTTP themselves, or its router keeps connections."""
    if value == KEPT:
        yield Put("http-keepalive", "1")
        return
    yield from without_router(each.option for each in config.settings)
    # A client that is not told would use the connection again.
    yield Put("add-header", "Connection: close")


def without_router(options: Iterable[str]) -> Iterator[Step]:
    """Yield how uWSGI's workers speak HTTP in place of its router, by the options written."""
    yield Rename("http", DIRECT)
    yield from (Drop(each) for each in dict.fromkeys(options) if each != "http" and of_router(each))


def _processes(config: Config, value: str) -> Iterator[Step]:
    """Yield uWSGI's number of processes, with the master that replaces a dead one."""
    yield Put("processes", value)
    if not config.on("master"):
        yield Put("master", YES)


def _failures_alone(_config: Config, _value: str) -> Iterator[Step]:
    """Yield how uWSGI logs failures alone."""
    yield from (Put(each, YES) for each in ("disable-logging", "log-4xx", "log-5xx"))


def _gevent(config: Config, value: str) -> Iterator[Step]:
    yield from (Put("gevent", value), Put("gevent-early-monkey-patch", YES))
    yield from (Drop("threads") for _ in config.all("threads")[:1])


def _gevent_class(_config: Config, value: str) -> Iterator[Step]:
    """Yield gunicorn's number of greenlets, with the class of workers that has them."""
    yield from (Put("worker_class", "gevent"), Put("worker_connections", value))


def _threads_of_class(config: Config, value: str) -> Iterator[Step]:
    """Yield gunicorn's number of threads, with the class of workers that has them."""
    yield Put("threads", value)
    said = config.last("worker_class")
    if value != "1" and (said is None or said.value == "sync"):
        yield Put("worker_class", "gthread")


def _with_respawn(config: Config, value: str) -> Iterator[Step]:
    """Yield granian's number of workers; of several a dead one would end them all."""
    yield Put("workers", value)
    if value != "1" and config.last("respawn-failed-workers") is None:
        yield Put("respawn-failed-workers", YES)


def _without(option: str) -> Callable[[Config, str], Iterator[Step]]:
    """Return what takes an option out whose default is the value."""
    return lambda _config, _value: iter((Drop(option),))


_SPECIAL: Mapping[tuple[str, str], Callable[[Config, str], Iterator[Step]]] = {
    ("uwsgi", FRONT): _direct,
    ("uwsgi", "workers"): _processes,
    ("uwsgi", "access-log"): _failures_alone,
    ("uwsgi", "greenlets"): _gevent,
    ("gunicorn", "greenlets"): _gevent_class,
    ("gunicorn", "threads"): _threads_of_class,
    ("gunicorn", "access-log"): _without("accesslog"),
    ("granian", "workers"): _with_respawn,
    ("granian", "access-log"): _without("access-log"),
}
"""Program and meaning -> what is more than one option."""


_ALONE = {"granian": ("runtime-threads", "runtime-mode", "backpressure")}
"""Program -> options of that server alone."""


def own(program: str, config: Config) -> Pairs:
    """Return the changes that are worth a try with one server alone: groups, and what they set."""
    return _OWN[program](config)


_OF_SPEED = {
    *("http-auto-chunked", "http-keepalive", "http-processes", "http-timeout", "http-workers"),
}
"""Options of the router that may go with it; by any other it does what workers do not, as TLS."""


def _of_uwsgi(config: Config) -> Pairs:
    headers = config.all("add-header")
    found: list[tuple[str, Mapping[str, str]]] = []
    routed = {each.option for each in config.settings if of_router(each.option)}
    closing = all(asks_to_close(each.option, each.value) for each in headers)
    if config.first("http") and closing and routed <= _OF_SPEED:
        found.append((FRONT, {FRONT: DIRECT}))
    if config.first("http") and not config.first("http-keepalive") and not headers:
        found.append((FRONT, {FRONT: KEPT}))
    if config.on("memory-report"):
        found.append(("report", {"memory-report": NO}))
    return (*found, ("lock", {"turns": NO if config.on("thunder-lock") else YES}))


def _of_gunicorn(_config: Config) -> Pairs:
    return ()


def _of_granian(config: Config) -> Pairs:
    tried = {
        "runtime-threads": ("1", "2"),
        "runtime-mode": ("st", "mt"),
        "backpressure": ("64",),
    }
    if interface_of(config) != WSGI:
        del tried["backpressure"]  # idle connections that a proxy keeps would use it up
    now = {each: said.value for each in tried if (said := config.last(each))}
    return tuple(
        ("runtime", {option: value})
        for option, values in tried.items()
        for value in values
        if now.get(option) != value
    )


_OWN = {"uwsgi": _of_uwsgi, "gunicorn": _of_gunicorn, "granian": _of_granian}
