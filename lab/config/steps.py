"""Steps from one configuration to another: options that are set, renamed or taken out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Put:
    """An option is set, in the place of what sets it today; where nothing does it is new."""

    option: str
    """As the server's own configuration spells it."""

    value: str
    """As the server reads it: "4", "true"."""

    def __str__(self) -> str:
        """Return it as in "processes = 4"."""
        return f"{self.option} = {self.value}"


@dataclass(frozen=True, slots=True)
class Rename:
    """Another option takes an option's value and place."""

    option: str
    to: str

    def __str__(self) -> str:
        """Return it as in "http-socket instead of http"."""
        return f"{self.to} instead of {self.option}"


@dataclass(frozen=True, slots=True)
class Drop:
    """An option is taken out."""

    option: str

    def __str__(self) -> str:
        """Return it as in "no thunder-lock"."""
        return f"no {self.option}"


@dataclass(frozen=True, slots=True)
class Prefix:
    """A program is written in front of a command, which it starts."""

    words: str
    """As in a shell: "taskset -c 0"."""

    def __str__(self) -> str:
        """Return it as in "taskset -c 0 in front of the command"."""
        return f"{self.words} in front of the command"


Step = Put | Rename | Drop
"""A step that changes an option."""

Steps = Sequence[tuple[Step, Sequence[str]]]
"""Each with the comment lines for above the line that it changes."""

AnyStep = Step | Prefix

AnySteps = Sequence[tuple[AnyStep, Sequence[str]]]
"""`Steps`, of which some write a program in front of the command."""


def new_option(step: Step) -> str | None:
    """Return the option that a step writes; None where it takes one out."""
    match step:
        case Put(option, _):
            return option
        case Rename(_, to):
            return to
    return None
