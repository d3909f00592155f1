"""The steps that set a meaning for hypercorn, and what `lab tune` tries with hypercorn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lab.config.configuration import Config
from lab.config.steps import Drop, Put, Step
from lab.config.vocabulary.steps_for_meaning import YES, Pairs, StepsOfMeaning

GROUPS = {"loop": "the event loop, and the parser of HTTP"}
"""Groups of `candidates` -> what each group is."""

TUNABLE = ("worker_class",)
"""Settings of hypercorn alone that `lab tune` may set."""


def _access_log(_config: Config, value: str) -> Iterator[Step]:
    """Yield the steps that switch the log of requests on, to the standard output, or off."""
    yield Put("accesslog", "-") if value == YES else Drop("accesslog")


SPECIAL: Mapping[str, StepsOfMeaning] = {"access-log": _access_log}
"""Key of a meaning -> the steps that set it."""


def candidates(config: Config) -> Pairs:
    """Return the changes that `lab tune` tries with hypercorn alone: the other event loop."""
    setting = config.last("worker_class")
    now = setting.value if setting else "asyncio"
    if now not in {"asyncio", "uvloop"}:
        return ()
    return (("loop", {"worker_class": "asyncio" if now == "uvloop" else "uvloop"}),)
