"""The table of options (`lab.options`) as options of click."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from lab.model.wording import Number, seconds
from lab.options import OPTIONS, Kind, Option
from lab.options.option import folder

Decorator = Callable[[Callable[..., int]], Callable[..., int]]


class Parsed(click.ParamType[Any]):
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


def number(least: float, most: float) -> Parsed:
    """Return the type of a number between two bounds."""
    return Parsed(Number(least, most), "number")


def whole_number(least: int, most: int) -> Parsed:
    """Return the type of a whole number between two bounds."""
    return Parsed(Number(least, most, whole=True), "integer")


duration = Parsed(seconds, "duration")


def _name(text: str) -> str:
    if not text.strip():
        raise ValueError(f"{text!r} names nothing: leave it out, or name one")
    if text.startswith("~") and os.path.expanduser(text) == text:  # noqa: PTH111 - that raises
        raise ValueError(f"{text}: there is no such user: write the whole path")
    return text


NAME = Parsed(_name)
"""The type of an argument that names a file, a profile, a run or a revision."""

FOLDER = Parsed(lambda text: folder(_name(text)), "path")
"""The type of an option that names a folder, which need not exist."""


def named_profiles(other: str) -> Decorator:
    """Take PROFILEs, after --profiles or without it, as *other* does."""

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        text = f"Accepted before the names, as with {other}; ignored."
        command = click.option("--profiles", is_flag=True, expose_value=False, help=text)(command)
        return click.argument("names", nargs=-1, metavar="[PROFILE]...", type=NAME)(command)

    return decorate


def every_option(command: Callable[..., int]) -> Callable[..., int]:
    """Take each option of the table that `lab run` has."""
    return each_of(*(name for name, option in OPTIONS.items() if not option.not_in_lab))(command)


def each_of(*names: str) -> Decorator:
    """Take these options of the table, in this order: see `offered`."""

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        for name in reversed(names):
            command = offered(name)(command)
        return command

    return decorate


def offered(name: str, **changed: str) -> Decorator:
    """
    Take one option of the table.

    Args:
        name: The field's of `lab.options.Asked`, which the command gets it as.
        changed: What this command says otherwise.
    """
    option: Option = replace(OPTIONS[name], **changed)  # type: ignore[arg-type] # texts
    typed = option.name
    if option.kind is Kind.SWITCH:
        typed = f"{option.name}/--no-{option.name.removeprefix('--')}"
    return click.option(
        typed,
        metavar=option.metavar,
        type=click.Choice(option.choices) if option.choices else _type(option),
        default=option.default,
        is_flag=option.kind in (Kind.FLAG, Kind.SWITCH),
        multiple=option.kind is Kind.SEVERAL,
        help=f"{option.help}  [default: {option.shown}]" if option.shown else option.help,
    )


def _type(option: Option) -> Any:
    if option.kind in (Kind.FLAG, Kind.SWITCH):
        return bool
    parse = option.parse
    if parse in (Path, folder):
        return Parsed(lambda text: parse(_name(text)), "path")
    return Parsed(parse)
