"""
Values of gunicorn's settings.

gunicorn reads each by a validator of its own; the table below says what that takes. It has those
whose answer follows from the value alone: others look at files and users of the machine, or import
what they are told.
"""

from __future__ import annotations

import difflib
import ipaddress
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lab.config.gunicorn.reader import LEVELS, carried, literal, names_read, spellings
from lab.config.meaning import ComputedValue
from lab.lint.rules.alike import DIGITS
from lab.lint.rules.gunicorn import addresses, drop, in_file, is_asgi
from lab.lint.rules.rule import WHY, Case, Flaw, Setting, Severity, rule

WORDS = {
    **dict.fromkeys(("1", "yes", "on", "y", "t"), "True"),
    **dict.fromkeys(("0", "no", "off", "n", "f", ""), "False"),
}
"""What people write for true and false -> what gunicorn takes."""


def _boolean(value: object) -> None:
    if value is not None and str(value).lower().strip() not in {"true", "false"}:
        raise ValueError


def _number(value: object) -> None:
    if not isinstance(value, int | str) or (int(value, 0) if isinstance(value, str) else value) < 0:
        raise ValueError


def _text(value: object) -> None:
    if not isinstance(value, str | None):
        raise TypeError


def _texts(value: object) -> None:
    for text in value if isinstance(value, list | tuple | set | dict) else [value or None]:
        _text(text)


def _networks(value: object) -> None:
    _text(value)
    for network in str(value or "").split(","):
        if network and network.strip() != "*":
            ipaddress.ip_network(network.strip())


def _mapping(value: object) -> None:
    if not isinstance(value, dict):
        raise TypeError


WANTED = {
    "validate_bool": ("True or False", _boolean),
    "validate_pos_int": ("a whole number, 0 or more", _number),
    "validate_string": ("a string", _text),
    "validate_list_string": ("a list of strings", _texts),
    "validate_string_to_list": ('a string with commas, as in "a,b"', _text),
    "validate_string_to_addr_list": (
        'one string of addresses, as in "10.0.0.1,10.0.0.2"',
        _networks,
    ),
    "validate_dict": ("a dict", _mapping),
}
"""
gunicorn's validator -> what it takes, for people, and what raises an error as that does.

`tests/lint/test_gunicorn_values.py` holds it to gunicorn's own.
"""


SINCE = {"validate_string_to_addr_list": ">=23"}
"""Validator -> the versions of gunicorn that have it; one that is not there: all."""


class Written(NamedTuple):
    """A setting's value, as Python has it."""

    setting: Setting
    value: object


def written(config: Case) -> Iterator[Written]:
    """Yield the last value of each of gunicorn's settings, of those that are no computed ones."""
    for setting in config.settings:
        if setting.option in carried()["settings"] and setting is config.last(setting.option):
            value = literal(setting.raw)
            if not isinstance(value, ComputedValue):
                yield Written(setting, value)


def refuses(name: str, value: object) -> str | None:
    """Return the validator of gunicorn's that refuses a setting's value; None if none does."""
    kind = carried()["validators"].get(name)
    if kind not in WANTED:
        return None
    try:
        WANTED[kind][1](value)
    except (TypeError, ValueError):
        return str(kind)
    return None


@rule(
    "GU013",
    Severity.ERROR,
    "a value that gunicorn refuses",
    why="gunicorn prints `Invalid value` and does not start",
    source="gunicorn/app/base.py:146 `Invalid value for`; gunicorn/config.py:412 `Invalid boolean`",
    bad='daemon = "yes"',
    good="daemon = True",
    near_miss='daemon = "true"',
)
def refused(config: Case) -> Iterator[Flaw]:
    """Its type or its text is not one that the setting takes."""
    for setting_value in written(config):
        setting, value = setting_value.setting, setting_value.value
        kind = refuses(setting.option, value)
        if kind is None or not config.may_be(SINCE.get(kind, "")):
            continue
        meant = None
        if kind == "validate_bool":
            meant = WORDS.get(str(value).lower().strip())
        elif isinstance(value, float) and value.is_integer() and value >= 0:
            meant = str(int(value))
        elif (
            isinstance(value, str) and value.isdecimal()
        ):  # with a 0 that Python takes for no octal
            meant = f"{'0o' * (setting.option == 'umask')}{value.lstrip('0')}"
        fix = config.change(setting, meant) if meant else None
        text = f"gunicorn does not start; write {meant or WANTED[kind][0]}"
        yield config.flaw(setting, text, fix)


@rule(
    "GU014",
    Severity.ERROR,
    "a limit that gunicorn replaces",
    why="gunicorn uses another limit instead, without a warning",
    source="gunicorn/http/message.py:513 `self.limit_request_line >= MAX_REQUEST_LINE`; "
    "gunicorn/http/message.py:313 `self.limit_request_fields > MAX_HEADERS`; "
    "gunicorn/http/message.py:316 `self.limit_request_field_size <= 0`",
    bad="limit_request_line = 65536",
    good="limit_request_line = 8190",
    near_miss="limit_request_line = 8190\nlimit_request_field_size = 65536",
)
def replaced(config: Case) -> Iterator[Flaw]:
    """It is larger than the largest, or 0 where that is not "none"; workers of ASGI read others."""
    for setting_value in () if is_asgi(config) else written(config):
        name, value = setting_value.setting.option, setting_value.value
        if name not in MOST or not isinstance(value, int):
            continue
        most, zero = MOST[name]
        if name == "limit_request_field_size" and not config.may_be(">=25.2"):
            continue
        if value == 0 and zero is None:
            text = (
                "the request line then has no limit, and a client may send up to 1 MB of it; write "
                "8190 at most"
            )
            yield config.flaw(setting_value.setting, text, harmless=True)
        elif value == 0 or (most is not None and value > most):
            taken = zero if value == 0 else most
            text = f"gunicorn uses {taken} instead, without a warning; write {taken}"
            yield config.flaw(
                setting_value.setting, text, config.change(setting_value.setting, str(taken))
            )


MOST: Mapping[str, tuple[int | None, int | None]] = {
    "limit_request_line": (8190, None),
    "limit_request_fields": (32768, 32768),
    "limit_request_field_size": (None, 8190),
}
"""Setting -> its largest value, None where there is none; and what 0 is, None for no limit."""


@rule(
    "GU015",
    Severity.ERROR,
    "a log level that gunicorn does not have",
    why="gunicorn logs at info instead, without a warning",
    source="gunicorn/glogging.py:201 `LOG_LEVELS.get(cfg.loglevel.lower(), logging.INFO)`",
    bad='loglevel = "warn"',
    good='loglevel = "warning"',
    near_miss='loglevel = "WARNING"',
)
def unknown_level(config: Case) -> Iterator[Flaw]:
    """It logs another level than is written."""
    setting = config.last("loglevel")
    value = literal(setting.raw) if setting else None
    level = value.lower() if isinstance(value, str) and not isinstance(value, ComputedValue) else ""
    if setting and level and level not in LEVELS and config.last("logger_class") is None:
        meant = {"fatal": "critical", "trace": "debug"}.get(level)
        meant = meant or next(iter(difflib.get_close_matches(level, LEVELS, n=1)), None)
        say = f'"{meant}"' if meant else f"one of {', '.join(LEVELS)}"
        fix = config.change(setting, f'"{meant}"') if meant else None
        yield config.flaw(setting, f"{WHY}; write {say}", fix)


LAST_PORT = 65535


def _is_port(text: str) -> bool:
    return text.isdecimal() and len(text) < DIGITS and int(text) <= LAST_PORT


@rule(
    "GU016",
    Severity.ERROR,
    "an address that uWSGI reads differently",
    why="gunicorn takes an address without a colon for a host, with port 8000",
    source="gunicorn/util.py:255 `host, port = netloc, default_port`",
    bad='bind = "8080"',
    good='bind = ":8080"',
    near_miss='bind = "unix:8080"',
)
def address(config: Case) -> Iterator[Flaw]:
    """It listens elsewhere, or does not start."""
    setting = config.last("bind")
    for bind_address in addresses(config) or ():
        if setting is None or bind_address.startswith(("unix:", "fd://", "[")):
            continue
        _, _, port = bind_address.removeprefix("tcp://").partition(":")
        if bind_address.isdecimal():
            text = (
                f'gunicorn takes {bind_address} for a host, with port 8000; write ":{bind_address}"'
            )
            fix = (
                config.change(setting, f'":{bind_address}"')
                if setting.value == bind_address
                else None
            )
            yield config.flaw(setting, text, fix)
        elif "/" in bind_address.removeprefix("tcp://"):
            what = (
                f'"unix:{bind_address}"' if bind_address.startswith(("/", ".")) else '"HOST:PORT"'
            )
            yield config.flaw(
                setting, f"gunicorn does not accept {bind_address} as an address; write {what}"
            )
        elif port and not _is_port(port.partition(":")[0]):
            text = f"{port} is not a port, and gunicorn does not start; write 0 to {LAST_PORT}"
            yield config.flaw(setting, text)


@rule(
    "GU017",
    Severity.NO_EFFECT,
    "a setting that is set twice",
    why="gunicorn reads the settings when the file has run, so the last value counts",
    source="gunicorn/app/base.py:139 `for k, v in cfg.items():`",
    bad="workers = 4\nworkers = 8",
    good="workers = 8",
    near_miss='import os\nworkers = 4\nif "BIG" in os.environ:\n    workers = 8',
)
def set_again(config: Case) -> Iterator[Flaw]:
    """The last one counts."""
    yield from in_file(config, _set_again)


def _set_again(config: Case) -> Iterator[Flaw]:
    used, known = names_read(config), set(spellings().values())
    for setting in config.settings:
        last = config.last(setting.option)
        if setting is last or last is None or not (setting.value and last.value):
            continue  # in a block, or computed, perhaps of the one before
        if setting.option in known and setting.option not in used:
            text = f"line {last.spot.line} sets it again, and that value counts; leave this one out"
            yield config.flaw(setting, text, drop(config, setting))
