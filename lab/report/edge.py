"""
The edge at which text leaves the lab for a terminal or a pipe: what others wrote cannot act there.

A message of an application, a name of a profile or a field of somebody's run may hold an escape
sequence that retitles, clears or rewrites a terminal, or a command to the runner of CI that keeps
what is printed as its log. Whatever goes through standard output and standard error is made visible
(`lab.model.wording.visible_lines`), a traceback too; only the styles and the progress bar of
`lab.report.console`, and `say_annotations`, pass as they are. A report must not end in a
UnicodeEncodeError for a µ either: what an encoding lacks is written in the letters that it has,
else as a question mark. JSON is UTF-8 whatever the rest is.
"""

from __future__ import annotations

import codecs
import io
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TextIO, TypeVar, cast

from lab.model.wording import in_a_line, in_json, visible, visible_lines

T = TypeVar("T")

_LETTERS = {"─": "-", "━": "-", "µ": "u", "·": "|", "→": "->", "…": "..."}
"""What reports, tables and progress bars are made of -> how ASCII says it."""

PIPED_WIDTH = 100
"""Columns where nobody says how many: 80 fold the tables."""

_NAME = "lab.letters"

_LONGEST = 64
"""Characters of a line that are kept until it is ended: no command begins with more of them."""


class Edge:
    """A text stream that shows what would act on who reads it."""

    def __init__(self, stream: TextIO, shown: Callable[[str], str] = visible_lines) -> None:
        self.beyond = stream
        """The stream itself, for what the lab means to act."""
        self._shown = shown
        self._line = ""
        """The end of the line that is not ended yet, as it was written."""

    def write(self, text: str) -> int:
        """Write *text*, made visible; what is written in parts as if it came at once."""
        output = self._shown(self._line + text)[len(self._line) :]
        self.beyond.write(output)
        line = (self._line + output).rpartition("\n")[2].lstrip()
        self._line = line if len(line) <= _LONGEST else f"-{line[-_LONGEST:]}"
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write *lines*, made visible."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.beyond, name)


def guard_streams() -> None:
    """Let standard output and standard error take any text, whatever it is and their encoding."""
    codecs.register_error(_NAME, _spell)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):  # not what a caller may have put in its place
            stream.reconfigure(errors=_NAME)
            setattr(sys, name, cast(TextIO, Edge(stream)))


def say_linked(text: str, links: Mapping[str, str]) -> None:
    """Print a text to a terminal, with words in it as links (OSC 8)."""
    shown = visible_lines(text)
    for word, address in links.items():
        shown = shown.replace(f" {word} ", f" \x1b]8;;{address}\x1b\\{word}\x1b]8;;\x1b\\ ")
    stream = getattr(sys.stdout, "beyond", sys.stdout)
    stream.write(shown)
    stream.flush()


def say(text: str = "", *, err: bool = False, end: str = "\n") -> None:
    """Print *text* at once; on standard error where *err* says so."""
    print(text, end=end, file=sys.stderr if err else sys.stdout, flush=True)


def page_width() -> int:
    """Return how many columns a page has: as the terminal or COLUMNS says, else 100."""
    return shutil.get_terminal_size((PIPED_WIDTH, 24)).columns


def say_annotations(commands: str) -> None:
    """Print lines that are commands to GitHub's runner, of the lab's own making."""
    print(visible(commands), end="", file=beyond(sys.stdout), flush=True)


def beyond(stream: Any) -> Any:
    """Return the stream beyond an `Edge`; any other as it is."""
    return stream.beyond if isinstance(stream, Edge) else stream


def say_json(document: str | bytes) -> None:
    """Print JSON as UTF-8, with a line's end; what would act on a terminal as JSON's escapes."""
    text = document.decode() if isinstance(document, bytes) else document
    sys.stdout.flush()
    sys.stdout.buffer.write(in_json(text).rstrip("\n").encode() + b"\n")
    sys.stdout.buffer.flush()


def say_form(text: str, form: str) -> None:
    """Print what a command says in a form of its `--format`."""
    if form == "json":
        say_json(text)
    else:
        say(text, end="")


def cleaned(value: T) -> T:
    """
    Return *value*, of dataclasses, tuples and texts, with each text made visible and in one line.

    For what lays text out: a character that is spelt takes the room of its spelling, and whoever
    wrote a value does not say where a line begins.
    """
    clean_value: Any = value
    if type(value) is str:
        clean_value = in_a_line(clean_value)
    elif isinstance(value, tuple):
        clean_value = tuple(map(cleaned, value))
    elif is_dataclass(value) and not isinstance(value, type):
        clean_value = replace(
            value, **{e.name: cleaned(getattr(value, e.name)) for e in fields(value)}
        )
    return cast(T, clean_value)


def _spell(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_LETTERS.get(character, "?") for character in lacking), error.end
