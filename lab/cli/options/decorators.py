"""The table of options (`lab.cli.options`) as options of click."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from lab.cli.options.option import Kind, Option, folder
from lab.cli.options.table import OPTIONS
from lab.cli.types import NAME, ParsedType, filled

Decorator = Callable[[Callable[..., int]], Callable[..., int]]


FOLDER = ParsedType(lambda text: folder(filled(text)), "path")
"""The type of an option that names a folder, which need not exist."""

FULL = click.option("--full", is_flag=True, help="Print the full report: every table and note.")


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


def each_of(*names: str, **shown: str) -> Decorator:
    """Take these options of the table, in this order; *shown* has defaults that are others here."""

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        for name in reversed(names):
            changed = {"shown": shown[name]} if name in shown else {}
            command = offered(name, **changed)(command)
        return command

    return decorate


def offered(name: str, **changed: str) -> Decorator:
    """
    Take one option of the table.

    Args:
        name: The field's of `lab.cli.options.table.Job`, which the command gets it as.
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
        return ParsedType(lambda text: parse(filled(text)), "path")
    return ParsedType(parse)
