"""
A configuration file of hypercorn: TOML, or a module of Python, which is read and never run.

hypercorn sets every name at the top level as an attribute, whether it knows the name or not.

Source: hypercorn 0.18.0, hypercorn/config.py:310 (from_mapping).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.config.configuration import Config, Known
from lab.config.files import UnreadableError, check_nesting
from lab.config.gunicorn.reader import Binding, all_bindings, python_text
from lab.config.meaning import ComputedValue
from lab.config.spot import Setting, Spot
from lab.errors import ProfileError

TOML, PYTHON = ".toml", ".py"

_KEY = re.compile(
    r"""^[ \t]*(?:"([^"\n]*)"|'([^'\n]*)'|([\w-]+))[ \t]*=[ \t]*(.*?)[ \t\r]*$""", re.MULTILINE
)
"""A key of the top level, which may be quoted, and the rest of its line."""

_TABLE = re.compile(r"^[ \t]*\[+[ \t]*[\"']?([\w-]+)", re.MULTILINE)
"""The head of a table."""


def read(program: str, path: Path, known: Known) -> Config:
    """
    Read a file by its ending.

    Raises:
        ProfileError: It is neither TOML nor Python.
    """
    return (read_toml if path.suffix == TOML else read_python)(program, path, known)


def read_toml(program: str, path: Path, known: Known) -> Config:
    """
    Read a file in TOML; a list has a setting for each entry, a table is one without a value.

    Raises:
        ProfileError: It is not TOML.
    """
    text = known.required(path)
    try:
        check_nesting(text)
        table = tomllib.loads(text)
    except UnreadableError as error:
        raise ProfileError(path, str(error), error.line) from None
    except (ValueError, RecursionError) as error:
        raise ProfileError(path, f"is not TOML: {error}") from None
    settings = tuple(_in_toml(path, text, table))
    return Config(program, path, settings, {path: text}, known, top=Spot(path, 1, 1))


def _in_toml(path: Path, text: str, table: dict[str, Any]) -> Iterator[Setting]:
    first_table = _TABLE.search(text)
    ends = first_table.start() if first_table else len(text)
    places: dict[str, re.Match[str]] = {}
    for key in _KEY.finditer(text, 0, ends):
        name = key[1] or key[2] or key[3]
        if name in table and not isinstance(table[name], dict):
            places.setdefault(name, key)
    heads = {head[1]: head for head in _TABLE.finditer(text)}
    for name, value in table.items():
        if (match := places.get(name)) is None:
            head = heads.get(name)
            yield Setting(name, "", _spot(path, text, head.start(1) if head else 0), "")
            continue
        begins = next(at for at in (1, 2, 3) if match[at] is not None)
        spot = _spot(path, text, match.start(begins))
        column = match.start(4) - text.rfind("\n", 0, match.start(4))
        entries = value if isinstance(value, list) else [value]
        for entry in entries:
            yield Setting(name, _as_text(entry), spot, match[4].partition(" #")[0].strip(), column)


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _spot(path: Path, text: str, offset: int) -> Spot:
    begins = text.rfind("\n", 0, offset)
    return Spot(path, text.count("\n", 0, offset) + 1, offset - begins)


def read_python(program: str, path: Path, known: Known) -> Config:
    """
    Read a module; the value of a name that is computed, imported or set in a block is "".

    Raises:
        ProfileError: It is not Python.
    """
    written = known.required(path)
    text = python_text(written.encode("utf-8", "surrogateescape"), path)
    lines = text.split("\n")
    settings = tuple(one for binding in all_bindings(text) for one in _bound(path, lines, binding))
    return Config(program, path, settings, {path: written}, known, top=Spot(path, 1, 1))


def _bound(path: Path, lines: list[str], binding: Binding) -> Iterator[Setting]:
    node, value = binding.node, binding.meaning
    before = lines[node.lineno - 1].encode()[: node.col_offset].decode()
    spot = Spot(path, node.lineno, len(before) + 1)
    if value is None or not binding.source:  # the default; what an import of all names may bring
        return
    if isinstance(value, ComputedValue):
        yield Setting(binding.name, "", spot, binding.source)
        return
    for entry in value if isinstance(value, list | tuple) else [value]:
        yield Setting(binding.name, _as_text(entry), spot, binding.source)
