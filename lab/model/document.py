"""
A text for people as data: a terminal, Markdown and a page show the same words.

A renderer decides from a cell's meaning how the cell looks, and never what it says.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lab.model.wording import UNKNOWN

COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Meaning(enum.StrEnum):
    """What a cell means, for a renderer to colour."""

    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"
    WARNING = "warning"
    MUTED = "muted"


@dataclass(frozen=True, slots=True)
class Cell:
    """A printed value."""

    text: str
    meaning: Meaning = Meaning.PLAIN


NOTHING = Cell(UNKNOWN, Meaning.MUTED)
"""A value that is not known, or withheld."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column's header."""

    title: str
    unit: str = ""
    number: bool = True
    """Whether it is aligned to the right."""


class Topic(enum.StrEnum):
    """What a table tells of a run, for a renderer that gives it a place of its own."""

    THRESHOLDS = "thresholds"
    MEASURED = "measured"
    PARTS = "parts"
    LIMITS = "limits"
    CHANGES = "changes"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a title."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    topic: Topic | None = None
    """None for a table without such a place."""
    between: str = ""
    """What plain text has between two cells of a row, as " -> "; empty for columns."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A file as it is to be written."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Diff:
    """Lines that begin with "-" where they go, and with "+" where they come."""

    title: str
    """Empty without one."""
    lines: tuple[str, ...]


Block = str | Table | Listing | Diff
"""A part of what a command prints; a text is a paragraph, whose lines no printer breaks."""


@dataclass(frozen=True, slots=True)
class Document:
    """A report, from top to bottom."""

    title: str
    context: tuple[str, ...]
    """The load and the plan, the machine, the versions."""
    banners: tuple[str, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    legend: tuple[str, ...]
    footer: tuple[str, ...]
    headline: str = ""
    """What was found, in one sentence."""
    commands: tuple[str, ...] = ()
    """What to type next; a terminal breaks none of these lines."""


def table(title: str, heads: Iterable[str], rows: Iterable[Iterable[str]], **more: Any) -> Table:
    """Return a table of texts; *more* are further fields of a `Table`."""
    return Table(title, texts(heads), tuple(tuple(map(Cell, row)) for row in rows), **more)


def texts(titles: Iterable[str]) -> tuple[Column, ...]:
    """Return the headers of columns that hold text."""
    return tuple(Column(title, number=False) for title in titles)


def printable(lines: Iterable[str]) -> list[str]:
    """Return *lines* without colours and other control characters, which a log may hold."""
    plain = (COLOUR.sub("", line) for line in lines)
    return ["".join(c if c.isprintable() else " " for c in text) for text in plain]
