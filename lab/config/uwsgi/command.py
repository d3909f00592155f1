"""uWSGI's command: what it sets, with the inis that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lab.config.configuration import Config, Known
from lab.config.spot import Setting
from lab.config.uwsgi import OFF
from lab.config.uwsgi.reader import read
from lab.config.uwsgi.table import uwsgi_options
from lab.config.uwsgi.variables import as_options
from lab.config.vocabulary.values import SHELL
from lab.config.words import LITERAL, command_of, with_literals
from lab.errors import ProfileError

PROGRAM = "uwsgi"

LETTERS = {
    "a": "abstract-socket", "A": "sharedarea", "b": "buffer-size", "c": "cgi-mode",
    "C": "chmod-socket", "d": "daemonize", "H": "home", "i": "single-interpreter", "l": "listen",
    "L": "disable-logging", "m": "memory-report", "M": "master", "O": "optimize",
    "p": "processes", "Q": "spooler", "r": "reaper", "R": "max-requests", "s": "socket",
    "S": "set", "t": "harakiri", "T": "enable-threads", "v": "max-vars", "w": "module",
    "x": "xml", "y": "yaml", "z": "socket-timeout",
}  # fmt: skip
"""Letter -> option, of the core and the Python plugin: core/uwsgi.c:40, python_plugin.c:88."""

BARE = frozenset({"uwsgi_opt_set_int", "uwsgi_opt_set_64bit", "uwsgi_opt_chmod_socket"})
"""Functions of options that may have a value, for which none is 1."""

UNREPLACED = "lab does not read the default of a variable in a command of uWSGI: write the value"


def read_command(text: str, known: Known) -> Config:
    """
    Return the options of a command, with those of the inis that it names.

    Variables before it that uWSGI takes for options count first.

    Raises:
        ProfileError: It has what is not read here, such as a variable for an option.
    """
    here = Path(PROGRAM)
    command = command_of(text, here, PROGRAM)
    assert command is not None
    settings: list[Setting] = []
    unread: list[tuple[str, Setting]] = []
    texts, top = {here: text}, command.program.spot
    words = [*filter(_option_of, command.before), *command.behind]
    variables = [word for word in words if _has_default(word)]
    rest = iter(words)
    for word in rest:
        for name, value, place in _options(word, rest):
            if name in {"ini", "yaml", "json", "xml"}:
                if known.lacks(value):
                    unread.append((value, Setting(name, value, word.spot, value)))
                    continue
                file = read(known.named(value), known)
                settings += file.settings
                texts, top = {**texts, **file.texts}, file.top
            else:
                column = place.column + len(place.raw) - len(value)
                settings.append(Setting(name, value, word.spot, value, column))
    return Config(
        "uWSGI",
        here,
        tuple(settings),
        texts,
        known,
        uwsgi_options(),
        top,
        guesses="a file of the command is not here" * bool(unread),
        unread_includes=tuple(unread),
        forms=frozenset(texts),
        refused=tuple((replace(word, option=word.raw), UNREPLACED) for word in variables),
    )


def _options(word: Setting, rest: Iterator[Setting]) -> Iterator[tuple[str, str, Setting]]:
    """Yield the options of a word, their values, and the word with the value, which may be next."""
    name, equals, value = _value(word).lstrip("-").partition("=")
    if option := _option_of(word):
        yield option, value, word
    elif re.match(r"-[^-]", word.value):
        yield from _of_letters(word, rest)
    elif not word.value.startswith("-"):
        yield "ini", word.value.partition(":")[0], word
    elif "$" in name:
        problem = "which option this is depends on a variable: write the option"
        raise ProfileError(word.value, problem)
    else:
        name = _whole(word, name)
        yield (name, value, word) if equals else (name, *_argument(word, name, rest))


def _whole(word: Setting, name: str) -> str:
    """
    Return the option of a name, which may be the beginning of a single one.

    Source: core/init.c:278, getopt_long.
    """
    entries = uwsgi_options().entries
    if name in entries:
        return name
    begun = [whole for whole in entries if whole.startswith(name)]
    if len(begun) == 1:
        return begun[0]
    close = uwsgi_options().nearest(name)
    hint = f"write --{close}" if close else "leave it out"
    raise ProfileError(word.value, f"uWSGI does not start with this option: {hint}")


def _argument(word: Setting, name: str, rest: Iterator[Setting]) -> tuple[str, Setting]:
    """Return the value of an option that has none in its word, and the word with the value."""
    if not takes_value(name):
        entry = uwsgi_options().entries[name]
        return "1" * (entry.argument == "optional" and entry.setter in BARE), word
    place = next(rest, replace(word, value=""))
    if not place.value:
        raise ProfileError(word.value, "the option needs a value")
    return _value(place), place


def _of_letters(word: Setting, rest: Iterator[Setting]) -> Iterator[tuple[str, str, Setting]]:
    """Yield the options of a word of letters; the value of the last may be the next word."""
    letters = _value(word)[1:]
    for at, letter in enumerate(letters, start=1):
        if (name := LETTERS.get(letter)) is None:
            problem = f"lab does not know the letter {letter}: write the long name of the option"
            raise ProfileError(word.value, problem)
        if uwsgi_options().entries[name].argument == "no":
            yield name, "", word
        elif value := letters[at:]:
            yield name, value, word
            return
        else:
            yield name, *_argument(word, name, rest)
            return


def _option_of(word: Setting) -> str:
    """Return the option that a word is by its name, as UWSGI_HTTP=:80 is; empty: it is none."""
    name, _, value = word.value.partition("=")
    return next((option for _, option, _ in as_options({name: value})), "")


def _has_default(word: Setting) -> bool:
    """Return whether a shell puts another text in the place of a variable that is not set."""
    return any(match[2] is not None for match in SHELL.finditer(with_literals(word.raw)))


def _value(word: Setting) -> str:
    """Return the value of a word, with the defaults of a shell's variables; others as uWSGI's."""
    text = SHELL.sub(_of_variable, with_literals(word.raw))
    return text.replace(LITERAL, "$")


def _of_variable(match: re.Match[str]) -> str:
    default = match[2]
    return default if default and "$" not in default else f"$({match[1] or match[3]})"


def spelt(option: str, value: str) -> Sequence[str]:
    """
    Return the words that set an option; none of a switch that is off.

    >>> spelt("listen", "1024"), spelt("master", "true"), spelt("master", "false")
    (('--listen', '1024'), ('--master',), ())
    """
    if takes_value(option):
        return f"--{option}", value
    return () if value.lower() in OFF else (f"--{option}",)


def takes_value(name: str) -> bool:
    """Return whether a value follows an option in a command."""
    entry = uwsgi_options().entries.get(name)
    return entry is not None and entry.argument == "required"
