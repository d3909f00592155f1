"""
Files for other programs that have the commands by which servers are started.

Each module of this package reads one kind of file, and is found by itself: `CALLED` is a pattern of
the names of such files, `HOLDS` one that their texts have, and `starts` returns the commands that
start a server that `lab` knows. Nothing is run. To add a kind, add a module.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Protocol, cast

from lab.config.start import StartCommand
from lab.errors import ProfileError

DEVELOPMENT = re.compile(r"(.*[._-])?(dev(elop(ment)?)?|local|override|test|debug)([._-].*)?")
"""Names of what serves nobody else: a search passes over such files."""


MOST = 100
"""Servers that a file may start."""


class FileKind(Protocol):
    """A module of this package."""

    CALLED: str
    """Pattern of the names of its files."""

    def starts(self, path: Path, text: str) -> tuple[StartCommand, ...]:
        """
        Return the commands in a file that start a server, in its order.

        Raises:
            ProfileError: The file is none of its kind.
        """


@cache
def kinds() -> tuple[FileKind, ...]:
    """Return all modules of this package."""
    names = sorted(module.name for module in iter_modules(__path__))
    return tuple(cast(FileKind, import_module(f"{__name__}.{name}")) for name in names)


def of_file(name: str, read: Callable[[], str] = str) -> FileKind | None:
    """
    Return what reads the start commands of a file; None where nothing does.

    Args:
        name: The file's name.
        read: Returns the file's text, which is asked for where the name does not tell.
    """
    called = (kind for kind in kinds() if re.fullmatch(kind.CALLED, name))
    holds = ((kind, getattr(kind, "HOLDS", "")) for kind in called)
    return next(
        (kind for kind, sign in holds if re.search(sign, sign and read(), re.MULTILINE)), None
    )


@lru_cache(maxsize=4)  # each start command of a file is named, read and placed
def starts_of(path: Path, text: str) -> tuple[StartCommand, ...]:
    """
    Return the start commands of a file, in its order.

    Raises:
        ProfileError: The file is none of its kind.
    """
    kind = of_file(path.name, lambda: text)
    return kind.starts(path, text) if kind else ()


def with_own_names(starts: Iterable[StartCommand]) -> tuple[StartCommand, ...]:
    """
    Return commands of which none has the name of another: web, web-2.

    Raises:
        ProfileError: There are more than `MOST`.
    """
    named: list[StartCommand] = []
    counts: Counter[str] = Counter()
    for start in starts:
        counts[start.name] += 1
        count = counts[start.name]
        named.append(replace(start, name=f"{start.name}-{count}") if count > 1 else start)
        if len(named) > MOST:
            problem = f"starts more than {MOST} servers, so lab does not read it"
            raise ProfileError(start.spot.file, problem)
    return tuple(named)
