"""The lines of ini files as uWSGI goes through them: sections, conditions, comments."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from lab.config.spot import Spot
from lab.config.uwsgi.table import OptionTable

ENDS = frozenset({"end", "endfor", "endif", "end-for", "end-if"})
"""Options that end a condition, whichever began it."""

_BLANKS = " \t\r"


class Line(NamedTuple):
    """One line that is not empty."""

    spot: Spot
    """Where its text begins."""

    text: str
    """Without the blanks around it."""

    section: str
    """Name of the section that it belongs to; a header's own. "" above all of them."""

    option: str
    """What stands before the "="."""

    inside: Spot | None = None
    """The condition or loop that it belongs to."""

    @property
    def is_header(self) -> bool:
        """Whether it begins a section."""
        return self.text.startswith("[")

    @property
    def is_comment(self) -> bool:
        """Whether uWSGI passes over it."""
        return self.text.startswith((";", "#"))


def lines(texts: Mapping[Path, str], forms: Collection[Path]) -> Iterator[Line]:
    """Yield the lines of the inis among *texts*, which are all but *forms*, with their sections."""
    for file, text in texts.items():
        if file not in forms:
            yield from _lines(file, text)


@lru_cache(maxsize=8)
def _lines(file: Path, text: str) -> tuple[Line, ...]:
    """Return the lines of one file; kept, because it is read again after each fix."""
    file_lines = []
    section = ""
    for number, written in enumerate(text.split("\n"), start=1):
        content = written.strip(_BLANKS)
        if content.startswith("["):
            section = content[1:-1]  # uWSGI cuts off the last character, whatever it is
        if content:
            column = len(written) - len(written.lstrip(_BLANKS)) + 1
            option = content.partition("=")[0].rstrip(_BLANKS)
            file_lines.append(Line(Spot(file, number, column), content, section, option))
    return tuple(file_lines)


def options(every: Iterable[Line], names: Collection[str], table: OptionTable) -> Iterator[Line]:
    """Yield the lines of the sections with these names that have an option, with its condition."""
    inside: Spot | None = None
    for line in every:
        if inside and inside.file != line.spot.file:
            inside = None
        if line.is_header or line.is_comment or line.section not in names:
            continue
        if line.option in ENDS:
            inside = None
        yield line._replace(inside=inside) if inside else line
        if inside is None and opens(table, line.option):
            inside = line.spot


def opens(table: OptionTable, option: str) -> bool:
    """Return whether an option begins a condition or a loop."""
    entry = table.entries.get(option)
    return entry is not None and entry.setter == "uwsgi_opt_logic" and option != "else"
