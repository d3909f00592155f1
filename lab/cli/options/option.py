"""What an option of a comparison is."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class Kind(enum.Enum):
    """What stands after an option's name."""

    VALUE = enum.auto()
    SEVERAL = enum.auto()
    """A value; the option may be repeated."""
    FLAG = enum.auto()
    """Nothing."""
    SWITCH = enum.auto()
    """Nothing; `--no-NAME` is its opposite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option of a comparison."""

    name: str
    """As it is typed, such as "--fail-if"."""
    help: str
    kind: Kind = Kind.VALUE
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    parse: Callable[[str], Any] = str
    """Makes the value of a text; a ValueError says what to write instead."""
    default: Any = None
    """None where the default depends on other options."""
    shown: str = ""
    """What the help says of a default that is None."""
    not_in_lab: str = ""
    """Why `lab run` does not offer it; empty where it does."""
    not_in_locust: str = ""
    """Why Locust does not offer it; empty where it does."""
    filled: bool = False
    """Whether no text at all, as of a variable that is not set, is refused on a command line."""
    secret: bool = False
    """Whether no page of Locust shows what was given for it."""


def folder(text: str) -> Path:
    """Return the path of a folder that need not exist; raise ValueError if it is a file."""
    path = Path(text)
    if path.exists() and not path.is_dir():
        raise ValueError(f"{text}: is a file, not a folder")
    return path


def option(name: str, text: str, **rest: Any) -> Any:
    """Return a field that holds what was given for an option."""
    made = Option(name=name, help=text, **rest)
    default = {Kind.SEVERAL: (), Kind.FLAG: False}.get(made.kind, made.default)
    return field(default=default, metadata={"option": made})
