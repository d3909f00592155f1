"""The lines of ini files as uWSGI goes through them: sections, conditions, comments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from lab.settings.lint.config import Config
from lab.settings.lint.flaw import Spot

ENDS = frozenset({"end", "endfor", "endif", "end-for", "end-if"})
"""Options that end a condition, whichever began it."""

OTHER_FORMS = frozenset({".yaml", ".yml", ".json", ".js", ".xml"})
"""How the names of files end that uWSGI reads, and that are no inis."""

_BLANKS = " \t\r"


@dataclass(frozen=True, slots=True)
class Line:
    """One line that is not empty."""

    spot: Spot
    """Where its text begins."""

    text: str
    """Without the blanks around it."""

    section: str
    """Name of the section that it belongs to; a header's own. "" above all of them."""

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

    @property
    def option(self) -> str:
        """What stands before the "="."""
        return self.text.partition("=")[0].rstrip(_BLANKS)


def lines(config: Config) -> Iterator[Line]:
    """Yield the lines of all ini files, with their sections."""
    for file, text in config.texts.items():
        if file.suffix not in OTHER_FORMS:
            yield from _lines(file, text)


@lru_cache(maxsize=128)
def _lines(file: Path, text: str) -> tuple[Line, ...]:
    """Return the lines of one file; kept, because each rule about lines asks for them."""
    found = []
    section = ""
    for number, written in enumerate(text.split("\n"), start=1):
        content = written.strip(_BLANKS)
        if content.startswith("["):
            section = content[1:-1]  # uWSGI cuts off the last character, whatever it is
        if content:
            column = len(written) - len(written.lstrip(_BLANKS)) + 1
            found.append(Line(Spot(file, number, column), content, section))
    return tuple(found)


def asked(config: Config) -> frozenset[str]:
    """Return the names of the sections that are read: [uwsgi], or the one asked for."""
    top = config.top
    known = config.settings and top.file in config.texts
    return frozenset({"uwsgi", config.line(top).strip(_BLANKS)[1:-1]} if known else {"uwsgi"})


def options(config: Config) -> Iterator[Line]:
    """Yield the lines of the sections that are read which have an option, with its condition."""
    names = asked(config)
    inside: Spot | None = None
    for each in lines(config):
        if inside and inside.file != each.spot.file:
            inside = None
        if each.is_header or each.is_comment or each.section not in names:
            continue
        if each.option in ENDS:
            inside = None
        yield Line(each.spot, each.text, each.section, inside)
        if inside is None and opens(config, each.option):
            inside = each.spot


def opens(config: Config, option: str) -> bool:
    """Return whether an option begins a condition or a loop."""
    entry = config.table.entries.get(option)
    return entry is not None and entry.setter == "uwsgi_opt_logic" and option != "else"
