"""
Files of somebody else's, read within bounds: as bytes, and never as anything else.

Only a regular file is opened. To open a pipe may wait for ever, or wake who waits at its other end;
to open a device may do what the device does.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path

LARGEST = 1 << 18
"""
Bytes of the largest file that is read.

Of 69 public configurations the largest has 5,692 bytes, 154 lines, and 593 characters in a line:
each limit here is 13 times that or more.
"""

LINES = 2000
"""Lines of a file, and options of a configuration with all that it includes and repeats."""

LONGEST = 1 << 14
"""Characters of the longest line."""

DEEPEST = 100
"""Brackets and operators in each other: a parser calls itself for each, and its stack is finite."""


class UnreadableError(Exception):
    """
    A file is none that is read; the message says why, as in "permission denied".

    Args:
        problem: The message.
        line: Where, from 1; None for no line.
    """

    def __init__(self, problem: str, line: int | None = None) -> None:
        self.line = line
        super().__init__(problem)


_TEXTS = r"""
    \#[^\n]*
    |(?<!\w)[rbuRBU]{0,2}(?:
        (?P<three>\"{3}|'{3})(?:\\.|(?!(?P=three)).)*+(?P=three)?
        |(?P<one>["'])(?:\\.|(?!(?P=one))[^\n])*+(?P=one)?
    )
    |"""
_TOKENS = r"""
    \\.
    |(?P<opens>[(\[{])
    |(?P<closes>[)\]}])
    |(?P<part>[,;])
    |(?P<line>\n)
    |(?P<elif>\belif\b)
    |(?P<deeper>[^\w\s,;"'\#\\]|\b(?:not|lambda|if|else|and|or|in|is|await|for|from|yield)\b)
"""
PLAIN = re.compile(_TEXTS + _TOKENS, re.VERBOSE | re.DOTALL)
"""What nests in JSON, TOML and Python; what stands in comments and strings does not."""

FORMATTED = re.compile(_TOKENS, re.VERBOSE | re.DOTALL)
"""The same of Python with f-strings, in which an expression stands, with strings of its own."""

WORDS = re.compile(r"(?P<opens>[({])|(?P<closes>[)}])")
"""What nests in the words of a shell, also in quotes."""


def check_nesting(text: str, tokens: re.Pattern[str] = PLAIN) -> None:
    """
    Refuse a text that a parser would call itself too often for, before one reads it.

    Operators count as brackets do: of 1 + 1 + 1 and a.b.c Python makes a tree as deep, and of one
    elif behind the other.

    Raises:
        UnreadableError: It nests deeper than `DEEPEST`.
    """
    inside: list[int] = []
    depth = operators = elifs = 0
    for token in tokens.finditer(text):
        match token.lastgroup:
            case "opens":
                inside.append(operators)
                depth, operators = depth + operators + 1, 0
            case "closes":
                operators = inside.pop() if inside else 0
                depth = max(0, depth - operators - 1)
                operators += 1  # what is called, or taken a part of, once more
            case "deeper":
                operators += 1
            case "elif":
                elifs += 1
            case "part":
                operators = 0
            case "line" if not inside:
                operators = 0
        if max(depth + operators, elifs) > DEEPEST:
            problem = (
                f"nests brackets or operators more than {DEEPEST} deep, so lab does not read it"
            )
            raise UnreadableError(problem, text.count("\n", 0, token.start()) + 1)


def is_file(path: Path | str) -> bool:
    """Return whether there is such a file; Path raises for long names, and without permission."""
    return os.path.isfile(path)  # noqa: PTH113


def is_folder(path: Path | str) -> bool:
    """Return whether there is such a folder; see `is_file`."""
    return os.path.isdir(path)  # noqa: PTH112


def real_path(path: Path) -> Path:
    """Return a path without links; one that may not be looked at stays."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):  # as of /proc/1/cwd; of a name with a byte of value 0
        return path.absolute()


def read_bytes(path: Path, most: int = LARGEST) -> bytes:
    """
    Return what stands in a regular file.

    Args:
        path: The file, or a link to one.
        most: Bytes that it may have.

    Raises:
        UnreadableError: It is none, is larger, or cannot be read.
    """
    try:
        if str(real_path(path)).startswith(("/proc/", "/sys/")):
            raise UnreadableError("belongs to the kernel, and reading it may have an effect")
        kind = path.stat().st_mode
        if not stat.S_ISREG(kind):
            what = "a folder" if stat.S_ISDIR(kind) else "a pipe, a socket or a device"
            raise UnreadableError(f"is {what}")
        # It may have become a pipe meanwhile, and files of /proc can wait as pipes do.
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with open(opened, "rb") as file:  # noqa: PTH123 - of a number there is no path
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise UnreadableError("is no longer a file")
            # By pieces: of /proc the kernel keeps as much memory as it is asked for.
            pieces = iter(lambda: file.read(1 << 16) or b"", b"")
            content = b"".join(islice(pieces, most // (1 << 16) + 1))
    except (OSError, ValueError) as error:  # the latter of a name with a byte of value 0
        reason = getattr(error, "strerror", None) or str(error)
        raise UnreadableError(f"cannot be read: {reason[:1].lower()}{reason[1:]}") from error
    if len(content) > most:
        raise UnreadableError(f"is larger than {most >> 10:,} KiB, so lab does not read it")
    return content


def text_below(path: Path, folders: Iterable[Path]) -> str | None:
    """
    Return what stands in a file below one of some folders, where a file names another.

    None where it cannot be read, lies elsewhere, or is hidden: a finding would quote it.
    """
    real = real_path(path)
    for folder in map(real_path, folders):
        inside = real.relative_to(folder).parts if real.is_relative_to(folder) else (".",)
        if not any(part.startswith(".") for part in inside):
            with suppress(UnreadableError, UnicodeDecodeError):
                text = read_bytes(real).decode()
                check_size(text)
                return text
    return None


@lru_cache(maxsize=4)  # each included section of a file has the text of the whole file
def check_size(text: str, most: int = LARGEST) -> None:
    """
    Refuse a text of too many characters or lines, or with too long a line.

    Raises:
        UnreadableError: It is one; the message says the limit.
    """
    if len(text) > most:
        raise UnreadableError(f"is larger than {most >> 10:,} KiB, so lab does not read it")
    lines = text.split("\n")
    if len(lines) - (not lines[-1]) > LINES:
        raise UnreadableError(f"has more than {LINES:,} lines, so lab does not read it", LINES + 1)
    if number := next((n for n, line in enumerate(lines, 1) if len(line) > LONGEST), None):
        problem = f"has a line of more than {LONGEST:,} characters, so lab does not read it"
        raise UnreadableError(problem, number)
