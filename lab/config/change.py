"""
A configuration that is changed by steps, and stays the user's: lines, comments, order.

Each server has ways to write a step, the plainest first. A way counts if what is read afterwards is
what was asked for and nothing else; reading decides that, and not what the ways know of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from lab.config.configuration import Config, Known
from lab.config.edits import Edit, applied
from lab.config.spot import Setting, Spot
from lab.config.steps import Drop, Put, Rename, Step, Steps
from lab.errors import ProfileError
from lab.model.wording import in_a_line

Values = dict[str, list[object]]
"""Option, by one name for all spellings -> its values, as its server takes them."""

Ways = Iterator[Sequence[Edit]]


@dataclass(frozen=True, slots=True)
class Editing:
    """How configurations of one kind are changed."""

    read: Callable[[Path, Known], Config]
    values: Callable[[Config], Values]
    wanted: Callable[[Config, Step], Values]
    """Returns the values of a configuration as they are after a step."""

    ways: Callable[[Config, Step, Sequence[str]], Ways]
    """Yields how a step with its comments may be written; raises `ProfileError` if in none."""

    asleep: Callable[[Config, Step], bool] = lambda _, __: False
    """Whether lines are about a step that are not read now, as in a condition."""


def edited(editing: Editing, config: Config, steps: Steps) -> str:
    """
    Return the text of a configuration's file after the steps; see `Server.edited`.

    Raises:
        ProfileError: A step cannot be written there; the message says what to do by hand.
    """
    for step, says in steps:
        changes = editing.wanted(config, step) != editing.values(config)
        if changes or editing.asleep(config, step):
            config = _after(editing, config, step, [in_a_line(comment) for comment in says])
    return config.texts[config.file]


def with_step(values: Values, step: Step, put: Callable[[Put], list[object]]) -> Values:
    """Return values as they are after a step; *put* returns those of an option that is set."""
    match step:
        case Put():
            return values | {step.option: put(step)}
        case Rename(option, to) if option in values:
            there = values.pop(option)
            return values | {to: there}
        case Drop(option):
            values.pop(option, None)
    return values


def _after(editing: Editing, config: Config, step: Step, says: Sequence[str]) -> Config:
    wanted = editing.wanted(config, step)
    for edits in editing.ways(config, step, says):
        texts = applied(config.texts, [edits])
        # One file is written, so that what it includes must do as it is.
        overlay = {**config.known.overlay, config.file: texts[config.file]}
        with suppress(ProfileError):
            changed = editing.read(config.file, replace(config.known, overlay=overlay))
            if editing.values(changed) == wanted:
                return changed
    raise by_hand(config, step, "another line there refers to it, or overrides it")


def by_hand(config: Config, step: Step, why: str, at: Spot | None = None) -> ProfileError:
    """Return the error that says why a step is not written, and what to do instead."""
    where = f", in {at.file}:{at.line}" if at is not None and at.line else ""
    match step:
        case Rename(option, to):
            problem = f"{option} cannot become {to}"
        case Drop(option):
            problem = f"{option} cannot be removed"
        case Put(option, value):
            problem = f"{option} = {value} cannot be set"
    return ProfileError(config.file, f"{problem}: {why}; edit the file by hand{where}")


def overrides(setting: Setting) -> str:
    """Return the comment on a line that wins over another one, which stays."""
    spot = setting.spot
    if not spot.column:
        return f"overrides the environment's {setting.option}"
    return f"overrides {in_a_line(spot.file.name)}:{spot.line}"


def rewritten(config: Config, lines: Mapping[int, Iterable[str]]) -> list[Edit]:
    """
    Return the edits that put other lines in the place of those with these numbers.

    The file's mark of the byte order, and its ends of lines, stay.
    """
    edits = []
    for number, new in lines.items():
        spot = Spot(config.file, number, 1)
        old = config.line(spot)
        mark = "\ufeff" * old.startswith("\ufeff")
        after = [line.removeprefix("\ufeff") for line in new]
        text = mark + line_end(config).join(after) if after else None
        edits.append(Edit(spot, old, text))
    return edits


def line_end(config: Config) -> str:
    """Return what ends the lines of a configuration's file."""
    return "\r\n" if "\r\n" in config.texts[config.file] else "\n"


def in_line(line: str, column: int, old: str, new: str) -> str | None:
    """Return a line with another text in the place of one; None where it does not stand there."""
    at = column - 1 + line.startswith("\ufeff")
    if column < 1 or not line.startswith(old, at):
        return None
    return line[:at] + new + line[at + len(old) :]
