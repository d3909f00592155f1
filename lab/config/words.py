"""The words of a command, as a shell takes it apart, each with its place."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path, PurePath
from typing import NamedTuple

from lab.config.files import LINES, WORDS, UnreadableError, check_nesting
from lab.config.spot import Setting, Spot
from lab.errors import ProfileError

OFF = frozenset({"false", "0", "no", "off", "f", "n"})
"""What the options of a command take for no, as click does."""

_WORD = re.compile(
    r"""(?:\$\{[^{}"'\n]*\}|\{\{[^{}"'\n]*\}\}|\\[^\n]|[^\s"'\\]|"(?:\\.|[^"\\])*"|'[^']*')+"""
)
"""
A word of a shell's, quotes included; `${NAME:- a b}` and `{{ name }}` of a template are in one.

A backslash at a line's end separates, as a blank does.
"""

LITERAL = "\ue000"
"""Stands for a `$` that a shell leaves as it is, where texts with variables are taken apart."""

_QUOTED = re.compile(r"""'[^']*'|\\.|"(?:\\.|[^"\\])*"|[^'"\\]+""", re.DOTALL)
"""A piece of a word: of one kind of quotes, or of none."""

_QUOTES = re.compile(r"""['"\\]""")
"""What changes a word that has it: without one, shlex takes 50 times as long for the same."""

_OPERATOR = re.compile(r"(?<!\S)\d*[<>]+&?\d*|[<>]+|&&|\|\||[;|&\n]")
"""What ends a command, or says where its output goes."""

_ENDS = re.compile(r"\d*[|&;<>]")
"""Begins a word with which a command ends, or that says where its output goes."""


def words_of(text: str, path: Path) -> Iterator[Setting]:
    """Yield each word as a value, with its place; comments have none."""
    for number, line in enumerate(text.split("\n"), start=1):
        for word in () if line.lstrip().startswith("#") else _WORD.finditer(line):
            spot = Spot(path, number, word.start() + 1)
            yield Setting("", _value(word[0]), spot, word[0], spot.column)


@lru_cache(maxsize=8)  # a command is taken apart again for each rule and each change
def _all_words(text: str, path: Path) -> Sequence[Setting]:
    return tuple(words_of(text, path))


def words_in(text: str) -> Iterator[tuple[str, str, int]]:
    """
    Yield each word of a command: its value, as it is written, and where it begins.

    Raises:
        ValueError: A quote is not closed.
    """
    shlex.split(text)
    for word in _WORD.finditer(text):
        yield _value(word[0]), word[0], word.start()


def _value(word: str) -> str:
    """Return what a shell makes of a word as it is written."""
    return "".join(shlex.split(word)) if _QUOTES.search(word) else word


def pieces(raw: str) -> Iterator[str]:
    """Yield the pieces of a word as it is written: in one kind of quotes, or in none."""
    yield from (piece[0] for piece in _QUOTED.finditer(raw))


def operators(text: str) -> Iterator[tuple[int, int]]:
    """
    Yield where each operator of a shell begins and ends in a text, outside of quotes.

    >>> list(operators("cd a && b 'c;d' 2>&1"))
    [(5, 7), (16, 20)]
    """
    for piece in _QUOTED.finditer(text):
        if piece[0][0] not in "'\"\\":
            yield from (match.span() for match in _OPERATOR.finditer(text, *piece.span()))


def with_literals(raw: str) -> str:
    """
    Return the value of a word as it is written, with `LITERAL` for a `$` that names no variable.

    >>> with_literals("'$A'$B") == LITERAL + "A$B"
    True
    """
    return "".join(map(_with_literals, pieces(raw)))


def _with_literals(piece: str) -> str:
    if piece.startswith("'"):
        return piece[1:-1].replace("$", LITERAL)
    if piece.startswith("\\"):
        return piece[1:].replace("$", LITERAL)
    if piece.startswith('"'):
        inner = re.sub(r"\\\\|\\\$", lambda it: it[0].replace("\\$", LITERAL), piece)
        return "".join(shlex.split(inner))
    return piece


def program_at(words: Sequence[str]) -> int:
    """
    Return the index of the program of a command, behind `env` and `taskset CPUS`; 0: there is none.

    >>> program_at(["granian", "a:b"]), program_at("env A=1 taskset -c 0 granian a:b".split())
    (0, 5)
    """
    at = 0
    while at < len(words):
        behind, program = range(at + 1, len(words)), PurePath(words[at]).name
        if program == "env":
            at = next((n for n in behind if "=" not in words[n]), len(words))
        elif program == "taskset":
            at = next((n + 1 for n in behind if not words[n].startswith("-")), len(words))
        elif words[at] == "--":
            at += 1
        else:
            break
    return at if at < len(words) else 0


def is_script(text: str) -> bool:
    """Return whether a text is a script for a shell, in which a command is one of several."""
    return text.startswith("#!")


class Argument(NamedTuple):
    """An option of a command."""

    word: Setting
    name: str
    """As it is written, with its dashes."""

    value: str
    """"" where it has none."""

    follows: Setting | None = None
    """The word behind it that is its value; None where it has none, or it stands in *word*."""

    @property
    def raw(self) -> str:
        """The value as it is written where a `$` of it is quoted; else the value."""
        raw = self.follows.raw if self.follows else self.word.raw.partition("=")[2]
        return raw if LITERAL in with_literals(raw) else self.value

    @property
    def unquoted(self) -> str:
        """The value as it is written without quotes; "" where one encloses a part of the name."""
        raw = self.follows.raw if self.follows else self.word.raw
        quote = raw[:1] if not self.follows and raw[:1] in {"'", '"'} else ""
        before = 0 if self.follows else len(self.word.value) - len(self.value)
        text = with_literals(quote + raw[len(quote) + before :])
        if text.replace(LITERAL, "$") != self.value:
            return ""
        return re.sub(r"""(['"\\])""", r"\\\1", text).replace(LITERAL, "\\$")

    @property
    def reads_variables(self) -> bool:
        """Whether a shell puts a variable, or what a command prints, into the value."""
        raw = (self.follows or self.word).raw
        return "$" in self.value and "$" in with_literals(raw)


class Command(NamedTuple):
    """A text with the command of one program, taken apart."""

    before: Sequence[Setting]
    """The words before it: variables, and in a script all that is done first."""

    program: Setting
    behind: Sequence[Setting]


def command_of(text: str, path: Path, program: str) -> Command | None:
    """
    Return the command of a program; None where no word is its name.

    Raises:
        ProfileError: It nests too deeply to be read.
    """
    try:
        check_nesting(text, WORDS)
    except UnreadableError as error:
        raise ProfileError(path, str(error), error.line) from None
    words = _all_words(text, path)
    named = [
        number
        for number, word in enumerate(words)
        if program in word.value and PurePath(word.value).name == program
    ]
    if not named:
        return None
    start, end = named[0], len(words)
    if is_script(text):
        start = next((n for n in named if _begins(words, n)), start)
        lines = text.split("\n")
        end = next((n for n in range(start + 1, end) if _ended(words, n, lines)), end)
    if end - start > LINES:
        raise ProfileError(
            path, f"has a command of more than {LINES:,} words, so lab does not read it"
        )
    return Command(words[:start], words[start], words[start + 1 : end])


def arguments(
    words: Iterable[Setting], takes_no_value: Callable[[str], bool], short: Collection[str] = ()
) -> Iterator[Argument | Setting]:
    """
    Yield the options among the words behind a program, and the words that are none.

    Args:
        words: Behind the program.
        takes_no_value: Whether a word is an option that no value follows.
        short: Options of one letter, as "-w", behind which a value may stand in the same word.
    """
    rest = list(words)[::-1]
    while rest:
        word = rest.pop()
        if word.value == "--":
            yield from rest[::-1]
            return
        name, equals, value = word.value.partition("=")
        if not re.match("--?[A-Za-z]", name):
            yield word
        elif name[:2] in short and name[2:]:
            yield Argument(word, name[:2], word.value[2:])
        elif equals or takes_no_value(name) or not rest or _is_option(rest[-1].value):
            yield Argument(word, name, value)
        else:
            follows = rest.pop()
            yield Argument(word, name, follows.value, follows)


def _is_option(word: str) -> bool:
    return re.match(r"-[^\d]", word) is not None


def _begins(words: Sequence[Setting], at: int) -> bool:
    """Return whether a word begins a line, or stands behind what makes it the process."""
    before = words[at - 1] if at else None
    return before is None or before.spot.line != words[at].spot.line or before.value == "exec"


def _ended(words: Sequence[Setting], at: int, lines: Sequence[str]) -> bool:
    """Return whether a command has ended before a word."""
    between = lines[words[at - 1].spot.line - 1 : words[at].spot.line - 1]
    goes_on = all(line.rstrip("\r").endswith("\\") for line in between)
    return not goes_on or _ENDS.match(words[at].raw) is not None
