"""The tables of the vocabulary: what they name is there, in the versions that they are about."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from lab.config.servers import TRANSLATABLE
from lab.config.vocabulary.senses import gone, hidden, senses
from tests.kit.cases import cases

OPTIONS = {program: server.options().keys() for program, server in TRANSLATABLE.items()}
COLUMNS = [
    (sense.key, program, column)
    for sense in senses().values()
    for program, column in sense.columns.items()
]


@cases("key, program, column", COLUMNS)
def test_every_option_is_one_of_its_server(key, program, column):
    """Of the version that the lab carries the options of."""
    assert {*column.names, *column.opposite} <= OPTIONS[program]


@pytest.mark.parametrize("program", TRANSLATABLE)
def test_a_server_s_vocabulary_names_what_servers_share(program):
    """A key that is mistyped would be left out without a word."""
    text = (files("lab.config") / program / "vocabulary.toml").read_text(encoding="utf-8")
    shared = {table.__name__: table() for table in (gone, hidden)}
    keys = {name: {entry.key for entry in entries} for name, entries in shared.items()}
    keys |= {"senses": set(senses()), "cases": keys["hidden"]}
    tables = tomllib.loads(text)
    assert tables.pop("name") == TRANSLATABLE[program].name
    for table, entries in tables.items():
        assert entries.keys() <= keys[table]


@pytest.mark.parametrize("program", TRANSLATABLE)
def test_an_option_has_one_sense(program):
    """And stands in one table only."""
    names = [
        name
        for sense in senses().values()
        for column in filter(None, (sense.columns.get(program),))
        for name in (*column.names, *column.opposite)
    ]
    assert len(names) == len(set(names))


@cases("key, program, column", COLUMNS)
def test_a_column_says_what_becomes_of_its_sense(key, program, column):
    """It has an option, does so always, or names the way out."""
    assert (
        column.writable
        or column.always
        or column.lost
        or key in {"environment", "term-finishes", "access-file", "keepalive"}
        or key in {"certificate", "certificate-key", "ciphers", "client-ca", "client-required"}
    )


@pytest.mark.parametrize("each", gone(), ids=lambda gone_options: gone_options.key)
def test_what_nobody_else_has_is_an_option(each):
    """Each pattern matches at least one option of its server."""
    for program, pattern in each.patterns.items():
        for alternative in re.findall(r"\(\?:((?:[^()]|\([^()]*\))+)\)", pattern.pattern):
            assert any(re.fullmatch(alternative, name) for name in OPTIONS[program]), alternative


@pytest.mark.parametrize("each", hidden(), ids=lambda difference: difference.key)
def test_a_hidden_difference_is_told_of_every_server(each):
    """Of one that said nothing nobody would know whether it differs."""
    serving = (name for name, server in TRANSLATABLE.items() if each.interface in server.interfaces)
    assert {*each.does} == {*serving}
    assert not each.unless or each.unless in senses()


CITED = [
    (key, column.names[0] if column.names else "", column.source)
    for key, _, column in COLUMNS
    if column.source
]


@cases("key, option, source", CITED)
def test_a_cited_line_is_about_its_option(key, option, source):
    """File and line of the version that is installed here; of another version the line may move."""
    file, _, line = source.partition(":")
    package, _, module = file.partition("/")
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    lines = (Path(spec.origin).parent / module).read_text().splitlines()
    if line:
        near = "\n".join(lines[int(line) - 1 : int(line) + 6])
        assert option in near or not option, near
