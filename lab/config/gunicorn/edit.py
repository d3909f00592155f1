"""A gunicorn.conf.py that is changed by steps; it is read, and never run."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from lab.config import change
from lab.config.change import Editing, Values, Ways, by_hand, in_line, rewritten
from lab.config.command_edit import Grammar
from lab.config.configuration import Config
from lab.config.edits import Edit
from lab.config.gunicorn.command import REPEATED, given, is_flag, read_command, setting_of, spelt
from lab.config.gunicorn.reader import carried, check_settings, names_read, read
from lab.config.spot import Setting, Spot
from lab.config.steps import Drop, Put, Rename, Step, Steps
from lab.errors import ProfileError

ON = frozenset({"true", "1", "yes", "on"})
COOKIE = re.compile(r"coding(?=[:=])")
"""What Python takes for a file's encoding, in a comment of its first two lines."""


def edited(config: Config, steps: Steps) -> str:
    """
    Return the text of a configuration file after the steps.

    Raises:
        ProfileError: It cannot be written so, or is no configuration of gunicorn.
    """
    check_settings(config)
    return change.edited(EDITING, config, steps)


def values(config: Config) -> Values:
    """Return what the names of a file are; of one that is computed, how."""
    return {setting.option: [_value(setting)] for setting in config.settings}


def wanted(config: Config, step: Step) -> Values:
    """Return the same as it is after a step."""
    return change.with_step(
        values(config),
        step,
        lambda put: [str(ast.literal_eval(as_python(put.option, put.value)))],
    )


def ways(config: Config, step: Step, says: Sequence[str]) -> Ways:
    """Yield how a step may be written."""
    comments = [_comment(comment) for comment in says]
    if isinstance(step, Put):
        yield from _put(config, step, comments)
        return
    if step.option in names_read(config):
        raise by_hand(config, step, "the file reads that name")
    for setting in config.all(step.option):
        if not _is_plain(config, setting):
            raise by_hand(config, step, "the value is decided when the file runs", setting.spot)
    yield _taken(config, step, comments)


def as_python(option: str, value: str) -> str:
    """
    Return a setting's value as Python writes it.

    >>> as_python("workers", "4"), as_python("preload_app", "true"), as_python("bind", "unix:/s")
    ('4', 'True', '"unix:/s"')
    """
    kind = carried()["validators"].get(option, "")
    if kind == "validate_bool":
        return str(value.lower() in ON)
    if kind != "validate_string" and re.fullmatch(r"-?\d{1,18}", value):
        return str(int(value))
    if kind.startswith("validate_http2") or kind == "validate_pos_int":
        raise ProfileError(option, f"{value} is not a number")
    text = ascii(value)
    return text if '"' in text or "\\" in text else f'"{text[1:-1]}"'


def _put(config: Config, step: Put, comments: list[str]) -> Ways:
    last, new = config.last(step.option), as_python(step.option, step.value)
    if last is None:
        yield _at_the_end(config, [*comments, f"{step.option} = {new}"])
        return
    one_line = _is_plain(config, last) and "\n" not in last.raw
    if one_line and step.option not in names_read(config):
        line = in_line(config.line(last.spot), last.column, last.raw, _quoted(new, last.raw))
        if line is not None:
            yield rewritten(config, {last.spot.line: [*comments, line]})
    beaten = _comment(change.overrides(last))
    yield _at_the_end(config, [*comments, beaten, f"{step.option} = {new}"])
    raise by_hand(config, step, "the value is decided when the file runs", last.spot)


def _taken(config: Config, step: Rename | Drop, comments: list[str]) -> list[Edit]:
    """Return the edits that rename a setting or take it out, wherever it is set."""
    lines: dict[int, list[str]] = {}
    for setting in config.all(step.option):
        number = setting.spot.line
        if isinstance(step, Rename):
            line = in_line(config.line(setting.spot), setting.spot.column, setting.option, step.to)
            lines[number] = [line or config.line(setting.spot)]
        else:
            lines |= {at: [] for at in _statement(setting)}
    first = min(lines)
    return rewritten(config, {**lines, first: [*comments, *lines[first]]})


def _statement(setting: Setting) -> range:
    """Return the numbers of the lines that set it."""
    return range(setting.spot.line, setting.spot.line + setting.raw.count("\n") + 1)


def _is_plain(config: Config, setting: Setting) -> bool:
    """Return whether a statement of its own says it, which always runs."""
    if not setting.value or not setting.column or setting.spot.column != 1:
        return False
    *first, last = setting.raw.split("\n")
    before = config.line(setting.spot).removeprefix("\ufeff")[: setting.column - 1]
    end = config.line(Spot(config.file, _statement(setting)[-1], 1)).removeprefix("\ufeff")
    behind = end[len(last) + (0 if first else setting.column - 1) :]
    assigns = re.fullmatch(rf"{re.escape(setting.option)}\s*(:[^=]*)?=\s*", before)
    return assigns is not None and re.fullmatch(r"\s*(#.*)?", behind) is not None


def _quoted(new: str, raw: str) -> str:
    """Return a text in the quotes that the user has."""
    plain = raw[:1] == "'" and new[:1] == '"' and "'" not in new
    return f"'{new[1:-1]}'" if plain else new


def _value(setting: Setting) -> object:
    return setting.value or setting.raw


def _at_the_end(config: Config, lines: Sequence[str]) -> list[Edit]:
    """Return the edits that add lines at the end of the file."""
    number = len(config.texts[config.file].split("\n"))
    while number > 1 and not config.line(Spot(config.file, number, 1)).strip("\ufeff \t\f"):
        number -= 1
    anchor = config.line(Spot(config.file, number, 1))
    if not anchor:
        return [Edit(Spot(config.file, 1, 1), "", change.line_end(config).join(lines))]
    blank = [""] if anchor[:1].isspace() else []  # behind a function
    return rewritten(config, {number: [anchor, *blank, *lines]})


def _comment(text: str) -> str:
    """Return a comment that says no encoding, in letters that any encoding has."""
    text = text.encode("ascii", "backslashreplace").decode()
    return f"# {COOKIE.sub('coding ', text)}"


EDITING = Editing(read, values, wanted, ways)

GRAMMAR = Grammar(read_command, setting_of, spelt, is_flag, given, REPEATED)
