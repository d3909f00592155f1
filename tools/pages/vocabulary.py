"""What options mean from server to server, from the tables that `lab migrate` reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from lab.config.interface import WSGI
from lab.config.servers import TRANSLATABLE
from lab.config.vocabulary.senses import (
    Gone,
    Hidden,
    Sense,
    Spelling,
    by_option,
    gone,
    hidden,
    senses,
)
from lab.errors import UsageError
from lab.model.document import table
from lab.model.wording import UNKNOWN
from lab.report import markdown

SHOWN = 4
"""Options of a feature that are named; the others are counted."""

LONG = 4
"""Blanks in a cell from which on it is not repeated for another server."""

SAME = "the same"
"""What a cell says that would repeat the one before it."""


def options() -> str:
    """Return what each option is called elsewhere, a row a meaning."""
    rows = (
        (
            sense.means,
            *_without_repeats({program: spelling(sense, program) for program in TRANSLATABLE}),
            ", ".join(
                _code(line) for program in TRANSLATABLE for line in sources_of(sense, program)
            ),
        )
        for sense in senses().values()
    )
    titles = (f"{server.name} {server.version}" for server in TRANSLATABLE.values())
    return _table(("meaning", *titles, "source"), rows)


def _without_repeats(cells: Mapping[str, str]) -> Iterator[str]:
    """Yield the cells of a row; one that only repeats what another server has names that server."""
    programs: dict[str, str] = {}
    for program, cell in cells.items():
        first = programs.setdefault(re.sub(rf"\b{program}\b", "{}", cell), program)
        repeats = first != program and cell.count(" ") >= LONG
        yield f"as {TRANSLATABLE[first].name}" if repeats else cell


def without_counterpart() -> str:
    """Return the features that one server alone has, with the way out."""
    rows = (
        (
            _named(feature),
            *(_options(feature, program) for program in TRANSLATABLE),
            feature.instead,
        )
        for feature in gone()
    )
    return _table(("feature", *_names(), "elsewhere"), rows)


def behaviour(interface: str) -> str:
    """Return in what the servers of an interface differ though no option shows it."""
    rows = (
        (
            difference.about,
            *(difference.does[program] or UNKNOWN for program in _serving(interface)),
            difference.ask,
        )
        for difference in hidden()
        if difference.interface == interface
    )
    return _table(("what", *_names(interface), "look at"), rows)


def differences(keys: str) -> str:
    """
    Return a table of what each server has of chosen features, a column a server.

    Args:
        keys: Of any of the three tables of the vocabulary, with commas between them.

    Raises:
        UsageError: None of the tables has one of them.
    """
    return _table(_names(WSGI), (_difference(key.strip()) for key in keys.split(",")))


def _difference(key: str) -> tuple[str, ...]:
    tables = (
        {feature.key: feature for feature in features}
        for features in (senses().values(), gone(), hidden())
    )
    known: dict[str, Sense | Gone | Hidden] = {
        name: feature for table in tables for name, feature in table.items()
    }
    if (feature := known.get(key)) is None:
        raise UsageError(f"the vocabulary has no {key!r}, only {', '.join(known)}")
    first, *others = (_cell(feature, program) for program in _serving(WSGI))
    repeated = [
        SAME if cell == before else cell
        for before, cell in zip(("", *others), others, strict=False)
    ]
    return f"**{_title(feature)}**: {first}", *repeated


def _title(feature: Sense | Gone | Hidden) -> str:
    if isinstance(feature, Hidden):
        return feature.about
    return feature.means if isinstance(feature, Sense) else _named(feature)


def _named(feature: Gone) -> str:
    return feature.key.replace("-", " ")


def _cell(feature: Sense | Gone | Hidden, program: str) -> str:
    if isinstance(feature, Hidden):
        return feature.does[program]
    if isinstance(feature, Sense):
        return spelling(feature, program)
    has = _options(feature, program)
    return f"no equivalent: {feature.instead}" if has == UNKNOWN else has


def spelling(sense: Sense, program: str) -> str:
    """Return how a server spells a sense, and what differs there."""
    column = sense.columns.get(program)
    if column is None:
        return UNKNOWN
    lost = f"no equivalent: {column.lost}" * bool(column.lost)
    parts = (*_spelt(column, program), column.says, column.explains, lost)
    return ": ".join(filter(None, parts)) or UNKNOWN


def _spelt(column: Spelling, program: str) -> Iterator[str]:
    """Yield the options of a server for a sense, and what holds without them."""
    yield ", ".join(option(name, program) for name in column.names)
    off = ", ".join(option(name, program) for name in column.opposite)
    yield f"off by {off}" * bool(off)
    yield "always" * column.always
    default = {"true": "on", "false": "off"}.get(column.implied, column.implied)
    yield f"{default} by default" * bool(default)


def sources_of(sense: Sense, program: str) -> Iterator[str]:
    """Yield where a server's option for a sense stands in its source; nothing without one."""
    if program in sense.columns:
        yield from _sources(sense.columns[program], program)


def _sources(column: Spelling, program: str) -> Iterator[str]:
    """Yield where the first option of a server stands in its source."""
    places = TRANSLATABLE[program].options()
    lines = (places.get(name, "") for name in (*column.names, *column.opposite))
    yield from filter(None, (next(lines, ""), column.source))


def _options(feature: Gone, program: str) -> str:
    """Return the options of a server for a feature that no other has."""
    pattern = feature.patterns.get(program)
    if pattern is None:
        return UNKNOWN
    others = TRANSLATABLE[program].options().keys() - by_option(program).keys()
    names = sorted(name for name in others if pattern.fullmatch(name))
    shown = ", ".join(option(name, program) for name in names[:SHOWN])
    return shown + f" and {len(names) - SHOWN} more" * (len(names) > SHOWN)


def option(name: str, program: str) -> str:
    """Return an option as a configuration of its server has it."""
    return _code(TRANSLATABLE[program].translator.words.form.partition("{}")[0] + name)


def _code(text: str) -> str:
    return f"`{text}`"


def _names(interface: str = "") -> Iterator[str]:
    return (TRANSLATABLE[program].name for program in _serving(interface))


def _serving(interface: str) -> Iterator[str]:
    """Yield the programs that serve an interface, empty for any."""
    for program, server in TRANSLATABLE.items():
        if not interface or interface in server.interfaces:
            yield program


def _table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    return markdown.render_table(table("", titles, rows))
