"""What stands in granian's command line."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path, PurePath
from typing import Any

from lab.dialects.config import Config, Known
from lab.dialects.dialect import Dialect
from lab.dialects.spot import Setting, Spot
from lab.errors import ProfileError

CARRIED = Path(__file__).with_name("granian.json")
"""The options of one version, which `tools/granian_options.py` wrote."""

_WORD = re.compile(r"""(?:\\[^\n]|[^\s"'\\]|"(?:\\.|[^"\\])*"|'[^']*')+""")
"""A word of a shell's, quotes included. A backslash at a line's end separates, as a blank does."""

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
    text = known.read(path) or ""
    words = list(_words(text, path))
    names = [PurePath(each.value).name for each in words]
    if "granian" not in names:
        raise ProfileError(path, "is no command of granian's: it has no word `granian`")
    start = names.index("granian")
    found = [(VARIABLE.fullmatch(word.value), word.spot) for word in words[:start]]
    settings = [
        Setting(variables().get(match[1], match[0].partition("=")[0]), match[2], spot, match[2])
        for match, spot in found
        if match
    ]
    return Config(
        "granian",
        path,
        (*settings, *_options(words[start + 1 :])),
        {path: text},
        known,
        top=words[start].spot,
    )


def target(config: Config) -> Setting | None:
    """Return what a command serves, as the value of no option; None where it names nothing."""
    words = list(_words(config.texts[config.file], config.file))
    start = next(at for at, each in enumerate(words) if each.spot == config.top)
    taken = False  # by the option before it
    for word in words[start + 1 :]:
        if taken:
            taken = False
        elif word.value.startswith("-"):
            name, equals, _ = word.value.partition("=")
            taken = not (equals or takes_no_value(name))
        else:
            return word
    return None


def _words(text: str, path: Path) -> Iterator[Setting]:
    """Yield each word as a value, with its place."""
    for number, line in enumerate(text.split("\n"), start=1):
        for word in _WORD.finditer(line):
            spot = Spot(path, number, word.start() + 1)
            yield Setting("", "".join(shlex.split(word[0])), spot, word[0], spot.column)


def _options(words: list[Setting]) -> Iterator[Setting]:
    for at, word in enumerate(words):
        name, equals, value = word.value.partition("=")
        if not re.match("--?[A-Za-z]", name):
            continue
        name = name.removeprefix("--")
        after = words[at + 1] if at + 1 < len(words) else None
        if (
            not (equals or takes_no_value(name))
            and after is not None
            and not after.value.startswith("-")
        ):
            value = after.value
        yield Setting(name, value, word.spot, value)


class Granian(Dialect):
    """Its options are those of its command."""

    def read(self, path: Path, known: Known) -> Config:
        """Return what a command sets, which stands in a file or is given as one's text."""
        return read(path, known)


GRANIAN = Granian(
    program="granian",
    name="granian",
    listen=("--host", "{host}", "--port", "{port}"),
    workers=("--workers",),
    threads=("--blocking-threads",),
    takes_no_value=takes_no_value,
    code="GR",
    file="granian",
    endings=("granian",),
    largest=1 << 16,
)
