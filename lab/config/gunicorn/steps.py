"""The steps that set a meaning in a gunicorn configuration, and what `lab tune` tries with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lab.config.configuration import Config
from lab.config.interface import ASGI, of_worker_class
from lab.config.steps import Put, Step
from lab.config.vocabulary.steps_for_meaning import Pairs, StepsOfMeaning, without


def _gevent_class(_config: Config, value: str) -> Iterator[Step]:
    """Yield gunicorn's number of greenlets, with the class of workers that has them."""
    yield from (Put("worker_class", "gevent"), Put("worker_connections", value))


def _threads_of_class(config: Config, value: str) -> Iterator[Step]:
    """Yield gunicorn's number of threads, with the class of workers that has them."""
    yield Put("threads", value)
    worker_class = config.last("worker_class")
    if value != "1" and (worker_class is None or worker_class.value == "sync"):
        yield Put("worker_class", "gthread")


SPECIAL: Mapping[str, StepsOfMeaning] = {
    "greenlets": _gevent_class,
    "threads": _threads_of_class,
    "access-log": without("accesslog"),
}
"""Key of a meaning -> the steps that set it, where that is more than one option."""

GROUPS = {"accept": "a queue of connections for each worker, with an ASGI application"}
"""Groups of `candidates` -> what each group is."""

TUNABLE = ("reuse_port",)
"""Options of gunicorn alone that `lab tune` may set."""


def candidates(config: Config) -> Pairs:
    """
    Return the changes that `lab tune` tries with gunicorn alone.

    Kept connections stay with the worker that accepted them: those that a proxy opens at once may
    all be with one, where workers share a queue.
    """
    kind, setting = config.last("worker_class"), config.last("reuse_port")
    is_asgi = kind is not None and of_worker_class(kind.value) == ASGI
    if not is_asgi or (setting is not None and setting.value != "False"):
        return ()
    return (("accept", {"reuse_port": "True"}),)
