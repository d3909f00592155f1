"""Types of what is typed: numbers with bounds, durations, names. They need nothing that runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from lab.model.wording import Number, seconds


class ParsedType(click.ParamType[Any]):
    """What a function makes of a text; its ValueError says what to write instead."""

    def __init__(self, parse: Callable[[str], Any], name: str = "text") -> None:
        self.parse = parse
        self.name = name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value, or fail with what the function says; a default stays as it is."""
        if not isinstance(value, str):
            return value
        try:
            return self.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def number(least: float, most: float) -> ParsedType:
    """Return the type of a number between two bounds."""
    return ParsedType(Number(least, most), "number")


def whole_number(least: int, most: int) -> ParsedType:
    """Return the type of a whole number between two bounds."""
    return ParsedType(Number(least, most, whole=True), "integer")


duration = ParsedType(seconds, "duration")


def filled(text: str) -> str:
    """Return a text that names something; raise ValueError if it is empty, or ~ of nobody."""
    if not text.strip():
        raise ValueError(f"{text!r} names nothing: leave it out, or name one")
    if text.startswith("~") and os.path.expanduser(text) == text:  # noqa: PTH111 - that raises
        raise ValueError(f"{text}: there is no such user: write the whole path")
    return text


NAME = ParsedType(filled)
"""The type of an argument that names a file, a profile, a run or a revision."""

CONTAINER = click.option(
    "--container/--no-container",
    default=None,
    help="Whether it runs in a container.  "
    "[default: yes in docker/, or with a Dockerfile beside it or here]",
)
"""The option that says where a configuration is served, for what reads one."""
