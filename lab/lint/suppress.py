"""
Comments that say that something is meant so.

    ; lab: ignore[UW310] nginx is in the same pod      the next line that is no comment
    ; lab: ignore-file[UW2,UW401] an article has it    the whole file, and what it includes

A line of its own, because uWSGI has no other comments. A code may be the beginning of several, and
in small letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from lab.config.spot import Spot
from lab.errors import ProfileError
from lab.lint.flaw import Flaw

_COMMENT = re.compile(r"\ufeff?\s*[;#]\s*lab:\s*ignore(-file)?\[([\w, ]*)\]")

MOST = 10_000
"""Codes that the comments of one configuration may have."""

Key = tuple[Path, int | None, str]


class Suppression(NamedTuple):
    """One code of such a comment."""

    code: str
    spot: Spot
    """Where the code stands."""

    line: int | None
    """The line that it is about; None for the whole file."""

    @property
    def key(self) -> Key:
        """What it covers: a file, a line of it or None for all, and how codes begin."""
        return self.spot.file, self.line, self.code


def keys(flaw: Flaw, read: Path) -> Iterator[Key]:
    """
    Yield the key of each suppression that would say that a flaw is meant so.

    Args:
        flaw: What was found.
        read: The file that was named, which speaks for what it includes.
    """
    for length in range(1, len(flaw.code) + 1):
        beginning = flaw.code[:length]
        yield flaw.spot.file, flaw.spot.line, beginning
        yield flaw.spot.file, None, beginning
        yield read, None, beginning


def suppressions(texts: Mapping[Path, str]) -> list[Suppression]:
    """
    Return what the comments of all files suppress.

    Raises:
        ProfileError: They have more than `MOST` codes.
    """
    all_suppressions: list[Suppression] = []
    for file, text in texts.items():
        if "lab:" in text:
            all_suppressions += islice(_of_file(file, text), MOST + 1 - len(all_suppressions))
        if len(all_suppressions) > MOST:
            raise ProfileError(
                file, f"has more than {MOST:,} codes in comments, so lab does not lint it"
            )
    return all_suppressions


def _of_file(file: Path, text: str) -> Iterator[Suppression]:
    waiting: list[tuple[int, re.Match[str]]] = []  # for the next line that is no comment
    for number, line in enumerate(text.split("\n"), start=1):
        match = _COMMENT.match(line)
        if match is not None and match[1]:
            yield from _codes(file, number, match, None)
        elif match is not None:
            waiting.append((number, match))
            if len(waiting) > MOST:
                break
        elif line.strip() and line.strip()[0] not in ";#":
            for above, comment in waiting:
                yield from _codes(file, above, comment, number)
            waiting = []
    for above, comment in waiting:
        yield from _codes(file, above, comment, 0)


def _codes(
    file: Path, number: int, comment: re.Match[str], about: int | None
) -> Iterator[Suppression]:
    for code in re.finditer(r"\w+", comment[2]):
        column = comment.start(2) + code.start() + 1
        yield Suppression(code[0].upper(), Spot(file, number, column), about)
