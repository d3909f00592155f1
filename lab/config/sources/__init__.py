"""
Files for other programs that have the commands by which servers are started.

Each module of this package reads one kind of file, and is found by itself: `CALLED` is a pattern of
the names of such files, and `starts` returns the commands that start a server that `lab` knows.
Nothing is run. To add a kind, add a module.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Protocol, cast

from lab.config.start import StartCommand


class FileKind(Protocol):
    """A module of this package."""

    CALLED: str
    """Pattern of the names of its files."""

    def starts(self, path: Path, text: str) -> tuple[StartCommand, ...]:
        """Return the commands in a file that start a server, in its order."""


@cache
def kinds() -> tuple[FileKind, ...]:
    """Return all modules of this package."""
    names = sorted(module.name for module in iter_modules(__path__))
    return tuple(cast(FileKind, import_module(f"{__name__}.{name}")) for name in names)


def of_file(name: str) -> FileKind | None:
    """Return what reads a file of that name; None where nothing does."""
    return next((kind for kind in kinds() if re.fullmatch(kind.CALLED, name)), None)
