"""
Text for an output that may not have all characters: a pipe in latin-1, a terminal in ASCII.

A report of ten minutes' work must not end in a UnicodeEncodeError for a µ. What an encoding lacks
is written in the letters that it has, else as a question mark. JSON is UTF-8 whatever the rest is,
and what click prints by itself is UTF-8 where the encoding is ASCII, which it takes for a mistake.
"""

from __future__ import annotations

import codecs
import io
import sys

_LETTERS = {"─": "-", "━": "-", "µ": "u", "·": "|", "→": "->", "…": "..."}
"""What reports, tables and progress bars are made of -> how ASCII says it."""

_NAME = "lab.letters"


def allow_any_text() -> None:
    """Let standard output and standard error take any text, whatever their encoding."""
    codecs.register_error(_NAME, _spell)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # not what a caller may have put in its place
            stream.reconfigure(errors=_NAME)


def _spell(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_LETTERS.get(each, "?") for each in lacking), error.end
