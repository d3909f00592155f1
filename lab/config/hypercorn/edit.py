"""A file of hypercorn in TOML that is changed by steps, and its private copy."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lab.config import change
from lab.config.change import Editing, Values, Ways, in_line, rewritten
from lab.config.configuration import Config, Known
from lab.config.hypercorn.command import PROGRAM, TABLE, read
from lab.config.private import FREE_PORT, LOG, PID, STATSD, started_by
from lab.config.steps import Put, Rename, Step, Steps, new_option
from lab.config.words import OFF
from lab.errors import ProfileError
from lab.model.digest import digest_of
from lab.model.profile import PrivateCopy, Profile
from lab.model.runtime import Alteration

COPY = "private.toml"

LEFT_OUT = {
    **dict.fromkeys(("bind", "insecure_bind", "quic_bind"), FREE_PORT),
    **dict.fromkeys(("certfile", "keyfile"), "lab sends requests without TLS"),
    **dict.fromkeys(("logconfig", "logconfig_dict"), LOG),
    **dict.fromkeys(("user", "group", "umask"), "there is no UNIX socket"),
    "pid_path": PID,
    "server_names": "lab asks by an address",
    "statsd_host": STATSD,
}
"""Name that a private copy leaves out -> why."""


def edited(config: Config, steps: Steps) -> str:
    """
    Return the text of a file in TOML after the steps.

    Raises:
        ProfileError: A step cannot be written so, or hypercorn has no such name.
    """
    for step, _ in steps:
        if (name := new_option(step)) and "takes" not in TABLE.options.get(name, ()):
            raise ProfileError(config.file, f"a file of hypercorn has no {name}")
    return change.edited(EDITING, config, steps)


def _values(config: Config) -> Values:
    values: Values = {}
    for setting in config.settings:
        values.setdefault(setting.option, []).append(setting.value)
    return values


def _wanted(config: Config, step: Step) -> Values:
    return change.with_step(_values(config), step, lambda put: [_plain(put.option, put.value)])


def _plain(option: str, value: str) -> str:
    """Return a value as reading has it."""
    is_switch = TABLE.options[option]["takes"] == "bool"
    return str(value.lower() not in OFF).lower() if is_switch else value


def _ways(config: Config, step: Step, says: Sequence[str]) -> Ways:
    """Yield how a step may be written: in its line, or above the first one."""
    comments = [f"# {comment}" for comment in says]
    setting = config.last(step.option)
    if setting is None:
        if isinstance(step, Put):
            first = config.line(replace(config.top, column=1))
            yield rewritten(config, {1: [*comments, f"{step.option} = {_toml(step)}", first]})
        return
    line = config.line(setting.spot)
    match step:
        case Put():
            new = in_line(line, setting.column, setting.raw, _toml(step))
        case Rename(option, to):
            new = in_line(line, setting.spot.column, option, to)
        case _:
            new = ""
    if new is not None:
        yield rewritten(config, {setting.spot.line: [*comments, *([new] if new else [])]})


def _toml(step: Put) -> str:
    takes = TABLE.options[step.option]["takes"]
    value = _plain(step.option, step.value)
    return value if takes in {"int", "float", "bool"} else json.dumps(value)


EDITING = Editing(read, _values, _wanted, _ways)


def profile_of_file(path: Path) -> Profile | None:
    """
    Return the profile of a file in TOML; None where it sets nothing of hypercorn.

    Raises:
        ProfileError: The file cannot be read.
    """
    config = read(path, Known())
    table = tomllib.loads(config.texts[path])
    known = {name: value for name, value in table.items() if "takes" in TABLE.options.get(name, ())}
    if not known:
        return None
    kept = {
        name: value
        for name, value in known.items()
        if name not in LEFT_OUT and not isinstance(value, dict) and not _is_file(name, value)
    }
    copy = "".join(f"{name} = {_written(value)}\n" for name, value in kept.items())
    words = (PROGRAM, "--config", f"{{folder}}/{COPY}", "--bind", "{host}:{port}", "{app}")
    profile = started_by(path.with_suffix("").name, path, words, ())
    text = config.texts[path]
    return replace(
        profile,
        summary=path.name,
        options=(*profile.options, (path.name, text), (COPY, copy)),
        digest=digest_of((*profile.options, (COPY, copy))),
        peer=replace(profile.peer, fill=(COPY,)),
        interfaces=("asgi", "wsgi"),  # the latter is that of --app
        private_copy=PrivateCopy(path.parent, tuple(_altered(known))),
    )


def _is_file(name: str, value: object) -> bool:
    """Return whether a value is the file of a log."""
    return name in {"accesslog", "errorlog"} and value != "-"


def _written(value: object) -> str:
    return json.dumps(value) if not isinstance(value, float) else str(value)


def _altered(table: Mapping[str, object]) -> Iterator[Alteration]:
    """Yield the settings that differ in the private copy."""
    for name, value in table.items():
        if name in LEFT_OUT:
            changed = FREE_PORT if name == "bind" else None
            yield Alteration(name, str(value), changed, "" if changed else LEFT_OUT[name])
        elif _is_file(name, value):
            yield Alteration(name, str(value), None, LOG)
