"""The table of options (`lab.options`) as options of click."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from lab.model.wording import seconds
from lab.options import OPTIONS, Kind, Option

Decorator = Callable[[Callable[..., int]], Callable[..., int]]


class Seconds(click.ParamType[float]):
    """A duration such as 3, 2.5s, 500ms, 1m or 1h; in seconds."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return seconds, or fail with an example."""
        try:
            return seconds(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class RequestsPerSecond(click.FloatRange):
    """A rate between two bounds."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the rate, or fail with its bounds."""
        try:
            return float(super().convert(value, param, ctx))
        except click.BadParameter:
            self.fail(f"{value!r}: a number from {self.min:,g} to {self.max:,g}", param, ctx)


def named_profiles(other: str) -> Decorator:
    """Take PROFILEs, after --profiles or without it, as *other* does."""

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        text = f"Accepted before the names, as with {other}; ignored."
        command = click.option("--profiles", is_flag=True, expose_value=False, help=text)(command)
        return click.argument("names", nargs=-1, metavar="[PROFILE]...")(command)

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
    return Seconds() if option.parse is seconds else option.parse
