"""The command of a server in a line of a shell's, which may have others before and behind it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from lab.config import servers
from lab.config.spot import Spot
from lab.config.start import StartCommand, Surroundings
from lab.config.words import operators

BEFORE = frozenset(
    {"exec", "env", "nice", "dumb-init", "tini", "--", "-m", "python", "python3", "run"}
    | {"poetry", "pipenv", "uv", "newrelic-admin", "run-program", "ddtrace-run"}
)
"""Words that may stand before a server in its command: what they start is the server."""


def start_of(name: str, line: str, spot: Spot, surroundings: Surroundings) -> StartCommand | None:
    """
    Return the command in a line that starts a server; None where none does for certain.

    `cd FOLDER &&` before the command says its folder.

    Args:
        name: By which its file calls it.
        line: The line.
        spot: Where the line begins.
        surroundings: What the file says besides.
    """
    begins, others = 0, False
    for start, end in (*operators(line), (len(line), len(line))):
        text = line[begins:start]
        try:
            words = tuple(shlex.split(text))
        except ValueError:  # a quote that is not closed
            return None
        if (program := _program(words)) and text.count("(") == text.count(")"):
            blanks = len(text) - len(text.lstrip())
            place = replace(spot, column=spot.column + begins + blanks)
            alone = not others and start == len(line)
            before = line[: begins + blanks].strip()
            return StartCommand(
                name, program, words, place, text.strip(), alone, before, surroundings
            )
        others |= len(words) != 2 or words[0] != "cd" or line[start:end] not in {"&&", ";"}
        if words[:1] == ("cd",) and words[1:]:
            folder = (surroundings.folder or spot.file.parent) / words[1]
            surroundings = replace(surroundings, folder=folder)
        begins = end
    return None


def _program(words: Sequence[str]) -> str:
    """Return the program of the server that a command starts; empty where it starts none."""
    for word in words:
        if server := servers.named(word):
            return server.program
        if PurePath(word).name not in BEFORE and "=" not in word:
            return ""
    return ""
