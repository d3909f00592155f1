"""From meanings to steps: what a server's configuration needs so that a meaning has a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from lab.config.configuration import Config
from lab.config.steps import Drop, Put, Step

if TYPE_CHECKING:
    from lab.config.vocabulary.senses import Spelling

GROUPS = {
    "workers": "worker processes and their threads",
    "queue": "connections that may wait to be accepted",
    "log": "a line for each request",
    "greenlets": "gevent, where --gevent asks for it",
    "affinity": "the one worker bound to one CPU",
}
"""Groups of changes that `lab tune` tries with every server -> what each group is."""

YES, NO = "true", "false"
"""What a switch may be."""

Pairs = tuple[tuple[str, Mapping[str, str]], ...]
"""Groups, of each of which one change at most is taken, and what each change sets."""

StepsOfMeaning = Callable[[Config, str], Iterator[Step]]
"""The steps that give a meaning a value in a configuration."""


def is_writable(program: str, key: str) -> bool:
    """Return whether a server has an option for a meaning of the vocabulary."""
    from lab.config.vocabulary.senses import senses  # noqa: PLC0415 - `lab lint` needs none

    column = senses()[key].columns.get(program) if key in senses() else None
    return column is not None and column.writable


def plain(program: str, key: str, value: object) -> Iterator[Step]:
    """Yield how a server is told a meaning, and nothing that goes with it; see `Server.steps`."""
    from lab.config.vocabulary.senses import senses  # noqa: PLC0415 - `lab lint` needs none

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
        yield from (Drop(name) for name in against)
        yield Put(says[0], YES)
    else:
        yield from (Drop(name) if on else Put(name, NO) for name in against[:1])


def without(option: str) -> StepsOfMeaning:
    """Return what takes an option out whose default is the value."""
    return lambda _config, _value: iter((Drop(option),))
