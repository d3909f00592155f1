"""What stands in granian's command line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path, PurePath

from lab.errors import ProfileError
from lab.settings.lint.config import Config, Known
from lab.settings.lint.flaw import Setting, Spot

_WORD = re.compile(r"""(?:\\[^\n]|[^\s"'\\]|"(?:\\.|[^"\\])*"|'[^']*')+""")
"""A word of a shell's, quotes included. A backslash at a line's end separates, as a blank does."""

_VARIABLE = re.compile(r"GRANIAN_(\w+)=(.*)", re.DOTALL)


def read(path: Path, known: Known) -> Config:
    """
    Read a command with its arguments; what it sets are its options, without their dashes.

    An option that is followed by another one, or by nothing, has no value. Variables for granian
    that stand before it count as its options.

    Raises:
        ProfileError: No word of it is granian.
    """
    text = known.read(path) or ""
    words = list(_words(text, path))
    names = [PurePath(each.value).name for each in words]
    if "granian" not in names:
        raise ProfileError(path, "is no command of granian's: it has no word `granian`")
    start = names.index("granian")
    found = [_VARIABLE.fullmatch(each.value) for each in words[:start]]
    settings = [
        Setting(match[1].lower().replace("_", "-"), match[2], word.spot, match[2])
        for match, word in zip(found, words, strict=False)
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


def _words(text: str, path: Path) -> Iterator[Setting]:
    """Yield each word as a value, with its place."""
    for number, line in enumerate(text.split("\n"), start=1):
        for word in _WORD.finditer(line):
            spot = Spot(path, number, word.start() + 1)
            yield Setting("", "".join(shlex.split(word[0])), spot, word[0], spot.column)


def _options(words: list[Setting]) -> Iterator[Setting]:
    for at, word in enumerate(words):
        name, equals, value = word.value.partition("=")
        if not name.startswith("--"):
            continue
        after = words[at + 1] if at + 1 < len(words) else None
        if not equals and after is not None and not after.value.startswith("-"):
            value = after.value
        yield Setting(name.removeprefix("--"), value, word.spot, value)
