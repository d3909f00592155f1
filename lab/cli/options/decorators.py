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
    """
    Return the argument PROFILE..., with an ignored --profiles as the command *other* has it.

    It stands below the other decorators: `--help` lists --profiles last.
    """

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        text = f"Accepted before the names, as with {other}; ignored."
        command = click.option("--profiles", is_flag=True, expose_value=False, help=text)(command)
        return click.argument("names", nargs=-1, metavar="[PROFILE]...", type=NAME)(command)

    return decorate


def all_shared_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add each option of the table that `lab run` has."""
    return shared_options(*(name for name, option in OPTIONS.items() if not option.not_in_lab))(
        command
    )


def shared_options(*names: str, **shown: str) -> Decorator:
    """Return a decorator that adds options of the table; *shown* has other default texts."""

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        for name in reversed(names):
            changed = {"shown": shown[name]} if name in shown else {}
            command = shared_option(name, **changed)(command)
        return command

    return decorate


def shared_option(name: str, **changed: str) -> Decorator:
    """
    Return a decorator that adds one option of the table.

    Args:
        name: A field of `lab.cli.options.table.Job`; the command gets its value by this name.
        changed: Attributes of the `Option` that differ in this command.
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
