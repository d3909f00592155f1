"""
The tables of the vocabulary, as they are written in its files.

What servers share stands beside this module. What one server has stands in the file
`vocabulary.toml` of its folder, which has the name of its program.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from lab.config.interface import WSGI


@dataclass(frozen=True, slots=True)
class Spelling:
    """How one server spells a sense, and what differs there."""

    names: tuple[str, ...] = ()
    """Its options for it; the first is the one that is written."""

    opposite: tuple[str, ...] = ()
    """Its switches that mean the opposite."""

    always: bool = False
    """Whether it does so and has no option for it."""

    differs: bool = False
    """Whether what it always does is not quite the same."""

    implied: str = ""
    """What holds where none of the options is written, and others must be told."""

    unit: str = ""
    """"ms" where the value is in that."""

    least: int = 0
    """The smallest value that it takes."""

    most: int = 0
    """The largest; 0 without a bound."""

    says: str = ""
    """What differs there from other servers."""

    explains: str = ""
    """What to know of the option there, which does the same as elsewhere."""

    choices: tuple[str, ...] = ()
    """The values that it takes; empty: any."""

    lost: str = ""
    """What becomes of it where it cannot be carried over, and the way out."""

    source: str = ""
    """File and line of the version that was read."""

    asgi: Mapping[str, Any] = field(default_factory=dict)
    """What is otherwise where the application is called by ASGI, by the names above."""

    @property
    def writable(self) -> bool:
        """Whether there is an option for it."""
        return bool(self.names or self.opposite)


@dataclass(frozen=True, slots=True)
class Sense:
    """What an option means, for all servers."""

    key: str
    means: str
    """In words, as in "worker processes"."""

    kind: str
    """number, seconds, MiB, bytes, switch, text or list."""

    columns: Mapping[str, Spelling]
    """By program."""

    off: str = ""
    """In words, what holds where a switch is off by default."""

    @property
    def is_number(self) -> bool:
        """Whether its value is a whole number."""
        return self.kind in {"number", "seconds", "MiB", "bytes"}


@dataclass(frozen=True, slots=True, eq=False)
class Gone:
    """Options that no other server has anything for."""

    key: str
    patterns: Mapping[str, re.Pattern[str]]
    """By program."""

    instead: str
    """The way out."""

    needless: bool = False
    """Whether nothing is to do."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """A difference that no option shows."""

    key: str
    about: str
    does: Mapping[str, str]
    """By program."""

    ask: str
    """What to look at in one's own application."""

    unless: str = ""
    """Key of the sense that shows it where a configuration says that."""

    interface: str = WSGI
    """The interface of the applications that it is about."""

    cases: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By program: facts of a configuration -> what the server then does; empty: unknown."""

    def done_by(self, program: str, facts: Mapping[str, str]) -> str:
        """Return what a server does of whose configuration *facts* hold; empty: unknown."""
        for names, text in self.cases.get(program, {}).items():
            if all(name in facts for name in names.split(" + ")):
                return re.sub(r"\{([\w-]+)\}", lambda match: facts[match[1]], text)
        return self.does.get(program, "")


def _read(name: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


@cache
def _servers() -> Mapping[str, Mapping[str, Any]]:
    """Return program -> the tables of its vocabulary."""
    paths = ((path.name, path / "vocabulary.toml") for path in files("lab.config").iterdir())
    return {
        program: tomllib.loads(path.read_text(encoding="utf-8"))
        for program, path in sorted(paths, key=lambda pair: pair[0])
        if path.is_file()
    }


def name_of(program: str) -> str:
    """Return a server's name as its project writes it."""
    name: str = _servers().get(program, {}).get("name", program)
    return name


def _columns(table: str, key: str) -> Mapping[str, Any]:
    """Return program -> what its vocabulary has in a table under a key."""
    return {
        program: tables[table][key]
        for program, tables in _servers().items()
        if key in tables.get(table, ())
    }


@cache
def senses() -> Mapping[str, Sense]:
    """Return all senses by key, in the order in which they are written."""
    return {key: _sense(key, table) for key, table in _read("senses.toml").items()}


def _sense(key: str, table: Mapping[str, Any]) -> Sense:
    columns = {program: _column(column) for program, column in _columns("senses", key).items()}
    return Sense(key, table["means"], table["kind"], columns, table.get("off", ""))


def _column(table: Mapping[str, Any]) -> Spelling:
    fields = {("opposite" if name == "not" else name): value for name, value in table.items()}
    lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    fields |= lists
    return Spelling(**fields)


@cache
def gone() -> tuple[Gone, ...]:
    """Return what no other server has anything for."""
    return tuple(
        Gone(
            key,
            {
                program: re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
                for program, patterns in _columns("gone", key).items()
            },
            table["instead"],
            table.get("needless", False),
        )
        for key, table in _read("gone.toml").items()
    )


@cache
def hidden() -> tuple[Hidden, ...]:
    """Return the differences that no option shows."""
    return tuple(
        Hidden(
            key,
            table["about"],
            _columns("hidden", key),
            table["ask"],
            table.get("unless", ""),
            table.get("interface", WSGI),
            _columns("cases", key),
        )
        for key, table in _read("hidden.toml").items()
    )


@cache
def by_option(program: str) -> Mapping[str, Sense]:
    """Return option -> what it means, for one server."""
    return {
        name: sense
        for sense in senses().values()
        for column in filter(None, (sense.columns.get(program),))
        for name in (*column.names, *column.opposite)
    }


def gone_of(program: str, option: str) -> Gone | None:
    """Return what is known of an option that no other server has anything for."""
    for gone_options in gone():
        if program in gone_options.patterns and gone_options.patterns[program].fullmatch(option):
            return gone_options
    return None
