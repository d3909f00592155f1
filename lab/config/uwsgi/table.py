"""
The table of uWSGI's options, made from its source by `tools/uwsgi_options.py`.

It holds the options of the core and of all plugins that the source has, so it knows more than one
build does: `uwsgi --help` says what that has.
"""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

JSON = Path(__file__).with_name("options.json")

NUMBERS = frozenset(
    {"uwsgi_opt_set_int", "uwsgi_opt_set_rawint", "uwsgi_opt_set_16bit", "uwsgi_opt_set_64bit"}
    | {"uwsgi_opt_set_megabytes", "uwsgi_opt_max_vars", "uwsgi_opt_safe_fd"}
    | {"uwsgi_opt_setup_asyncio", "uwsgi_opt_setup_gevent"}
)
"""
Functions that read a value with atoi(3) or strtoul(3), and look at no error.

The other functions that take a number (uid, mules, chmod-socket) take something else, too, or say
what is wrong.
"""

SWITCHES = frozenset({"uwsgi_opt_true", "uwsgi_opt_false", "uwsgi_opt_dyn_true"})
"""Functions for which "false", "off", "no" and "0" are no, and all else is yes."""

KEEPS_LAST = re.compile(
    r"uwsgi_opt_(true|false|set_(str|str_spaced|int|rawint|16bit|64bit|megabytes|[ug]id|umask|null)"
    r"|setup_\w+|log_date|(chmod|logfile)_\w+|fileserve_mode|max_vars|pyver)"
)
"""Functions for which the last value counts; all others collect."""

MASTER = ("MASTER", "LOG_MASTER", "REQ_LOG_MASTER")
"""Flags that switch the master on."""


class Entry(NamedTuple):
    """One option, as the source has it."""

    name: str
    argument: str
    """"no", "required" or "optional"."""

    setter: str
    """Name of the C function that reads the value."""

    data: str
    """What that function is told, mostly the variable that it sets; "" for nothing."""

    flags: frozenset[str]
    """Without UWSGI_OPT_, as {"IMMEDIATE", "MASTER"}."""

    plugin: str
    """Folder below plugins/; "" for the core."""

    line: str
    """File and line of the source, as "core/uwsgi.c:62"."""


@dataclass(frozen=True)
class OptionTable:
    """Options by name; empty for a server that has no such table."""

    version: str
    entries: Mapping[str, Entry]

    @cached_property
    def _canonical(self) -> dict[str, str]:
        """Name -> the first name of the same option, in the order of the source."""
        first: dict[tuple[str, str], str] = {}
        return {
            entry.name: first.setdefault((entry.setter, entry.data), entry.name)
            if entry.data.startswith("&")
            else entry.name
            for entry in self.entries.values()
        }

    @cached_property
    def _by_length(self) -> dict[int, tuple[str, ...]]:
        """Length -> the names that have it."""
        names = sorted(self.entries, key=len)
        return {length: tuple(group) for length, group in groupby(names, key=len)}

    def of_length(self, least: int, most: int) -> tuple[str, ...]:
        """Return the names that have so many letters."""
        groups = (self._by_length.get(length, ()) for length in range(least, most + 1))
        return tuple(chain.from_iterable(groups))

    def canonical(self, name: str) -> str:
        """Return one name for all spellings of an option: "processes" for "workers"."""
        return self._canonical.get(name, name)

    def is_number(self, name: str) -> bool:
        """Return whether uWSGI reads a number there, and takes any text for one."""
        return name in self.entries and self.entries[name].setter in NUMBERS

    def is_switch(self, name: str) -> bool:
        """Return whether uWSGI reads a yes or no there, and takes any text for yes."""
        return name in self.entries and self.entries[name].setter in SWITCHES

    def repeats(self, name: str) -> bool:
        """Return whether every value of the option counts, and not the last alone."""
        entry = self.entries.get(name)
        return entry is not None and not KEEPS_LAST.fullmatch(entry.setter)

    def implies_master(self, name: str) -> bool:
        """Return whether the option switches the master on."""
        return name in self.entries and not self.entries[name].flags.isdisjoint(MASTER)

    def nearest(self, name: str, among: Iterable[str] | None = None) -> str | None:
        """Return the option that *name* may be a mistyped form of; None without a close one."""
        known = self.entries if among is None else among
        return _nearest(name, tuple(known))


Letters = frozenset[tuple[str, int]]

CLOSE = 0.8
"""Share of the letters of two names that are alike where one may be meant by the other."""


@lru_cache(maxsize=4096)
def _nearest(name: str, known: tuple[str, ...]) -> str | None:
    """Return the closest name; kept, because a file is judged again after each change."""
    if not name:
        return None
    letters, length = _letters(name), len(name)
    least, most = length * CLOSE / (2 - CLOSE) - 1, length * (2 - CLOSE) / CLOSE + 1
    # Few names have that many letters in common, which is a fifth of difflib's work to see.
    alike = [
        option
        for option, size, has in _lettered(known)
        if least < size < most and 2 * len(letters & has) / (size + length) >= CLOSE
    ]
    close = difflib.get_close_matches(name, alike, n=1, cutoff=CLOSE)
    return close[0] if close else None


@lru_cache(maxsize=64)
def _lettered(known: tuple[str, ...]) -> tuple[tuple[str, int, Letters], ...]:
    """Return names with their lengths and letters."""
    return tuple((name, len(name), _letters(name)) for name in known)


def _letters(name: str) -> Letters:
    """Return the letters of a name, each with how often it stood before."""
    times = Counter[str]()
    letters = set()
    for letter in name:
        letters.add((letter, times[letter]))
        times[letter] += 1
    return frozenset(letters)


NOTHING = OptionTable("", {})


@cache
def uwsgi_options() -> OptionTable:
    """Return the table of the uWSGI that this project is made for."""
    content = json.loads(JSON.read_text(encoding="utf-8"))
    entries = {
        name: Entry(name, argument, setter, data, frozenset(flags.split()), plugin, line)
        for name, (argument, setter, data, flags, plugin, line) in content["options"].items()
    }
    return OptionTable(content["version"], entries)


def atoi(text: str) -> int:
    """
    Return what uWSGI makes of a text where it reads a number.

    >>> atoi("30s"), atoi("four"), atoi(" -1")
    (30, 0, -1)
    """
    digits = re.match(r"\s*([+-]?\d{1,18})", text, re.ASCII)  # what is longer fits in no number
    return int(digits[1]) if digits else 0
