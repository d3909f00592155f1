"""
Moves: what may be better than a champion, in meanings, whichever server it is.

`lab.config.server.Server` knows the steps that set a meaning, and what one server has alone. Never
moved is what is no matter of speed: replacing workers, limits of time and size, who may do what.
That is the linter's.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from lab.cli.tune.climb import Contender, Values
from lab.config import servers
from lab.config.configuration import Config
from lab.config.server import Server
from lab.config.steps import AnyStep, AnySteps
from lab.config.vocabulary.senses import senses
from lab.config.vocabulary.service import Service
from lab.config.vocabulary.steps_for_meaning import NO
from lab.config.vocabulary.values import Cpus, Expression, Variable
from lab.lint.judge import judged

PROCESSES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
THREADS = (1, 2, 4, 8, 16, 32, 64)

ROOM = 1.3
"""Places for each request that is under way on average: they do not come evenly."""

QUEUE = 1024
"""Connections that may wait, at the least: `safety` has as many."""

GREENLETS = "100"

SERVER = "server"
"""A meaning by itself, and a group: whose configuration it is."""

WORKERS, LOG, ACCEPT_QUEUE, GREENLET, LOCK, AFFINITY = (
    "workers", "log", "queue", "greenlets", "lock", "affinity",
)  # fmt: skip
"""Groups that every server may have; of one group one change at most is taken."""

SAID_BY = {"WEB_CONCURRENCY", "GRANIAN_WORKERS", "UVICORN_WORKERS"}
"""Variables that say how many workers there are where no option does."""

LATER = {WORKERS, LOCK}
"""Groups that are tried again in later rounds: their best has moved."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What decides which moves are worth a try."""

    cores: int
    """CPUs of the server."""
    connections: int
    """Requests that are under way at once, at the most."""
    threads: bool
    """Whether the application may run in threads."""
    greenlets: bool = False
    """Whether it may run in greenlets."""
    on_one_core: bool = False
    """Whether one core, where the server has no more here, is what it is served with."""
    first_cpu: int = 0
    """Number of the first CPU of the server."""
    somaxconn: int = 4096
    wait: float | None = None
    """Seconds that a request waits within its worker; None where workers are not asleep."""
    cpu: float | None = None
    """Seconds of CPU a request."""

    @property
    def tell_workers(self) -> bool:
        """
        Whether trials here say how many workers are best.

        One core says nothing of several, unless the workers mostly wait.
        """
        return self.cores > 1 or self.on_one_core or self.wanted is not None

    @property
    def wanted(self) -> int | None:
        """Requests at once that keep the cores busy, by Little's law; None where they are."""
        if self.wait is None or not self.cpu:
            return None
        busy = self.cores * (self.wait + self.cpu) / self.cpu
        return math.ceil(min(self.connections, busy * ROOM) - 1e-9)


@dataclass(frozen=True)
class Ground:
    """The user's configuration, from which all moves go out."""

    name: str
    """As it was typed: a file, or a command."""
    server: Server
    config: Config
    service: Service
    cpus: int
    """Of this machine, where the configuration counts them."""
    file: Config | None = None
    """The file that is handed out, where a command of its is what is measured."""

    @cached_property
    def faults(self) -> frozenset[str]:
        """The codes of the findings in the configuration, as it is."""
        return frozenset(flaw.code for flaw in judged(self.config))

    @property
    def program(self) -> str:
        """The program of its server."""
        return self.server.program

    def number(self, key: str, values: Values | None = None) -> int | None:
        """Return the number of a meaning, with *values* over it; None where it is not known."""
        if values and key in values:
            return int(values[key])
        sense_setting = self.service.senses.get(key)
        if (
            sense_setting is None
            or not sense_setting.values
            or (sense_setting.implied and self._writes(key))
        ):
            return None
        return self._here(sense_setting.value)

    def _writes(self, key: str) -> bool:
        """Return whether an option of a meaning is written, computed or not."""
        column = senses()[key].columns.get(self.program)
        return column is not None and self.config.first(*column.names) is not None

    def _here(self, value: Expression) -> int | None:
        """Return the number that a value is on this machine."""
        match value.parts:
            case (Cpus() as cpus,):
                return self.cpus * cpus.times + cpus.plus
            case (Variable() as variable,):
                text = self.config.known.environ.get(variable.name, variable.default) or ""
                return int(text) * variable.times if text.isdecimal() else None
        return value.number

    def edited(self, steps: AnySteps) -> str:
        """
        Return its text after steps.

        Raises:
            ProfileError: One of them cannot be written where it would count.
        """
        return servers.edited(self.config, steps)

    def text(self, values: Values) -> str:
        """Return its text with values, as `edited` does."""
        return self.edited([(step, ()) for step in self.steps(values)])

    def handed_out(self, steps: AnySteps) -> str:
        """Return the text that is handed out, after steps; see `edited`."""
        return servers.edited(self.file or self.config, steps)

    def steps(self, values: Values) -> tuple[AnyStep, ...]:
        """Return how its server is told values; what it cannot be told is left out."""
        mine = {key: value for key, value in values.items() if self.server.can_set(key)}
        cpu = values.get(AFFINITY)
        bound = () if cpu is None else self.server.bound_to(self.config, int(cpu))
        return (*self.server.steps(self.config, mine), *bound)

    def places(self, values: Values) -> int | None:
        """Return how many requests are served at once; None where that is not known."""
        per_worker = self.number("greenlets", values) or self.number("threads", values)
        workers = self.workers(values)
        return None if per_worker is None or workers is None else workers * per_worker

    def workers(self, values: Values) -> int | None:
        """Return how many workers there are; None where that is not known."""
        workers = self.number("workers", values)
        if workers is None and not self._writes("workers"):
            elsewhere = SAID_BY & self.config.known.environ.keys()
            return None if elsewhere or self.config.first("env-file") else 1
        return workers

    @property
    def in_threads(self) -> bool:
        """Whether it runs the application in threads already."""
        return (self.number("threads") or 1) > 1

    def is_on(self, key: str) -> bool:
        """Return whether a switch is on."""
        return self.service.is_on(key)


def numbers(values: Values) -> Values:
    """Return what values say of workers and threads."""
    return {key: values[key] for key in ("workers", "threads") if key in values}


def ground_of(name: str, config: Config, cpus: int, file: Config | None = None) -> Ground:
    """Return a configuration as moves go out from it; see `Ground`."""
    server = servers.of_config(config)
    return Ground(name, server, config, server.translator.service(config), cpus, file)


def moves(
    ground: Ground, facts: Facts, fixed: Collection[str], champion: Values, *, first: bool
) -> Iterator[Contender]:
    """
    Yield who may be better than a champion, what promises most first.

    Args:
        ground: The user's configuration.
        facts: What is known of application, machine and load.
        fixed: Groups that are not moved.
        champion: What the champion has otherwise.
        first: Whether it is the first round: later ones try less.
    """
    if not ground.service.is_wsgi:  # an event loop has neither
        facts = replace(facts, threads=False, greenlets=False)
    for group, values in _all(ground, facts, champion, first=first):
        if group not in fixed and (first or group in LATER):
            changed = {**champion, **values}
            if ground.workers(changed) != 1:
                changed.pop(AFFINITY, None)
            yield Contender(group, without_what_is_there(ground, changed))


def without_idle_lock(
    ground: Ground, champion: Values, contenders: Iterable[Contender]
) -> Sequence[Contender]:
    """Return contenders without the lock between workers, where there is one and stays one."""
    contenders = [*contenders]
    workers = any(contender.group == WORKERS for contender in contenders)
    if workers or ground.workers(champion) != 1:
        return contenders
    return [contender for contender in contenders if contender.group != LOCK]


def per_cpu(ground: Ground) -> tuple[int, ...]:
    """Return the numbers of workers for each CPU that are tried at first."""
    return (1, 2, 4) if ground.service.is_wsgi else (1, 2)  # a loop waits for many at once


def without_what_is_there(ground: Ground, values: Values) -> Values:
    """Return *values* without the numbers that the user's configuration has already."""
    return {
        key: value
        for key, value in values.items()
        if not (value.isdecimal() and ground.number(key) == int(value))
    }


def _all(
    ground: Ground, facts: Facts, champion: Values, *, first: bool
) -> Iterator[tuple[str, Mapping[str, str]]]:
    if "greenlets" not in champion and facts.tell_workers:
        for places in _workers(ground, facts, champion, first=first):
            yield WORKERS, places
    for group, values in ground.server.candidates(ground.config):
        (key,) = values
        # What was taken is tried without; the round "back" has the other way.
        if key not in champion:
            yield group, values
    if first:
        if ground.is_on("access-log"):
            yield LOG, {"access-log": NO}
        if facts.greenlets and ground.server.can_set("greenlets"):
            yield GREENLET, {"greenlets": GREENLETS}
        yield from _queue(ground, facts)
        one = facts.cores > 1 and ground.workers(champion) == 1
        if one and ground.server.bound_to(ground.config, facts.first_cpu):
            yield AFFINITY, {AFFINITY: str(facts.first_cpu)}


def _queue(ground: Ground, facts: Facts) -> Iterator[tuple[str, Mapping[str, str]]]:
    wanted = min(max(QUEUE, 2 * facts.connections), facts.somaxconn)
    if "backlog" not in ground.service.ignored and (ground.number("backlog") or 0) < wanted:
        yield ACCEPT_QUEUE, {"backlog": str(wanted)}


def _workers(
    ground: Ground, facts: Facts, champion: Values, *, first: bool
) -> Iterator[Mapping[str, str]]:
    """Yield numbers of workers and threads: a grid at first, then those beside the champion's."""
    if facts.wanted is not None:
        yield from _computed(ground, facts)
    processes = ground.number("workers", champion) or 1
    threads = ground.number("threads", champion)
    cores = facts.cores
    if first:
        one = (threads or 1) if ground.service.is_wsgi else None
        kinds = (1, 4, 16) if facts.threads else (one,)
        for many, thread_count in itertools.product(per_cpu(ground), kinds):
            yield _places(many * cores, thread_count)
    else:
        for some in _beside(PROCESSES, processes):
            yield _places(some, threads)
        for thread_count in _beside(THREADS, threads or 1) if facts.threads else ():
            yield _places(processes, thread_count)


def _computed(ground: Ground, facts: Facts) -> Iterator[Mapping[str, str]]:
    """Yield what keeps the cores busy while requests wait, and the next larger."""
    assert facts.wanted is not None
    if not facts.threads:
        threads = ground.number("threads") or 1
        yield _places(_at_least(PROCESSES, math.ceil(facts.wanted / threads)), threads)
        return
    processes = max(facts.cores, 2)
    threads = _at_least(THREADS, math.ceil(facts.wanted / processes))
    yield _places(processes, threads)
    yield _places(processes, _at_least(THREADS, threads + 1))


def _places(processes: int, threads: int | None) -> Mapping[str, str]:
    settings = {"workers": str(processes)}
    return settings if threads is None else settings | {"threads": str(threads)}


def _beside(levels: tuple[int, ...], now: int) -> Iterator[int]:
    """Yield the level below, and the one above."""
    below, above = bisect_left(levels, now) - 1, bisect_right(levels, now)
    yield from (levels[index] for index in (below, above) if 0 <= index < len(levels))


def _at_least(levels: tuple[int, ...], wanted: int) -> int:
    """Return the smallest level of so many, or the largest that there is."""
    return levels[min(bisect_left(levels, wanted), len(levels) - 1)]


def seen(facts: Facts, places: int | None, rate: float, cpu: float, share: float) -> Facts:
    """
    Return the facts with what trials of the champion show.

    Args:
        facts: What was known before.
        places: Requests that it serves at a time; None where that is not known.
        rate: Requests/s.
        cpu: Seconds of CPU a request.
        share: Share of its cores that it used.
    """
    held = (places or 0) / rate
    asleep = share < AWAKE and held >= ASLEEP * cpu and (places or 0) < facts.connections
    return replace(facts, wait=held - cpu if asleep else None, cpu=cpu)


AWAKE = 0.7
"""Share of its cores from which a server is busy, and not asleep."""

ASLEEP = 1.5
"""How many times longer than it computes a worker holds a request, where waiting matters."""
