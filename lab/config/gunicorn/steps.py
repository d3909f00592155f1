"""The steps that set a meaning in a gunicorn configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lab.config.configuration import Config
from lab.config.steps import Put, Step
from lab.config.vocabulary.steps_for_meaning import StepsOfMeaning, without


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
