"""The steps that set a meaning in a uWSGI configuration, and what `lab tune` tries with uWSGI."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from lab.config.configuration import Config
from lab.config.steps import Drop, Put, Rename, Step
from lab.config.uwsgi import asks_to_close, of_router
from lab.config.vocabulary.steps_for_meaning import NO, YES, Pairs, StepsOfMeaning

GROUPS = {
    "front": "who speaks HTTP: the router of `http`, or the workers by `http-socket`",
    "lock": "one worker at a time accepts",
    "report": "memory in each line of the log",
}
"""Groups of `candidates` -> what each group is."""

FRONT, KEPT, DIRECT = "front", "router keeps connections", "http-socket"
"""A meaning of uWSGI's alone, who speaks HTTP, and what it may be."""


def _direct(config: Config, value: str) -> Iterator[Step]:
    """Yield how uWSGI's workers speak HTTP themselves, or its router keeps connections."""
    if value == KEPT:
        yield Put("http-keepalive", "1")
        return
    yield from without_router(setting.option for setting in config.settings)
    # A client that is not told would use the connection again.
    yield Put("add-header", "Connection: close")


def without_router(options: Iterable[str]) -> Iterator[Step]:
    """Yield how uWSGI's workers speak HTTP in place of its router, by the options written."""
    yield Rename("http", DIRECT)
    others = (option for option in dict.fromkeys(options) if option != "http")
    yield from (Drop(option) for option in others if of_router(option))


def _processes(config: Config, value: str) -> Iterator[Step]:
    """Yield uWSGI's number of processes, with the master that replaces a dead one."""
    yield Put("processes", value)
    if not config.on("master"):
        yield Put("master", YES)


def _failures_alone(_config: Config, _value: str) -> Iterator[Step]:
    """Yield how uWSGI logs failures alone."""
    yield from (Put(option, YES) for option in ("disable-logging", "log-4xx", "log-5xx"))


def _gevent(config: Config, value: str) -> Iterator[Step]:
    yield from (Put("gevent", value), Put("gevent-early-monkey-patch", YES))
    yield from (Drop("threads") for _ in config.all("threads")[:1])


SPECIAL: Mapping[str, StepsOfMeaning] = {
    FRONT: _direct,
    "workers": _processes,
    "access-log": _failures_alone,
    "greenlets": _gevent,
}
"""Key of a meaning -> the steps that set it, where that is more than one option."""

_OF_SPEED = {
    *("http-auto-chunked", "http-keepalive", "http-processes", "http-timeout", "http-workers"),
}
"""Options of the router that may go with it; by any other it does what workers do not, as TLS."""


def candidates(config: Config) -> Pairs:
    """Return the changes that `lab tune` tries with uWSGI alone."""
    headers = config.all("add-header")
    pairs: list[tuple[str, Mapping[str, str]]] = []
    routed = {setting.option for setting in config.settings if of_router(setting.option)}
    closing = all(asks_to_close(header.option, header.value) for header in headers)
    if config.first("http") and closing and routed <= _OF_SPEED:
        pairs.append((FRONT, {FRONT: DIRECT}))
    if config.first("http") and not config.first("http-keepalive") and not headers:
        pairs.append((FRONT, {FRONT: KEPT}))
    if config.on("memory-report"):
        pairs.append(("report", {"memory-report": NO}))
    return (*pairs, ("lock", {"turns": NO if config.on("thunder-lock") else YES}))
