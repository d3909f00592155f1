"""uWSGI's command: what it sets, with the inis that it names."""

from __future__ import annotations

import re
import shlex
from pathlib import Path, PurePath

from lab.config.configuration import Config, Known
from lab.config.spot import Setting, Spot
from lab.config.uwsgi.reader import read
from lab.config.uwsgi.table import uwsgi_options
from lab.config.vocabulary.values import SHELL
from lab.config.words import with_literals, words_of
from lab.errors import ProfileError

PROGRAM = "uwsgi"


def read_command(text: str, known: Known) -> Config:
    """
    Return the options of a command, with those of the inis that it names.

    Raises:
        ProfileError: It has what is not read here, such as options of one letter.
    """
    here = Path(PROGRAM)
    words = [word.raw for word in words_of(text, here)]
    program = next(n for n, word in enumerate(words) if PurePath(_value(word)).name == PROGRAM)
    words = words[program + 1 :]
    settings: list[Setting] = []
    for word in words:
        if SHELL.search(with_literals(word)):
            raise ProfileError(
                word, "lab does not replace a shell's variables here: write '$(NAME)'"
            )
    rest = iter(map(_value, words))
    for word in rest:
        name, equals, value = word.lstrip("-").partition("=")
        if re.match(r"-[^-]", word):
            raise ProfileError(
                word, "this is uWSGI's short form: write the long name of the option"
            )
        if not word.startswith("-"):
            name, value = "ini", word.partition(":")[0]
        elif not equals and takes_value(name):
            value = next(rest, "")
            if not value:
                raise ProfileError(word, "the option needs a value")
        if name in {"ini", "yaml", "json", "xml"}:
            settings += read((known.cwd or Path()) / value, known).settings
        else:
            settings.append(Setting(name, value, Spot(here, 0, 0), value))
    return Config("uWSGI", here, tuple(settings), known=known, table=uwsgi_options())


def takes_value(name: str) -> bool:
    """Return whether a value follows an option in a command."""
    entry = uwsgi_options().entries.get(name)
    return entry is not None and entry.argument == "required"


def _value(word: str) -> str:
    """Return a word without its quotes."""
    return "".join(shlex.split(word))
