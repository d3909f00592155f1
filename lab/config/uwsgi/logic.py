"""
What uWSGI's conditions and loops let through: `if-env`, `for`, and their like.

Source: uWSGI 2.0.31, core/config.c (uwsgi_logic_opt_*).
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lab.config.configuration import Known
from lab.config.edits import lines_of
from lab.config.files import is_file, is_folder
from lab.config.uwsgi.table import Entry, atoi
from lab.config.uwsgi.variables import as_bytes, as_text

UNTRUSTED = " without --trusted"
"""Ends a guess about what is not read, and could be."""

PREFIX = "uwsgi_logic_opt_"
"""Begins the name of the function behind a condition or a loop, in the option table."""

WILDCARDS = 2
"""Folders and files of a pattern that may have a wildcard: more would search the whole disk."""

OF_VARIABLE = "the environment variable "
"""Begins the reason why uWSGI may get something else where a condition asks for a variable."""

FILES = frozenset({"exists", "file", "dir"})
"""Conditions about a file."""


@dataclass
class Logic:
    """The condition or loop that is open, and what it asks."""

    known: Known
    path: Callable[[str], Path]
    """Returns where a file lies that is named."""

    environ: Callable[[str], str | None]
    first: Callable[[str], str | None]
    """Return the value of an environment variable, and of the first option of a name."""

    guess: Callable[[str], None]
    """Is told why uWSGI may decide otherwise."""

    test: str = ""
    """Its function in uWSGI, without `PREFIX`; empty where none is open."""

    argument: str = ""

    def open(self, entry: Entry, argument: str) -> None:
        """Begin one, whose option is *entry*."""
        self.test, self.argument = entry.data.removeprefix(PREFIX), argument

    @property
    def is_loop(self) -> bool:
        """Whether what it lets through may come several times."""
        return self.test.startswith("for")

    def cases(self) -> Iterator[str | None]:
        """Yield what %(_) means, for each time that an option comes through."""
        test, argument = self.test, self.argument
        if test == "for":
            yield from (token for token in argument.split(" ") if token)
        elif test == "for_times":
            yield from map(str, range(1, atoi(argument) + 1))
        elif test == "for_glob":
            yield from self._matching(argument)
        elif test == "for_readline":
            text = self.known.read(self.path(argument)) or ""
            yield from (as_bytes(line.rstrip("\r\n")) for line in lines_of(text))
        else:
            yield from self._condition(test.removeprefix("if_"), argument)

    def _matching(self, argument: str) -> Iterator[str]:
        """Yield the names that a pattern matches, sorted; itself where that is none."""
        pattern, folder = as_text(argument), self.path("")
        if sum(map(glob.has_magic, self.path(argument).parts)) > WILDCARDS:
            self.guess(f"lab does not look for {pattern}")
            return
        names = sorted(glob.glob(pattern, root_dir=folder))  # noqa: PTH207 - as C has it
        if not all(self.known.reaches(folder / name) for name in names):
            self.guess(f"lab does not look for {pattern}, outside of this folder")
            return
        marked = (name + "/" * is_folder(folder / name) for name in names)
        yield from map(as_bytes, marked) if names else [argument]

    def _condition(self, test: str, argument: str) -> Iterator[str | None]:
        """Yield what %(_) means where a condition holds; nothing where it does not."""
        wanted = not test.startswith("not_")
        kind = test.removeprefix("not_")
        meaning: str | None = argument
        path = self.path(argument) if kind in FILES else Path()
        match kind:
            case "env" | "opt":
                name, equals, value = argument.partition("=")
                meaning = self.environ(name) if kind == "env" else self.first(name)
                if kind == "env" and self.known.confined and meaning is None:
                    self.guess(f"{OF_VARIABLE}{as_text(name)} is unknown{UNTRUSTED}")
                holds = meaning is not None and (not equals or meaning == value)
            case "exists":
                holds = bool(argument) and os.access(path, os.R_OK)
            case "file":
                holds = is_file(path)
            case "dir":
                holds = bool(argument) and is_folder(path)
            case "hostname":
                holds = argument == os.uname().nodename
            case "plugin" if self.known.plugins is not None:
                holds = as_text(argument) in self.known.plugins
            case "reload":
                meaning, holds = None, False
            case _:
                self.guess(f"lab does not know whether there is {as_text(argument)}")
                holds = False
        if holds is wanted:
            yield meaning
