"""What stands in granian's command line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from lab.config.configuration import Config, Known
from lab.config.interface import of_granian
from lab.config.spot import Setting
from lab.config.uwsgi.table import atoi
from lab.config.words import OFF, Argument, arguments, command_of
from lab.errors import ProfileError

CARRIED = Path(__file__).with_name("options.json")
"""The options of one version, which `tools/granian_options.py` wrote."""

PROGRAM = "granian"

COLLECTS = frozenset(
    {"ssl-ca", "ssl-crl", "env-files", "static-path-route", "static-path-mount"}
    | {f"reload-{each}" for each in ("paths", "ignore-dirs", "ignore-patterns", "ignore-paths")}
)
"""Options of which each value counts."""

VARIABLE = re.compile(r"GRANIAN_(\w+)=(.*)", re.DOTALL)


@cache
def carried() -> Mapping[str, Any]:
    """Return what `tools/granian_options.py` wrote."""
    content: dict[str, Any] = json.loads(CARRIED.read_text(encoding="utf-8"))
    return content


@cache
def options() -> Mapping[str, Mapping[str, Any]]:
    """Return option without dashes -> what is known of it; what switches one off has that, too."""
    known = carried()["options"]
    return {each: entry for name, entry in known.items() for each in (name, *entry.get("off", ()))}


def takes_no_value(word: str) -> bool:
    """Return whether a word of granian's command is an option that no value follows."""
    return "off" in options().get(word.removeprefix("--"), ())


@cache
def variables() -> Mapping[str, str]:
    """Return variable without "GRANIAN_" -> the option that it stands for."""
    return {entry["variable"].upper(): name for name, entry in carried()["options"].items()}


def read(path: Path, known: Known) -> Config:
    """
    Read a command with its arguments; what it sets are its options, without their dashes.

    An option that takes no value, or is followed by another one or nothing, has none. Variables for
    granian that stand before it count as its options; one of no option keeps its name.

    Raises:
        ProfileError: No word of it is granian.
    """
    text = known.required(path)
    command = command_of(text, path, PROGRAM)
    if command is None:
        raise ProfileError(path, "is not a granian command: it does not contain the word `granian`")
    found = [(VARIABLE.fullmatch(word.value), word.spot) for word in command.before]
    settings = [
        Setting(variables().get(match[1], match[0].partition("=")[0]), match[2], spot, match[2])
        for match, spot in found
        if match
    ]
    own = _options(command.behind)
    top = command.program.spot
    return Config(PROGRAM, path, (*settings, *own), {path: text}, known, top=top)


def interface_of(config: Config) -> str:
    """Return how a command has the application called; see `lab.config.interface`."""
    option = config.last("interface")
    return of_granian(option.value if option else None)


def default_threads(config: Config) -> int:
    """Return how many threads of a worker run the application without --blocking-threads."""
    share = config.number("backpressure")
    share = share or max(128, config.number("backlog", 1024)) // workers_of(config)
    return max(1, share // 2)


def workers_of(config: Config) -> int:
    """Return the number of workers; 1 if it is unknown."""
    setting = config.last("workers")
    return max(1, atoi(setting.value)) if setting else 1


def target(config: Config) -> Setting | None:
    """Return what a command serves, as the value of no option; None where it names nothing."""
    return next((each for each in given(config) if isinstance(each, Setting)), None)


def given(config: Config) -> list[Argument | Setting]:
    """Return the options of a command, and its other words."""
    command = command_of(config.texts[config.file], config.file, PROGRAM)
    return list(arguments(command.behind, takes_no_value)) if command else []


@cache
def option_of(word: str) -> str:
    """
    Return the option that a word of its command stands for.

    >>> option_of("--no-ws"), option_of("--workers")
    ('ws', 'workers')
    """
    name, known = word.removeprefix("--"), carried()["options"]
    return next((each for each, entry in known.items() if name in entry.get("off", ())), name)


def is_flag(option: str) -> bool:
    """Return whether an option takes no value."""
    return "off" in options().get(option, ())


def spelt(option: str, value: str) -> Sequence[str]:
    """
    Return the words that set an option.

    >>> spelt("workers", "4"), spelt("ws", "false")
    (('--workers', '4'), ('--no-ws',))
    """
    off = options().get(option, {}).get("off")
    if off is None:
        return f"--{option}", value
    return tuple(f"--{each}" for each in ((option,) if value.lower() not in OFF else off[:1]))


def _options(words: Iterable[Setting]) -> Iterator[Setting]:
    for argument in arguments(words, takes_no_value):
        if isinstance(argument, Argument):
            name = argument.name.removeprefix("--")
            yield Setting(name, argument.value, argument.word.spot, argument.raw)
