"""`ShellLine`: the text of a command, and the places in a file where its pieces stand."""

from __future__ import annotations

import re
import shlex
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from pathlib import Path

from lab.config.files import LINES
from lab.config.spot import Spot
from lab.config.start import place_of
from lab.config.words import LITERAL

_PIECE = re.compile(r"""[^\s'"\\$\ue000]+""")
"""What a value and its spelling in a file have in common."""

_PLAIN = re.compile(r"[\w@%+=:,./-]+|\$\w+")
"""What needs no quotes; a variable alone may stand for several words."""


@dataclass(frozen=True, slots=True)
class ShellLine:
    """A text for a shell."""

    text: str
    places: tuple[tuple[int, Spot], ...]
    """Where pieces of the text begin, the first at 0, and their places."""

    def place(self, offset: int) -> Spot:
        """Return the place of a character."""
        return place_of(self.places, offset)

    def cut(self, begins: int, ends: int) -> ShellLine:
        """Return a part of it."""
        first, last = (bisect_left(self.places, at, key=itemgetter(0)) for at in (begins + 1, ends))
        inside = ((at - begins, spot) for at, spot in self.places[first:last])
        return ShellLine(self.text[begins:ends], ((0, self.place(begins)), *inside))


def joined(lines: Iterable[ShellLine]) -> ShellLine:
    """Return several in one, with blanks between them; there must be one."""
    texts: list[str] = []
    places: list[tuple[int, Spot]] = []
    begins = 0
    for line in lines:
        texts.append(line.text)
        places += ((begins + at, spot) for at, spot in line.places)
        begins += len(line.text) + 1
    return ShellLine(" ".join(texts), tuple(places))


def aligned(text: str, raw: str, place: Callable[[int], Spot]) -> ShellLine:
    """
    Return a text whose pieces stand in *raw* in the same order, such as a string without quotes.

    Args:
        text: The text.
        raw: How it is written.
        place: Returns the place of a character of *raw*.
    """
    places, at = [(0, place(0))], 0
    for piece in islice(_PIECE.finditer(text), LINES):
        begins = raw.find(piece[0], at)
        places.append((piece.start(), place(max(at, begins))))
        at = begins + len(piece[0]) if begins >= 0 else at
    first_is_piece = [at for at, _ in places[:2]] == [0, 0]
    return ShellLine(text, tuple(places[first_is_piece:]))


class SourceFile:
    """A file, and where its lines begin."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.text = path, text
        self._begins = [0, *(match.end() for match in re.finditer("\n", text))]

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a place; both count from 1."""
        return self._begins[line - 1] + column - 1

    def spot(self, offset: int) -> Spot:
        """Return the place of a character."""
        line = bisect_right(self._begins, offset)
        return Spot(self.path, line, offset - self._begins[line - 1] + 1)

    def line(self, text: str, begins: int, ends: int) -> ShellLine:
        """Return a text that is written between two offsets."""
        return aligned(text, self.text[begins:ends], lambda at: self.spot(begins + at))

    def part(self, begins: int, ends: int, text: str = "") -> ShellLine:
        """Return what stands between two offsets, or a text of the same length, by its places."""
        inside = (begin for begin in self._begins if begins < begin < ends)
        places = [(begin - begins, self.spot(begin)) for begin in (begins, *inside)]
        return ShellLine(text or self.text[begins:ends], tuple(places))

    def command(self, words: Iterable[str], written: tuple[str, int, int]) -> ShellLine:
        """Return a command of the words that a text stands for, which no shell takes apart."""
        return self.line(" ".join(map(quoted, words)), *written[1:])

    def words(self, words: Iterable[tuple[str, int, int]]) -> ShellLine:
        """Return a command of words that no shell takes apart, each with two offsets."""
        return joined(self.line(quoted(word), begins, ends) for word, begins, ends in words)


def quoted(word: str) -> str:
    """
    Return how a shell's line has a word; `LITERAL` stands for a `$` that names no variable.

    >>> quoted("a:b"), quoted("a b"), quoted("$A b"), quoted(LITERAL + "A")
    ('a:b', "'a b'", '"$A b"', "'$A'")
    """
    if _PLAIN.fullmatch(word):
        return word
    if "$" not in word:
        return shlex.quote(word.replace(LITERAL, "$"))
    return '"' + re.sub(r'["\\`]', r"\\\g<0>", word).replace(LITERAL, r"\$") + '"'


def variables(values: Mapping[str, tuple[str | None, Spot]]) -> tuple[ShellLine, ...]:
    """
    Return variables as they stand before a command.

    Args:
        values: Name -> value and place; None: the value is unknown.
    """
    return tuple(
        ShellLine(f"{name}={quoted(f'${name}' if value is None else value)}", ((0, spot),))
        for name, (value, spot) in values.items()
        if re.fullmatch(r"[A-Za-z_]\w*", name)
    )
