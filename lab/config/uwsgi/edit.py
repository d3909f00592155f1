"""An ini that is changed by steps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lab.config import change, equality
from lab.config.change import Editing, Values, Ways, by_hand, in_line, rewritten
from lab.config.configuration import SOCKETS, Config
from lab.config.edits import Edit
from lab.config.sections import Line
from lab.config.spot import Setting, Spot
from lab.config.steps import Drop, Put, Rename, Step, Steps, new_option
from lab.config.uwsgi import reader
from lab.errors import ProfileError

ON = "uwsgi_opt_true"
"""The function of a switch that is off where it is not written."""


def edited(config: Config, steps: Steps) -> str:
    """
    Return the text of an ini after the steps.

    Raises:
        ProfileError: It is no ini, or cannot be written so.
    """
    file = config.file
    reader.check_section(config)
    if file in config.forms:
        kinds = "a uWSGI ini, a gunicorn.conf.py, or a command of gunicorn or granian"
        raise ProfileError(file, f"lab cannot change this file: give {kinds}")
    for step, _ in steps:
        if (name := new_option(step)) and name not in config.table.entries:
            problem = f"uWSGI has no option {name}: lab lint suggests the right name"
            raise ProfileError(file, problem)
    return change.edited(EDITING, config, steps)


def values(config: Config) -> Values:
    """Return what the options of an ini mean; a switch that is off is none."""
    values_by_option = equality.meaning(config)
    del values_by_option[""]  # whether there is a master follows from the others
    entries = config.table.entries
    # uWSGI passes over what is no option; a step may be about it all the same.
    for setting in config.settings:
        if setting.option not in entries:
            values_by_option[setting.option] = [setting.value or setting.raw]
    off = [
        name
        for name, option_values in values_by_option.items()
        if option_values == [False] and entries[name].setter == ON
    ]
    for name in off:
        del values_by_option[name]
    # What is added at the end may come before what is inherited.
    return {
        name: sorted(option_values, key=repr) for name, option_values in values_by_option.items()
    }


def wanted(config: Config, step: Step) -> Values:
    """Return the same as it is after a step."""
    of, name = values(config), config.table.canonical(step.option)
    match step:
        case Put(option, value):
            kept = [setting.value for setting in _others(config, step)]
            new = values(_alone(config, option, *kept, value))
            return {key: option_values for key, option_values in of.items() if key != name} | new
        case Rename(_, to) if name in of:
            renamed = values(_alone(config, to, *(setting.value for setting in config.all(name))))
            del of[name]
            other = config.table.canonical(to)
            there = of.get(other, []) if config.table.repeats(to) else []
            return of | {key: sorted(there + new, key=repr) for key, new in renamed.items()}
        case Drop():
            of.pop(name, None)
    return of


def _alone(config: Config, option: str, *given: str) -> Config:
    """Return a configuration with one option and nothing else."""
    settings = tuple(Setting(option, value, config.top, value) for value in given)
    return Config(config.server, config.file, settings, table=config.table)


def ways(config: Config, step: Step, says: Sequence[str]) -> Ways:
    """Yield how a step may be written."""
    comments = [_comment(comment) for comment in says]
    if isinstance(step, Put):
        yield from _put(config, step, comments)
    else:
        yield from _taken(config, step, comments)


def asleep(config: Config, step: Step) -> bool:
    """Return whether an option that is to go stands in a condition, and may be read elsewhere."""
    here = (line for line in _lines(config, step.option) if line.spot.file == config.file)
    return not isinstance(step, Put) and any(line.inside for line in here)


def _put(config: Config, step: Put, comments: list[str]) -> Ways:
    if "\n" in step.value or "\r" in step.value:
        raise by_hand(config, step, "a value must be one line")
    there = _set_today(config, step)
    repeats = config.table.repeats(step.option)
    conditional = [line for line in _lines(config, step.option) if line.inside]
    last = there[-1] if there else None
    if repeats and len(there) > 1 and step.option in SOCKETS:
        raise by_hand(config, step, f"it is set {len(there)} times", last.spot if last else None)
    if last and _is_plain(config, last) and (repeats or not _behind(conditional, last)):
        line = config.line(last.spot)
        new = _with_value(config, line, last, step.value)
        if new is not None:
            yield rewritten(config, {last.spot.line: [*comments, new]})
    if last and repeats:
        why = f"uWSGI adds up the values of this option, and it is set as {last.written}"
        raise by_hand(config, step, why, last.spot)
    beaten = [change.overrides(last)] if last else []
    beaten += [f"overrides {line.spot.file.name}:{line.spot.line}" for line in conditional[-1:]]
    option = last.option if last else step.option
    lines = [f"{option} = {step.value.replace('%', '%%')}"]
    all_comments = [*comments, *(_comment(comment) for comment in dict.fromkeys(beaten))]
    yield _at_the_end(config, [*all_comments, *lines])
    if last and last.spot.file != config.file:
        raise by_hand(config, step, f"uWSGI reads {last.spot.file} after it", last.spot)


def _taken(config: Config, step: Rename | Drop, comments: list[str]) -> Ways:
    """Yield how an option is renamed or taken out, in each line that has it."""
    lines = [line for line in _lines(config, step.option) if line.spot.file == config.file]
    line_numbers = {line.spot.line for line in lines}
    elsewhere = [
        setting
        for setting in config.all(step.option)
        if setting.spot.file != config.file or setting.spot.line not in line_numbers
    ]
    new: dict[int, list[str]] = {}
    for line in lines:
        text = config.line(line.spot)
        to = in_line(text, line.spot.column, line.option, _to(step))
        new[line.spot.line] = [] if isinstance(step, Drop) or to is None else [to]
    if new:
        first = min(new)
        new[first] = [*comments, *new[first]]
    if not elsewhere:
        yield rewritten(config, new)
        return
    other = elsewhere[0]
    entry = config.table.entries.get(step.option)
    if isinstance(step, Drop) and entry and entry.setter == ON:
        off = [*comments, _comment(change.overrides(other)), f"{step.option} = false"]
        yield _at_the_end(config, off)
    raise by_hand(config, step, f"it is set elsewhere, as {other.written}", other.spot)


def _to(step: Rename | Drop) -> str:
    return step.to if isinstance(step, Rename) else ""


def _set_today(config: Config, step: Put) -> list[Setting]:
    """Return what sets an option today; of one that collects, what has the same key."""
    settings = config.all(step.option)
    if not config.table.repeats(step.option):
        return settings
    key = _key(step.option, step.value)
    return [setting for setting in settings if _key(setting.option, setting.value) == key]


def _others(config: Config, step: Put) -> list[Setting]:
    """Return what an option that collects has besides."""
    if not config.table.repeats(step.option):
        return []
    there = {id(setting) for setting in _set_today(config, step)[-1:]}
    return [setting for setting in config.all(step.option) if id(setting) not in there]


def _key(option: str, value: str) -> str:
    """Return what tells values of an option apart: a name, a header, a signal; "" of addresses."""
    return "" if option in SOCKETS else re.match(r"[^=\s]*", value)[0]  # type: ignore[index]


def _lines(config: Config, option: str) -> list[Line]:
    """Return the lines that have an option in any spelling, those of conditions, too."""
    name, section = config.table.canonical(option), _section(config)
    return [
        line
        for line in config.option_lines
        if config.table.canonical(line.option) == name
        and (line.spot.file != config.file or line.section == section)
    ]


def _section(config: Config) -> str:
    return config.line(config.top).strip(reader.BLANKS)[1:-1]


def _behind(lines: Iterable[Line], setting: Setting) -> bool:
    """Return whether one of the lines is read after a setting, or may be."""
    spot = setting.spot
    return any(line.spot.file != spot.file or line.spot.line > spot.line for line in lines)


def _is_plain(config: Config, setting: Setting) -> bool:
    """Return whether a line says it and nothing else decides it."""
    if setting.spot.file != config.file or not setting.column or setting.loop:
        return False
    inside = (line.spot.line for line in config.option_lines if line.inside)
    written = config.line(setting.spot).partition("=")[0].strip(reader.BLANKS)
    named = written == setting.option
    made = re.search(r"[$@]\(|%", setting.raw.replace("%%", ""))  # of something else
    return named and not made and setting.spot.line not in set(inside)


def _with_value(config: Config, line: str, setting: Setting, value: str) -> str | None:
    """Return a line with another value; what stands behind a number for a comment stays."""
    value, old = value.replace("%", "%%"), setting.raw
    if config.table.is_number(setting.option) or config.table.is_switch(setting.option):
        old = re.split(r"(?<!\s)\s+[;#]", old)[0]
    if old:
        return in_line(line, setting.column, old, value)
    if line.rstrip(reader.BLANKS).endswith("="):
        return f"{line.rstrip(reader.BLANKS)} {value}"
    return in_line(line, setting.spot.column, setting.option, f"{setting.option} = {value}")


def _at_the_end(config: Config, lines: Sequence[str]) -> list[Edit]:
    """Return the edits that add lines below the last option of the section."""
    section = _section(config)
    file_lines = (line for line in config.ini_lines if line.spot.file == config.file)
    line_numbers = [
        line.spot.line for line in file_lines if line.section == section and not line.is_comment
    ]
    last = max(line_numbers, default=config.top.line)
    anchor = config.line(Spot(config.file, last, 1))
    return rewritten(config, {last: [anchor, *lines]})


def _comment(text: str) -> str:
    """Return a comment that is one to uWSGI, which looks for %x in it, and to the linter."""
    text = re.sub("% |%", lambda match: match[0] if match[0] == "% " else "%%", text)
    return "; " + re.sub(r"^\s*lab:", "lab ", text)


EDITING = Editing(reader.read, values, wanted, ways, asleep)
