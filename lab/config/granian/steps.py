"""The steps that set a meaning in a granian command, and what `lab tune` tries with granian."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lab.config.configuration import Config
from lab.config.granian.command import interface_of
from lab.config.interface import WSGI
from lab.config.steps import Put, Step
from lab.config.vocabulary.steps_for_meaning import YES, Pairs, StepsOfMeaning, without

GROUPS = {"runtime": "threads and mode of granian's own runtime, and its backpressure"}
"""Groups of `candidates` -> what each group is."""

TUNABLE = ("runtime-threads", "runtime-mode", "backpressure")
"""Options of granian alone that `lab tune` may set."""


def _with_respawn(config: Config, value: str) -> Iterator[Step]:
    """Yield granian's number of workers; of several a dead one would end them all."""
    yield Put("workers", value)
    if value != "1" and config.last("respawn-failed-workers") is None:
        yield Put("respawn-failed-workers", YES)


SPECIAL: Mapping[str, StepsOfMeaning] = {
    "workers": _with_respawn,
    "access-log": without("access-log"),
}
"""Key of a meaning -> the steps that set it, where that is more than one option."""


def candidates(config: Config) -> Pairs:
    """Return the changes that `lab tune` tries with granian alone."""
    tried = {
        "runtime-threads": ("1", "2"),
        "runtime-mode": ("st", "mt"),
        "backpressure": ("64",),
    }
    if interface_of(config) != WSGI:
        del tried["backpressure"]  # idle connections that a proxy keeps would use it up
    now = {option: setting.value for option in tried if (setting := config.last(option))}
    return tuple(
        ("runtime", {option: value})
        for option, values in tried.items()
        for value in values
        if now.get(option) != value
    )
